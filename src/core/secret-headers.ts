import { MASK, type MaskRule, replaceEach, replacing } from './mask.ts';
import { ESCAPE, WORD_START } from './mask-words.ts';

/*
 * Credentials behind a word that announces them: in a header, in a cookie, in a file `.netrc`.
 */

/** `Authorization: Bearer …`. */
const authorization = (): RegExp =>
  /(authorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?(?:(?:bearer|basic|token|apikey|digest|flyv1|ssws)[ \t]{1,4})?)([^\s"'`\\,;<>]+)/gi;

/** A bearer token that stands alone. */
const bearer = (): RegExp =>
  new RegExp(`(${WORD_START}bearer[ \\t]{1,4})([A-Za-z0-9._~+/=-]{12,})`, 'gi');

/** The cookies of a request, or of a response. */
const cookies = (): RegExp =>
  /((set-)?cookie\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}(?:\[[ \t\r\n]{0,40})?\\{0,3}["']?|--cookie[ =]\\{0,3}["']?)((?=[\w.-]{1,80}=)[^\r\n"'\\]+)/gi;
const COOKIE = /(?<=^|;[ \t]{0,4})([\w.%-]{1,80}=)([^\s;,]{16,})/g;
/** What follows the first of a response is its attributes. */
const FIRST_COOKIE = /^([\w.%-]{1,80}=)([^\s;,]{16,})/g;

function maskCookies(pairs: string, pattern: RegExp): string {
  return replaceEach(pairs, pattern, ([whole, name = '', value = '']) =>
    isVariable(value) ? whole : name + MASK,
  );
}

/** Blanks and line ends; the text may have been escaped. */
const SPACE = '(?:[ \\t]|\\r?\\n|\\\\{1,3}[nrt]){1,8}';
const WORD = '[^\\s"\'`\\\\]+';

/** `machine … login … password …`, also without the machine. */
const netrc = (): RegExp => {
  const machine = `(?:${WORD_START}(machine)${SPACE}${WORD}${SPACE}|${WORD_START}(default)${SPACE})?`;
  const login = `(?:(?<![\\w-])|${ESCAPE})login${SPACE}(?!and\\b|or\\b)${WORD}${SPACE}`;
  const account = `(?:account${SPACE}${WORD}${SPACE})?`;
  return new RegExp(`(${machine}${login}${account}password${SPACE})(${WORD})`, 'gi');
};

/** To their signs small and large letters are the same. */
export const HEADER_RULES: readonly MaskRule[] = [
  replacing(['authorization'], authorization, ([whole, before = '', value = '']) => {
    const hasScheme = /[a-z0-9][ \t]{1,4}$/i.test(before);
    return isOpaque(value, hasScheme ? 6 : 16) ? before + MASK : whole;
  }),
  replacing(['bearer[ \\t]'], bearer, ([whole, before = '', value = '']) =>
    isOpaque(value, 12) ? before + MASK : whole,
  ),
  replacing(
    ['cookie\\\\{0,3}["\']?[ \\t]{0,4}:', '--cookie'],
    cookies,
    ([, before = '', set, pairs = '']) =>
      before + maskCookies(pairs, set === undefined ? COOKIE : FIRST_COOKIE),
  ),
  replacing(
    ['login[ \\t\\r\\n\\\\]'],
    netrc,
    ([whole, before = '', machine, byDefault, value = '']) => {
      const isCertain = (machine ?? byDefault) !== undefined;
      // A login's password in a sentence is a word.
      const isSecret = isCertain || (value.length >= 4 && /[^A-Za-z.,:;]/.test(value));
      return isVariable(value) || !isSecret ? whole : before + MASK;
    },
  ),
];

/** Stands for a value elsewhere, or was taken out already. */
export function isVariable(value: string): boolean {
  return /^(?:[$%{<[]|\*+$)|\[masked\]|\$\{/.test(value);
}

/** No plain word, no name with parts, and nothing that stands for a value elsewhere. */
function isOpaque(value: string, least: number): boolean {
  if (value.length < least || isVariable(value)) return false;
  const isNames = /^[A-Za-z_]?[a-z_]*(?:[-.][A-Za-z_]?[a-z_]*)*$|^[A-Z_]+$/.test(value);
  return !isNames;
}
