import { maskSecrets } from '../../core/secrets/secrets.ts';

type Repository =
  /** `https://HOST/PATH`, or the same with `ssh` or `git`. */
  | { readonly kind: 'https' | 'ssh' | 'git'; readonly host: string; readonly path: string }
  /** `USER@HOST:PATH`, which is ssh. */
  | { readonly kind: 'scp'; readonly host: string; readonly path: string }
  /** A path on the worker's machine, plain or as `file://`. */
  | { readonly kind: 'path' | 'file'; readonly host: ''; readonly path: string };

const EXPECTED = 'a repository such as https://HOST/PATH, ssh://HOST/PATH or USER@HOST:PATH';

/**
 * Returns why no worker clones from this address, whatever its policy; null if nothing is wrong. The text is half a
 * sentence without the address, which may hold a password.
 */
export function repositoryProblem(url: string): string | null {
  const read = repositoryOf(url);
  return 'problem' in read ? read.problem : null;
}

/** Whether a policy allows a repository. If `patterns` is null, it allows all https, ssh and git addresses. */
export function isRepositoryAllowed(url: string, patterns: readonly string[] | null): boolean {
  const read = repositoryOf(url);
  if ('problem' in read) return false;
  if (patterns === null) return read.kind !== 'path' && read.kind !== 'file';
  return patterns.some((pattern) => isMatch(read, pattern));
}

/** Returns what is wrong with a pattern of a policy, as half a sentence; null if nothing is. */
export function patternProblem(pattern: string): string | null {
  // A star needs no rule of its own: it is allowed like any other character.
  return repositoryProblem(pattern);
}

function isMatch(found: Repository, pattern: string): boolean {
  const wanted = repositoryOf(pattern);
  if ('problem' in wanted || wanted.kind !== found.kind) return false;
  // If the pattern has no user, the address may have any.
  const host = wanted.host.includes('@') ? found.host : found.host.replace(/^[^@]*@/, '');
  const isHost = matches(host.toLowerCase(), wanted.host.toLowerCase(), '[^/@:]*');
  // A pattern without a path allows the whole host.
  return isHost && (wanted.path === '' || matches(found.path, wanted.path, '.*'));
}

/** Whether a text matches a pattern in which each `*` stands for the regular expression `star`. */
function matches(text: string, pattern: string, star: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join(star);
  return new RegExp(`^${source}$`, 's').test(text);
}

function repositoryOf(url: string): Repository | { readonly problem: string } {
  const problem = generalProblem(url);
  if (problem !== null) return { problem };
  const [, scheme, rest = ''] = /^([A-Za-z][\w+.-]*):\/\/(.*)$/s.exec(url) ?? [];
  if (scheme !== undefined) return byScheme(scheme.toLowerCase(), rest);
  if (url.startsWith('/')) return { kind: 'path', host: '', path: url };
  const [, host = '', path = ''] = /^([^/:]+):(.*)$/s.exec(url) ?? [];
  if (host === '' || path === '') {
    return { problem: `expects ${EXPECTED}, or an absolute path of the worker` };
  }
  // In `https:PATH`, git would take `https` for the name of a host, and so would a pattern.
  if (/^(?:file|https?)$/i.test(host)) return { problem: `expects ${host.toLowerCase()}://` };
  return isFlagLike(host) ? { problem: DASH } : { kind: 'scp', host, path };
}

function byScheme(scheme: string, rest: string): Repository | { readonly problem: string } {
  const slash = rest.indexOf('/');
  const host = slash === -1 ? rest : rest.slice(0, slash);
  const path = slash === -1 ? '' : rest.slice(slash);
  // Git would decode such characters only after ralph has compared the encoded address with the patterns.
  if (host.includes('%')) return { problem: 'must have no % in its user and host' };
  if (/%(?:2e|2f|5c|[01][\da-f]|7f)/i.test(path)) {
    return { problem: 'must not encode dots, slashes and control characters in its path' };
  }
  if (scheme === 'file') {
    return host === '' && path !== ''
      ? { kind: 'file', host, path }
      : { problem: 'expects file:///PATH, without a host' };
  }
  if (scheme !== 'https' && scheme !== 'ssh' && scheme !== 'git') {
    return { problem: `expects https, ssh or git; ${scheme} is refused` };
  }
  if (host === '') return { problem: `expects ${EXPECTED}` };
  return isFlagLike(host) ? { problem: DASH } : { kind: scheme, host, path };
}

const DASH = 'must not have a dash where git or ssh would take it for a flag';

/** Whether ssh would take the host, or the user before it, for a flag. */
function isFlagLike(host: string): boolean {
  return /^-|@-/.test(host);
}

function generalProblem(url: string): string | null {
  if (url.trim() === '') return `expects ${EXPECTED}; found an empty text`;
  if (url.startsWith('-')) return DASH;
  // Helpers such as `ext::` run a program.
  if (/^[\w+.-]+::/.test(url)) return 'must not name a helper of git, such as ext::';
  if (/[\p{Cc} \\]/u.test(url)) {
    return 'must have no spaces, control characters and backslashes';
  }
  // curl ends the host at these characters, but the patterns do not.
  if (/[?#]/.test(url)) return 'must have no ? and no #';
  if (hasPassword(url)) {
    return "must not have a password in it; the worker's own git has the credentials";
  }
  // Git and curl would resolve `..`, which could lead out of the folder that a pattern allows.
  if (/(?:^|[/:])(?:\.|%2e){2}(?:\/|$)/i.test(url)) return 'must not have .. in its path';
  return null;
}

/** Whether the address holds a password, or a token in place of a user. */
function hasPassword(url: string): boolean {
  const [, user] = /^\w+:\/\/([^/]*)@/.exec(url) ?? [];
  if (user !== undefined && /:|%3a/i.test(user)) return true;
  return /^[^/@:]*:[^/@]+@/.test(url) || maskSecrets(url) !== url;
}
