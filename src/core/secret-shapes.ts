/**
 * Credentials that are known by their own shape, wherever they stand. Every pattern is read in linear
 * time: what repeats without bound either ends its pattern, or cannot contain what begins it again.
 */

/** Stands in the place of what was taken out. */
export const MASK = '…[masked]';

interface Shape {
  /** What tells the kind; it stays. */
  readonly prefix: string;
  /** What the secret part is made of: a character class. */
  readonly body: string;
  /** The shortest secret part that is believed. */
  readonly least: number;
}

const WORD = '[A-Za-z0-9_-]';
const PLAIN = '[A-Za-z0-9]';
const DOTTED = '[A-Za-z0-9_.-]';

const SHAPES: readonly Shape[] = [
  // Anthropic: API keys, OAuth tokens, administration keys.
  { prefix: 'sk-ant-[a-z]{2,8}\\d\\d-', body: WORD, least: 6 },
  { prefix: 'sk-ant-', body: WORD, least: 24 },
  // OpenAI, OpenRouter, and those who write their keys alike.
  { prefix: 'sk-(?:proj|svcacct|admin|or-v1)-', body: WORD, least: 16 },
  { prefix: 'sk-', body: PLAIN, least: 20 },
  // GitHub, GitLab.
  { prefix: 'gh[pousr]_', body: '[A-Za-z0-9_]', least: 20 },
  { prefix: 'github_pat_', body: '[A-Za-z0-9_]', least: 16 },
  { prefix: 'gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-', body: DOTTED, least: 16 },
  // Slack.
  { prefix: 'xox[abeoprs][.-]', body: '[A-Za-z0-9.-]', least: 8 },
  { prefix: 'xapp-', body: '[A-Za-z0-9-]', least: 20 },
  { prefix: 'hooks\\.slack\\.com/services/', body: '[A-Za-z0-9/]', least: 16 },
  // Google.
  { prefix: 'AIza', body: WORD, least: 30 },
  { prefix: 'ya29\\.', body: DOTTED, least: 16 },
  { prefix: 'GOCSPX-', body: WORD, least: 16 },
  // Stripe.
  { prefix: '[rs]k_(?:live|test)_', body: PLAIN, least: 10 },
  { prefix: 'whsec_', body: '[A-Za-z0-9+/=]', least: 20 },
  // Package registries, model hosts, and further services.
  { prefix: 'npm_', body: PLAIN, least: 30 },
  { prefix: 'pypi-', body: WORD, least: 30 },
  { prefix: 'hf_', body: PLAIN, least: 24 },
  { prefix: '(?:gsk|r8)_', body: PLAIN, least: 30 },
  { prefix: 'dckr_pat_', body: WORD, least: 16 },
  { prefix: 'dop_v1_', body: PLAIN, least: 30 },
  { prefix: 'hvs\\.', body: WORD, least: 24 },
  { prefix: 'lin_api_', body: PLAIN, least: 24 },
  { prefix: 'SG\\.', body: DOTTED, least: 40 },
];

/** Not inside a word; an escape (`\n`, `%3D`) may end in a letter and is none. */
const BEFORE = '(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt]|%[0-9A-Fa-f]{2}))';
/** The end of a text, where a secret may be cut off. */
const END = '(?=(?:…|\\.\\.\\.)?$)';

/** A shape's prefix as one group, in front of a secret part that is only looked at. */
function recognised({ prefix, body, least }: Shape): string {
  // "npm_config" and "hf_model2" at the end of a text are no secrets that were cut off.
  const random = `(?=${body}{0,${least}}\\d)(?=${body}{0,${least}}[A-Z])`;
  const cutOff = least > 6 ? `|${random}${body}{6,${least}}${END}` : '';
  return `(${prefix})(?:${body}{${least},}${cutOff})`;
}

const SHAPED = new RegExp(`${BEFORE}(?:${SHAPES.map(recognised).join('|')})`, 'g');

/** `eyJ` is how a JSON object begins in base64: a header, a payload or four more parts. */
const JSON_WEB_TOKEN =
  /(?<![\w-])eyJ[\w-]{12,}\.(?:eyJ[\w-]*(?:\.[\w-]*)?|[\w-]{6,}\.[\w-]+(?:\.[\w-]*){0,2})/g;

/** An access key's id, and the secret key where it stands beside it (CSV, `id:secret`). */
const AWS_KEY =
  /(?<![A-Za-z0-9])(AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])(?:[ \t"',:]{1,5}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?/g;
const CUT_AWS_KEY = new RegExp(`(?<![A-Za-z0-9])(AKIA|ASIA)[A-Z0-9]{6,15}${END}`, 'g');

/** The password between `://user:` and `@`; a template's variable is none. */
const URL_PASSWORD =
  /(:\/\/[^\s/:@"'`<>?#]*:)(?![^\s/@]{0,40}\[masked\]@|[${%])([^\s/@"'`<>?#]+)(?=@)/g;
/** A token in the place of the user's name. */
const URL_TOKEN = /(:\/\/)(?=[A-Za-z_-]{0,60}\d)[\w-]{20,}(?=@)/g;

/** Masks what is a credential by its shape. */
export function maskShapes(text: string): string {
  return text
    .replace(SHAPED, (_, ...groups: readonly unknown[]) => {
      const prefix = groups.slice(0, SHAPES.length).find((group) => group !== undefined);
      return `${String(prefix)}${MASK}`;
    })
    .replace(JSON_WEB_TOKEN, `eyJ${MASK}`)
    .replace(AWS_KEY, `$1${MASK}`)
    .replace(CUT_AWS_KEY, `$1${MASK}`)
    .replace(URL_PASSWORD, `$1${MASK}`)
    .replace(URL_TOKEN, `$1${MASK}`);
}

const KEY_BORDER = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Masks private keys in PEM form; one that was cut off loses the lines that are still there. */
export function maskPrivateKeys(text: string): string {
  let masked = '';
  let from = 0;
  const borders = [...text.matchAll(KEY_BORDER)];
  borders.forEach((border, index) => {
    if (border[1] !== 'BEGIN' || border.index < from) return;
    const start = border.index + border[0].length;
    if (text.startsWith(MASK, start)) return;
    const next = borders[index + 1];
    const end = next?.[1] === 'END' ? next.index + next[0].length : endOfKeyLines(text, start);
    if (end === start) return;
    masked += `${text.slice(from, start)}${MASK}`;
    from = end;
  });
  return masked + text.slice(from);
}

/** A line of a key, or of the fields above it; line breaks may be written as backslash and n. */
const KEY_LINE =
  /[ \t]*(?:\r?\n|\\r\\n|\\n)[ \t>|+"']*((?:Proc-Type|DEK-Info|Version|Comment|Charset): [^\n\\]*|[A-Za-z0-9+/=]*)(?=[\r\n\\"',…]|$)/y;

function endOfKeyLines(text: string, start: number): number {
  let end = start;
  let read = start;
  for (;;) {
    KEY_LINE.lastIndex = read;
    const line = KEY_LINE.exec(text);
    if (line === null) return end;
    read += line[0].length;
    if (line[1] !== '') end = read;
  }
}
