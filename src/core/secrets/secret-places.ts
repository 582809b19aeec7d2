import { keepingFirst, type MaskRule } from './mask.ts';

/*
 * Masks credentials that are recognised by their place: in a URL, or alone on a line of a file.
 */

/** Matches the start of a line, even in a text that is quoted and escaped. */
const LINE_START = '(?:(?<![^\\n"\'])|(?<=\\\\n))';
const WORD_END = '(?![^\\s"\'\\\\])';

/** Builds a pattern for the password between `://user:` and `@`. Template variables do not match. */
const urlPassword = (): RegExp =>
  /(:\/\/[^\s/:@"'`<>?#\\]*:)(?!\d{1,5}[/?#]|[^\s/@]{0,40}\[masked\]@|[${]|%(?![0-9A-Fa-f]{2}))([^\s/"'`<>?\\]+)(?=@(?!sha\d{3}:))/g;
/** Builds a pattern for a password with an unescaped slash. The part before it must have no dot, unlike a host. */
const urlPasswordWithSlash = (): RegExp =>
  /(:\/\/[^\s/:@"'`<>?#.\\]{0,64}:)(?!\d{1,5}[/?#]|[^\s@]{0,80}\[masked\]@|[${]|%(?![0-9A-Fa-f]{2}))([^\s"'`<>@\\]{1,100})(?=@(?!sha\d{3}:)[\w.-]{1,253}(?:[:/?\s"'\\]|$))/g;
/** Builds a pattern for a token in place of a URL's user name. */
const urlToken = (): RegExp => /(:\/\/)(?=[A-Za-z_-]{0,60}\d)[\w-]{20,}(?=@)/g;
const URL_SIGN = '://[^\\s"\'`<>@\\\\]{1,300}@';

/**
 * Builds a pattern for a line of `.pgpass`: host, port, database, user, password. With a port other than PostgreSQL's,
 * the password must contain more than letters, since logs may have similar lines.
 */
const pgpass = (): RegExp => {
  const host = '(?:\\*|[A-Za-z0-9][\\w.-]{0,250})';
  const other = '[1-9]\\d{3,4}(?=:[^\\s:]{1,64}:[^\\s:]{1,64}:[A-Za-z]{0,64}[^A-Za-z\\s"\'\\\\])';
  const port = `(?:\\*|54\\d\\d|6432|${other})`;
  const database = '(?!\\d+:)[\\w*.-]{1,64}';
  const user = '[A-Za-z_*][\\w.@-]{0,63}';
  const password = '(?![/$])[^\\s"\'`\\\\:]{3,200}';
  return new RegExp(
    `(${LINE_START}${host}:${port}:${database}:${user}:)${password}${WORD_END}`,
    'g',
  );
};

/** Builds a pattern for a `kubeadm` token alone at the start of a line, without a name before it. */
const kubeadmToken = (): RegExp =>
  new RegExp(
    `(${LINE_START})(?=[a-z]{0,5}\\d)[a-z0-9]{6}\\.(?=[a-z]{0,15}\\d)(?=\\d{0,15}[a-z])[a-z0-9]{16}${WORD_END}`,
    'g',
  );

/** Rules whose signs (patterns searched for first) are case-sensitive: they are joined without the flag `i`. */
export const PLACE_RULES: readonly MaskRule[] = [
  keepingFirst([URL_SIGN], urlPassword),
  keepingFirst([URL_SIGN], urlPasswordWithSlash),
  keepingFirst([URL_SIGN], urlToken),
  keepingFirst([':(?:\\*|[1-9]\\d{3,4}):[^\\s:]{1,64}:'], pgpass),
  keepingFirst(['\\.[a-z0-9]{16}(?![a-z0-9])'], kubeadmToken),
];
