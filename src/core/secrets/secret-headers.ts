import { MASK, type MaskRule, replaceEach, replacing } from './mask.ts';
import { ESCAPE, WORD_START } from './mask-words.ts';

/*
 * Masks credentials that follow a word which announces them: in a header, a cookie or a `.netrc` file.
 */

const authorization = (): RegExp =>
  /(authorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?(?:(?:bearer|basic|token|apikey|digest|flyv1|ssws)[ \t]{1,4})?)([^\s"'`\\,;<>]+)/gi;

const bearer = (): RegExp =>
  new RegExp(`(${WORD_START}bearer[ \\t]{1,4})([A-Za-z0-9._~+/=-]{12,})`, 'gi');

const cookies = (): RegExp =>
  /((set-)?cookie\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}(?:\[[ \t\r\n]{0,40})?\\{0,3}["']?|--cookie[ =]\\{0,3}["']?)((?=[\w.-]{1,80}=)[^\r\n"'\\]+)/gi;
const COOKIE = /(?<=^|;[ \t]{0,4})([\w.%-]{1,80}=)([^\s;,]{16,})/g;
/** Matches the first cookie only: in a response, its attributes follow, and no other cookie. */
const FIRST_COOKIE = /^([\w.%-]{1,80}=)([^\s;,]{16,})/g;

function maskCookies(pairs: string, pattern: RegExp): string {
  return replaceEach(pairs, pattern, ([whole, name = '', value = '']) =>
    isVariable(value) ? whole : name + MASK,
  );
}

/** Matches spaces and line breaks, even escaped ones. */
const SPACE = '(?:[ \\t]|\\r?\\n|\\\\{1,3}[nrt]){1,8}';
const WORD = '[^\\s"\'`\\\\]+';

/** Builds a pattern for an entry of `.netrc`: `machine … login … password …`, with or without the machine. */
const netrc = (): RegExp => {
  const machine = `(?:${WORD_START}(machine)${SPACE}${WORD}${SPACE}|${WORD_START}(default)${SPACE})?`;
  const login = `(?:(?<![\\w-])|${ESCAPE})login${SPACE}(?!and\\b|or\\b)${WORD}${SPACE}`;
  const account = `(?:account${SPACE}${WORD}${SPACE})?`;
  return new RegExp(`(${machine}${login}${account}password${SPACE})(${WORD})`, 'gi');
};

/** Rules whose signs (patterns searched for first) match in any case, so they are joined with the flag `i`. */
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
      // In a sentence, the word after "password" is an ordinary word.
      const isSecret = isCertain || (value.length >= 4 && /[^A-Za-z.,:;]/.test(value));
      return isVariable(value) || !isSecret ? whole : before + MASK;
    },
  ),
];

/** Whether a value is a reference to a value elsewhere, or is already masked. */
export function isVariable(value: string): boolean {
  return /^(?:[$%{<[]|\*+$)|\[masked\]|\$\{/.test(value);
}

/** Whether a value is long enough for a credential, and not a word, a dotted or hyphenated name, or a reference. */
function isOpaque(value: string, least: number): boolean {
  if (value.length < least || isVariable(value)) return false;
  const isNames = /^[A-Za-z_]?[a-z_]*(?:[-.][A-Za-z_]?[a-z_]*)*$|^[A-Z_]+$/.test(value);
  return !isNames;
}
