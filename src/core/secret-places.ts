import {
  ESCAPE,
  keepingFirst,
  MASK,
  type MaskRule,
  replaceEach,
  replacing,
  WORD_START,
} from './mask.ts';

/*
 * Credentials that are known by the place where they stand: in a URL, in a header, in a file that has
 * nothing else.
 */

/** A line begins here; the text may have been quoted and escaped. */
const LINE_START = '(?:(?<![^\\n"\'])|(?<=\\\\n))';
/** A word ends here. */
const WORD_END = '(?![^\\s"\'\\\\])';
/** Blanks and line ends; the text may have been escaped. */
const SPACE = '(?:[ \\t]|\\r?\\n|\\\\{1,3}[nrt]){1,8}';
/** One word, quoted or not. */
const WORD = '[^\\s"\'`\\\\]+';

/** The password between `://user:` and the last `@` of the host; a template's variable is none. */
const URL_PASSWORD =
  /(:\/\/[^\s/:@"'`<>?#\\]*:)(?!\d{1,5}[/?#]|[^\s/@]{0,40}\[masked\]@|[${]|%(?![0-9A-Fa-f]{2}))([^\s/"'`<>?\\]+)(?=@(?!sha\d{3}:))/g;
/** A password with a slash in it, which belongs escaped; no host, whose name would have a dot. */
const URL_PASSWORD_WITH_SLASH =
  /(:\/\/[^\s/:@"'`<>?#.\\]{0,64}:)(?!\d{1,5}[/?#]|[^\s@]{0,80}\[masked\]@|[${]|%(?![0-9A-Fa-f]{2}))([^\s"'`<>@\\]{1,100})(?=@(?!sha\d{3}:)[\w.-]{1,253}(?:[:/?\s"'\\]|$))/g;
/** A token in the place of the user's name. */
const URL_TOKEN = /(:\/\/)(?=[A-Za-z_-]{0,60}\d)[\w-]{20,}(?=@)/g;

/**
 * A line of `.pgpass`: host, port, database, user, password. At a port that is not PostgreSQL's own,
 * the password has to be more than letters: a log may have such lines too.
 */
const PGPASS_PORT =
  '(?:\\*|54\\d\\d|6432|[1-9]\\d{3,4}(?=:[^\\s:]{1,64}:[^\\s:]{1,64}:[A-Za-z]{0,64}[^A-Za-z\\s"\'\\\\]))';
const PGPASS = new RegExp(
  `(${LINE_START}(?:\\*|[A-Za-z0-9][\\w.-]{0,250}):${PGPASS_PORT}:(?!\\d+:)[\\w*.-]{1,64}:[A-Za-z_*][\\w.@-]{0,63}:)(?![/$])[^\\s"'\`\\\\:]{3,200}${WORD_END}`,
  'g',
);

/** A line of `kubeadm token`, which has no name beside it. */
const KUBEADM = new RegExp(
  `(${LINE_START})(?=[a-z]{0,5}\\d)[a-z0-9]{6}\\.(?=[a-z]{0,15}\\d)(?=\\d{0,15}[a-z])[a-z0-9]{16}${WORD_END}`,
  'g',
);

/** What signs a URL to a stored file, or a shared access to it. */
const URL_SIGNATURE = /((?<![\w-])(?:sig|X-(?:Amz|Goog)-Signature)=)[A-Za-z0-9%+/_-]{40,}={0,2}/g;

const PASSWORD_SIGN = '://[^\\s/:@"\'`<>?#\\\\]*:[^\\s"\'`<>@\\\\]{1,200}@';

/** The letters of their signs count as they are written. */
export const PLACE_RULES: readonly MaskRule[] = [
  keepingFirst([PASSWORD_SIGN], URL_PASSWORD),
  keepingFirst([PASSWORD_SIGN], URL_PASSWORD_WITH_SLASH),
  keepingFirst(['://[\\w-]{20,}@'], URL_TOKEN),
  keepingFirst(['\\bsig=', '\\bX-(?:Amz|Goog)-Signature='], URL_SIGNATURE),
  keepingFirst([`:${PGPASS_PORT}:[^\\s:]{1,64}:[^\\s:]{1,64}:`], PGPASS),
  keepingFirst([`\\.[a-z0-9]{16}${WORD_END}`], KUBEADM),
];

/** `Authorization: Bearer …`, and a bearer token that stands alone. */
const AUTHORIZATION =
  /(authorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?(?:(?:bearer|basic|token|apikey|digest|flyv1|ssws)[ \t]{1,4})?)([^\s"'`\\,;<>]+)/gi;
const BEARER = new RegExp(`(${WORD_START}bearer[ \\t]{1,4})([A-Za-z0-9._~+/=-]{12,})`, 'gi');

/** Each value of a request's cookies; of a response's, the first: what follows it are attributes. */
const COOKIES =
  /((set-)?cookie\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}(?:\[[ \t\r\n]{0,40})?\\{0,3}["']?|--cookie[ =]\\{0,3}["']?)((?=[\w.-]{1,80}=)[^\r\n"'\\]+)/gi;
const COOKIE = /(?<=^|;[ \t]{0,4})([\w.%-]{1,80}=)([^\s;,]{16,})/g;
const FIRST_COOKIE = /^([\w.%-]{1,80}=)([^\s;,]{16,})/g;

function maskCookies(pairs: string, pattern: RegExp): string {
  return replaceEach(pairs, pattern, ([whole, name = '', value = '']) =>
    isVariable(value) ? whole : name + MASK,
  );
}

/** The same of a file `.netrc`; without its first words a password must look like one. */
const NETRC = new RegExp(
  `((?:${WORD_START}(machine)${SPACE}${WORD}${SPACE}|${WORD_START}(default)${SPACE})?(?:(?<![\\w-])|${ESCAPE})login${SPACE}(?!and\\b|or\\b)${WORD}${SPACE}(?:account${SPACE}${WORD}${SPACE})?password${SPACE})(${WORD})`,
  'gi',
);

/** To their signs small and large letters are the same. */
export const HEADER_RULES: readonly MaskRule[] = [
  replacing([AUTHORIZATION.source], AUTHORIZATION, ([whole, before = '', value = '']) => {
    const hasScheme = /[a-z0-9][ \t]{1,4}$/i.test(before);
    return isOpaque(value, hasScheme ? 6 : 16) ? before + MASK : whole;
  }),
  replacing(
    ['bearer[ \\t]{1,4}[A-Za-z0-9._~+/=-]{12}'],
    BEARER,
    ([whole, before = '', value = '']) => (isOpaque(value, 12) ? before + MASK : whole),
  ),
  replacing(
    [COOKIES.source],
    COOKIES,
    ([, before = '', set, pairs = '']) =>
      before + maskCookies(pairs, set === undefined ? COOKIE : FIRST_COOKIE),
  ),
  replacing(
    [`login${SPACE}${WORD}${SPACE}`],
    NETRC,
    ([whole, before = '', machine, byDefault, value = '']) => {
      const isCertain = (machine ?? byDefault) !== undefined;
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
