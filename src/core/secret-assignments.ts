import { MASK } from './secret-shapes.ts';

/**
 * Credentials that are known only by what they are called: `API_KEY=…`, `"client_secret": "…"`. What
 * the value looks like decides too, since code and prose are full of words such as `token: string`.
 */

/** How much a name says: after `password` nearly any value is one, after `key` hardly any is. */
type Suspicion = 'strong' | 'medium' | 'weak';

/** How a value stands there. */
type Form = 'quoted' | 'environment' | 'bare';

const NAME_END =
  /(key|token|secret|password|passwd|passphrase|_pwd|_pass|credentials?|_?auth)(?=\\{0,3}["'`]?[ \t]{0,4}[:=])/gi;

/** From the name to the value: `: `, `=`, `": "`, `: string = `, `\": \"`. */
const SEPARATOR =
  /\\{0,3}["'`]?[ \t]{0,4}(?::[ \t]{0,2}(?:string|String|str|&(?:'static )?str)[ \t]{0,2}=(?!=)|:=|=>|={1,3}|:(?!:))[ \t]{0,4}(?:[fbru](?=["']))?(\\{0,3}["'`])?/y;

/** A quoted value up to its quote, or to the end of its line where it was cut off. */
const QUOTED: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\\n]|\\[^\n])*/y,
  "'": /(?:[^'\\\n]|\\[^\n])*/y,
  '`': /(?:[^`\\\n]|\\[^\n])*/y,
};
/** Within a text that was quoted itself, a backslash ends the value. */
const QUOTED_TWICE = /[^"'`\\\n]*/y;
/** A line of an environment file is a value to its end. */
const ENVIRONMENT_LINE = /[^\s"'`]*/y;
/** As much of a bare value as is judged; if it is a credential, the rest of it goes too. */
const BARE = /[^\s"'`,;(){}[\]<>|&\\=]{0,256}={0,2}/y;
const BARE_REST = /[^\s"'`,;(){}[\]<>|&\\]*/y;

/** Masks values whose name says that they are credentials. */
export function maskAssignments(text: string): string {
  let masked = '';
  let kept = 0;
  let next = 0;
  for (const end of text.matchAll(NAME_END)) {
    if (end.index < next) continue;
    const found = valueAfter(text, end.index + end[0].length, nameAt(text, end));
    if (found === null) continue;
    const { start, value } = found;
    if (isMasked(text, found) || !isCredential(found.name, value, found.form)) {
      // The names in a value without "=" are words of it; to read them all again would take for ever.
      if (found.form === 'bare' && !value.endsWith('=')) next = start + value.length;
      continue;
    }
    masked += `${text.slice(kept, start)}${MASK}`;
    kept = start + value.length;
    if (found.form !== 'quoted' && value.length >= 256) kept += read(BARE_REST, text, kept).length;
    next = kept;
  }
  return masked + text.slice(kept);
}

function isMasked(text: string, { start, value }: FoundValue): boolean {
  return text.startsWith('[masked]', start + value.length);
}

/** Whether a value of this name is a credential: for data that has its names apart from its values. */
export function isCredentialField(name: string, value: string): boolean {
  return FIELD_NAME.test(`${name}:`) && isCredential(name, value, 'quoted');
}

const FIELD_NAME = new RegExp(NAME_END.source, 'i');

const NAME_MAX = 64;
const NAME_CHARACTER = /[\w.$/\\-]/;

/** The whole name of which the end was found. */
function nameAt(text: string, end: RegExpExecArray): string {
  let start = end.index;
  const least = Math.max(0, start - NAME_MAX);
  while (start > least && NAME_CHARACTER.test(text.charAt(start - 1))) start -= 1;
  // "api key: …", as messages have it.
  const isApiKey = start === end.index && /api $/i.test(text.slice(Math.max(0, start - 4), start));
  return (isApiKey ? 'api_' : text.slice(start, end.index)) + end[0];
}

interface FoundValue {
  readonly name: string;
  readonly start: number;
  readonly value: string;
  readonly form: Form;
}

function valueAfter(text: string, at: number, name: string): FoundValue | null {
  SEPARATOR.lastIndex = at;
  const separator = SEPARATOR.exec(text);
  if (separator === null) return null;
  const [whole, quote] = separator;
  const start = at + whole.length;
  if (quote !== undefined) {
    const pattern = quote.length > 1 ? QUOTED_TWICE : (QUOTED[quote] ?? QUOTED_TWICE);
    return { name, start, value: read(pattern, text, start), form: 'quoted' };
  }
  const isEnvironment = whole === '=' && /^(?:-[a-zA-Z]|--env=)?[A-Z][A-Z0-9_]*$/.test(name);
  if (!isEnvironment) return { name, start, value: trimmed(read(BARE, text, start)), form: 'bare' };
  const before = text.charAt(at - name.length - 1);
  const isLine = before === '' || before === '\n';
  const value = isLine ? read(ENVIRONMENT_LINE, text, start) : trimmed(read(BARE, text, start));
  return { name, start, value, form: 'environment' };
}

function read(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** A sentence ends with a dot that is not the value's. */
function trimmed(value: string): string {
  return /[.:!?]$/.test(value) ? value.slice(0, -1) : value;
}

function isCredential(name: string, value: string, form: Form): boolean {
  const suspicion = suspicionOf(name, form);
  if (suspicion === null || isPlaceholder(value)) return false;
  if (/^\d+:/.test(value) || isPath(value) || /^[a-z][a-z0-9+.-]{1,20}:/.test(value)) return false;
  if (/\s/.test(value)) return suspicion === 'strong' && /^[A-Z][A-Z0-9_]*$/.test(name);
  if (suspicion === 'weak') return looksRandom(value);
  if (form === 'bare' && isCode(value)) return false;
  if (suspicion === 'medium') {
    return value.length >= (form === 'bare' ? 8 : 6) && !isWords(value) && /[A-Za-z]/.test(value);
  }
  if (form === 'bare') return value.length >= 4 && !isWords(value);
  return value.length >= 3 && !TYPE_WORDS.test(value);
}

const SECRET_KEY =
  /(?:api|access|secret|private|encrypt|encryption|signing|auth|account|master|service|client|app|admin|deploy|session|storage|consumer|webhook|hmac|jwt)[_ .-]?key$/i;
const OPEN_KEY =
  /(?:public|primary|foreign|sort|cache|partition|hash|host|index|row|group|idempotency|object|bucket)[_.-]?key$/i;

/** What a name says of its value; null where it says nothing. */
function suspicionOf(name: string, form: Form): Suspicion | null {
  // "/etc/passwd:12:…" is a place in a file.
  if (/[/\\][\w.-]*$/.test(name) && !/\\[nrt]\w*$/.test(name)) return null;
  if (/(?:password|passwd|passphrase|secret)$/i.test(name)) return 'strong';
  if (/_(?:PWD|PASS)$/.test(name) && form === 'environment') return 'strong';
  if (/(?:_pwd|_pass)$/i.test(name)) return 'medium';
  if (/(?:token|credentials?)$/i.test(name)) return 'medium';
  if (/(?:^|[\\/._-])_?auth$/i.test(name)) return 'weak';
  if (!/key$/i.test(name) || OPEN_KEY.test(name)) return null;
  if (SECRET_KEY.test(name)) return 'medium';
  if (/_KEY$/.test(name) && form === 'environment') return 'medium';
  return /(?:^|[^A-Za-z])key$|[a-z0-9]Key$/i.test(name) ? 'weak' : null;
}

/** Stands for a value that is elsewhere, that is missing, or that was taken out already. */
function isPlaceholder(value: string): boolean {
  return (
    !/[A-Za-z0-9]/.test(value) ||
    value.includes('[masked]') ||
    /^(?:[$%@]|\{|<|\[|!|&\w|\*\w|env:|op:|arn:|process\.|os\.environ|import\.meta)/.test(value) ||
    /\$\{|\{\{|\$\(/.test(value) ||
    /^(?:x{3,}|X{3,}|0+|null|nil|none|true|false|undefined|redacted|removed|hidden|masked)$/i.test(
      value,
    ) ||
    /^(?:your|example|insert|replace)[_-]?\w{0,20}[_-]/i.test(value) ||
    /x{4}|\*{3}|^.{0,8}\.\.\.$/i.test(value)
  );
}

/** A word that describes a field rather than filling it. */
const TYPE_WORDS =
  /^(?:string|text|str|number|boolean|bool|any|unknown|object|required|optional|password|passwort|passwd|passphrase|secret|token|key|empty|missing|invalid|wrong|hidden|type|name|value|test)$/i;

/** Words and identifiers as people make them, not letters as chance does. */
function isWords(value: string): boolean {
  if (!/^[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*$/.test(value)) return false;
  return value.split(/[-_.:/ ]/).every((word) => {
    const capitals = word.replace(/[a-z]/g, '').length;
    const isRandom = word.length >= 16 && capitals * 4 > word.length && capitals < word.length;
    return !isRandom && word.length <= 40;
  });
}

/** An expression, a type or a name of a program rather than a value. */
function isCode(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) ||
    /^(?:Big)?(?:U?[Ii]nt|Float|[uif])\d{1,3}(?:Clamped)?(?:Array)?$/.test(value)
  );
}

function isPath(value: string): boolean {
  return /^(?:~|\.{0,2})(?:\/[\w.@-]+)+\/?$/.test(value) && !looksRandom(value.replaceAll('/', ''));
}

/** Digits, small and large letters mixed, long enough to be no name; no hash, UUID or date. */
function looksRandom(value: string): boolean {
  return (
    value.length >= 16 &&
    /^[\w+/=-]+$/.test(value) &&
    /\d/.test(value) &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value) &&
    !/^[a-z]+(?:[A-Z][a-z]+)*\d{0,3}$/.test(value)
  );
}
