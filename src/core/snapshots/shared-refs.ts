/** The settings of a remote that decide which refs `git push` sends. */
interface RemoteFacts {
  readonly mirror: boolean;
  /** The refspecs of `remote.<name>.push`. */
  readonly push: readonly string[];
}

/** A remote to which `git push` would send snapshots: a sentence about it, and a remedy. */
export interface LeakyRemote {
  readonly says: string;
  readonly remedy: string;
}

/** Returns the remotes to which, by git's settings, `git push` would send snapshots. */
export function leakyRemotes(
  settings: readonly { readonly name: string; readonly value: string }[],
): readonly LeakyRemote[] {
  const remotes = new Map<string, RemoteFacts>();
  for (const { name: key, value } of settings) {
    const [, name, what] = /^remote\.([\s\S]*)\.(mirror|push)$/.exec(key) ?? [];
    if (name === undefined) continue;
    const { mirror, push } = remotes.get(name) ?? { mirror: false, push: [] };
    const isTrue = /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
    const isPush = what === 'push';
    remotes.set(name, isPush ? { mirror, push: [...push, value] } : { mirror: isTrue, push });
  }
  return [...remotes].flatMap(([name, facts]) => leakyRemote(name, facts) ?? []);
}

function leakyRemote(name: string, { mirror, push }: RemoteFacts): LeakyRemote | null {
  const takes = `git push ${name} takes all snapshots along, and what they hold: remote.${name}`;
  if (mirror) {
    return {
      says: `${takes}.mirror is set`,
      remedy: `git config --unset remote.${name}.mirror, or run ralph with --no-snapshots`,
    };
  }
  const broad = push.find(takesSnapshots);
  if (broad === undefined || push.some(leavesThemOut)) return null;
  return {
    says: `${takes}.push is ${broad}`,
    remedy: `git config --add remote.${name}.push '^refs/ralph/*'`,
  };
}

function takesSnapshots(refspec: string): boolean {
  const [source = ''] = refspec.replace(/^\+/, '').split(':');
  return /^refs\/(?:\*|ralph\/)/.test(source);
}

function leavesThemOut(refspec: string): boolean {
  return /^\^refs\/(?:ralph\/)?\*$/.test(refspec);
}
