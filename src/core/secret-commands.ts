import { MASK, type MaskRule, replacing } from './mask.ts';
import { ESCAPE } from './mask-words.ts';
import { isCredential } from './secret-assignments.ts';
import { isVariable } from './secret-headers.ts';

/*
 * Credentials among the arguments of a command, also of one that is a list in JSON or was escaped.
 */

/** From a flag to its argument. */
const GAP = '(?: |\\\\{0,3}["\'], ?(?=\\\\{0,3}["\']))';
/** An argument, in three groups: its quote, what is quoted, or what stands there bare. */
const ARGUMENT = '(?:(\\\\{0,3}["\'])([^"\'`\\n\\\\]+)|([^\\s"\'`;|&<>()\\\\]+))';
/** Of a command on one line, what stands in front of a flag. */
const BETWEEN = '(?:[^\\n;|&\\\\]|\\\\(?!n)){0,200}?[ "\',]';

/** Programs that take a password behind a flag of their own. */
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

/** `-u NAME:password`, as curl has it and many after it. */
const userPassword = (): RegExp => {
  const name = '[\\w.@+-]{1,64}';
  const flag = `(?:-[uU]|--(?:proxy-)?user)(${GAP}|=)?(?:(\\\\{0,3}["'])(?=${name}:))?`;
  const password = `(?:(?<=["']${name}:)([^"'\`\\n\\\\]+)|([^\\s"'\`;|&<>()\\\\]+))`;
  return new RegExp(`((?<![\\w-])${flag}(${name}):)${password}`, 'g');
};

/** `--db-password hunter2`. With `=` it is an assignment. */
const passwordFlag = (): RegExp => {
  const kind =
    'password|passwd|passphrase|passwort|pass|pwd|token|secret|credentials|(?:api|access|secret|auth|private|account)[_-]?key';
  const flag = `(?<![\\w-])--((?:[A-Za-z0-9]{1,30}[_-]){0,4}(?:${kind}))`;
  return new RegExp(`(${flag}${GAP})${ARGUMENT}`, 'gi');
};

/** The letters of their signs count as they are written. */
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

/** To their signs small and large letters are the same. */
export const FLAG_RULES: readonly MaskRule[] = [
  replacing(
    ['--[\\w-]{0,80}(?:pass|pwd|token|secret|credentials|key)'],
    passwordFlag,
    ([whole, before = '', name = '', quote, quoted, bare = '']) => {
      const value = quoted ?? bare;
      // Another flag, or `--secret id=npmrc`.
      const isOption = /^-|^[a-z]{2,8}=./.test(value);
      const isSecret = isCredential(name, value, quote === undefined ? 'bare' : 'quoted');
      return isOption || !isSecret ? whole : before + (quote ?? '') + MASK;
    },
  ),
];

/** A group, a path, or two numbers, as other programs have them behind a name. */
function isNoPassword(name: string, value: string): boolean {
  const isNumeric = /^\d+$/.test(name) && /^\d*$/.test(value);
  return value === '' || value === name || isNumeric || /^[/~.:]/.test(value);
}

/** To the first it is a name and a password; to the others a user and a group, a path, an update. */
const USER_PROGRAM =
  /\b(?:(curl|https?(?= )|xh|wget|ab|siege|hey)|docker|podman|nerdctl|kubectl|rsync|scp|git|chown|install|su|sudo|runuser|setpriv|gosu|systemd-run|sort|date|touch|python3?|node)\b/g;

/** What the last program is that is named on a command's line in front of a place. */
function programBefore(text: string, at: number): 'name-and-password' | 'other' | null {
  const near = text.slice(Math.max(0, at - 300), at);
  const line = near.split(/\n|\\n|;|\||&&/).at(-1) ?? '';
  const last = [...line.matchAll(USER_PROGRAM)].at(-1);
  if (last === undefined) return null;
  return last[1] === undefined ? 'other' : 'name-and-password';
}
