import { MASK, type MaskRule, replacing } from './mask.ts';
import { ESCAPE } from './mask-words.ts';
import { isCredential } from './secret-assignments.ts';
import { isVariable } from './secret-headers.ts';

/*
 * Masks credentials in the arguments of a command. The arguments may be a JSON list or escaped.
 */

/** Matches what separates a flag from its argument: a space, or the quotes of a list. */
const GAP = '(?: |\\\\{0,3}["\'], ?(?=\\\\{0,3}["\']))';
/** Matches an argument, in three groups: the quote, the quoted text, and the text without quotes. */
const ARGUMENT = '(?:(\\\\{0,3}["\'])([^"\'`\\n\\\\]+)|([^\\s"\'`;|&<>()\\\\]+))';
/** Matches what can be between the program and the flag on a command line. */
const BETWEEN = '(?:[^\\n;|&\\\\]|\\\\(?!n)){0,200}?[ "\',]';

/** Programs that have a short flag for a password. */
const PROGRAMS: readonly (readonly [name: string, flag: string])[] = [
  ['sshpass', `-p(?:${GAP})?`],
  ['(?:mysql|mariadb)(?:-?(?:dump|admin|import|check|show|sh))?', '-p'],
  ['mycli', '-p'],
  ['redis-cli', `-a${GAP}`],
  ['(?:docker|podman|az|oc) login', `-p${GAP}`],
  ['mongo(?:sh|dump|restore|export|import)?', `-p${GAP}`],
  ['ldap(?:search|modify|add|delete|passwd|whoami)', `-w${GAP}`],
];

const programPassword = (): RegExp => {
  const programs = PROGRAMS.map(([name, flag]) => `${name}\\b${BETWEEN}${flag}`).join('|');
  return new RegExp(`((?:(?<![\\w=-]|--name )|${ESCAPE})(?:${programs}))${ARGUMENT}`, 'g');
};

/** Builds a pattern for `-u NAME:password`, which curl and many other programs accept. */
const userPassword = (): RegExp => {
  const name = '[\\w.@+-]{1,64}';
  const flag = `(?:-[uU]|--(?:proxy-)?user)(${GAP}|=)?(?:(\\\\{0,3}["'])(?=${name}:))?`;
  const password = `(?:(?<=["']${name}:)([^"'\`\\n\\\\]+)|([^\\s"'\`;|&<>()\\\\]+))`;
  return new RegExp(`((?<![\\w-])${flag}(${name}):)${password}`, 'g');
};

/** Builds a pattern for a flag such as `--db-password hunter2`. Another rule recognises the form with `=`. */
const passwordFlag = (): RegExp => {
  const kind =
    'password|passwd|passphrase|passwort|pass|pwd|token|secret|credentials|(?:api|access|secret|auth|private|account)[_-]?key';
  const flag = `(?<![\\w-])--((?:[A-Za-z0-9]{1,30}[_-]){0,4}(?:${kind}))`;
  return new RegExp(`(${flag}${GAP})${ARGUMENT}`, 'gi');
};

/** Rules whose signs (patterns searched for first) are case-sensitive: they are joined without the flag `i`. */
export const COMMAND_RULES: readonly MaskRule[] = [
  replacing(
    ['[ "\',]-[paw]'],
    programPassword,
    ([whole, before = '', quote = '', quoted, bare = '']) => {
      const value = quoted ?? bare;
      const isOther = /^-|^\d{2,5}(?::\d+)?$|^[\d.]+:/.test(value) || value.length < 3;
      return isVariable(value) || isOther ? whole : before + quote + MASK;
    },
  ),
  replacing(
    ['-[uU][ "\'\\\\]?["\',\\\\ ]{0,8}[\\w.@+-]{1,64}:', '-user[ ="\'\\\\]'],
    userPassword,
    (match) => {
      const [whole, before = '', gap = '', , name = '', quoted, bare = ''] = match;
      const value = quoted ?? bare;
      const program = programBefore(match.input, match.index);
      const isSure = program === 'name-and-password';
      const isOther = program === 'other' || (gap === '' && !isSure);
      if (isOther || isVariable(value) || isNoPassword(name, value)) return whole;
      if (!isSure && (/^[A-Za-z_-]*$/.test(value) || /[\s()]/.test(value))) return whole;
      return before + MASK;
    },
  ),
];

/** Rules whose signs match in any case, so these rules are joined with the flag `i`. */
export const FLAG_RULES: readonly MaskRule[] = [
  replacing(
    ['--[\\w-]{0,80}(?:pass|pwd|token|secret|credentials|key)'],
    passwordFlag,
    ([whole, before = '', name = '', quote, quoted, bare = '']) => {
      const value = quoted ?? bare;
      // The value may be another flag, or an option as in `--secret id=npmrc`.
      const isOption = /^-|^[a-z]{2,8}=./.test(value);
      const isSecret = isCredential(name, value, quote === undefined ? 'bare' : 'quoted');
      return isOption || !isSecret ? whole : before + (quote ?? '') + MASK;
    },
  ),
];

/** Whether the value after `-u NAME:` is no password: it is a group or a path, or name and value are numeric ids. */
function isNoPassword(name: string, value: string): boolean {
  const isNumeric = /^\d+$/.test(name) && /^\d*$/.test(value);
  return value === '' || value === name || isNumeric || /^[/~.:]/.test(value);
}

/**
 * Matches programs with a flag `-u`. For those in the first group it takes a name and a password; for the others a
 * user and a group, a path, or something else.
 */
const USER_PROGRAM =
  /\b(?:(curl|https?(?= )|xh|wget|ab|siege|hey)|docker|podman|nerdctl|kubectl|rsync|scp|git|chown|install|su|sudo|runuser|setpriv|gosu|systemd-run|sort|date|touch|python3?|node)\b/g;

/** Returns what the flag `-u` takes for the last program before `at`, or null if no known program is there. */
function programBefore(text: string, at: number): 'name-and-password' | 'other' | null {
  const near = text.slice(Math.max(0, at - 300), at);
  const line = near.split(/\n|\\n|;|\||&&/).at(-1) ?? '';
  const last = [...line.matchAll(USER_PROGRAM)].at(-1);
  if (last === undefined) return null;
  return last[1] === undefined ? 'other' : 'name-and-password';
}
