import { MASK, type MaskRule } from './mask.ts';

/*
 * Masks credentials that are recognised by their names: `API_KEY=…`, `"client_secret": "…"`. The form of the value
 * matters, too, since code and prose often have texts such as `token: string`.
 */

/**
 * How likely a name makes it that its value is a credential. After `password` nearly any value is one (`strong`), after
 * `key` hardly any (`weak`). `brief` is for `pass` and `pwd`, which can also mean a passed test or a folder.
 */
type Suspicion = 'strong' | 'medium' | 'brief' | 'weak';

/** How a value is written. */
export type Form = 'quoted' | 'environment' | 'bare';

/** Matches the end of a suspicious name, before a separator. */
const NAME_END =
  /(key|token|secret|password|passwd|passphrase|passwort|pass|pwd|credentials?|_?auth|key[_-]?data|secret_key_base)(?=\\{0,3}["'`]?[ \t]{0,4}[:=])/gi;

/** Matches what separates name and value: `: `, `=`, `": "`, `: string = `, `\": \"`. */
const SEPARATOR =
  /\\{0,3}["'`]?[ \t]{0,4}(?::[ \t]{0,2}(?:string|String|str|&(?:'static )?str)[ \t]{0,2}=(?!=)|:=|=>|={1,3}|:(?!:))[ \t]{0,4}(?:[fbru](?=["']))?(\\{0,3}["'`])?/y;

/** Match a quoted value up to its closing quote, or up to the end of the line if it was cut off. */
const QUOTED: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\\n]|\\[^\n])*/y,
  "'": /(?:[^'\\\n]|\\[^\n])*/y,
  '`': /(?:[^`\\\n]|\\[^\n])*/y,
};
/** Matches a quoted value in a text that is itself quoted, where a backslash ends the value. */
const QUOTED_TWICE = /[^"'`\\\n]*/y;
/** Matches a value in an environment file, up to the end of its line; `ESCAPED_LINE` if line breaks are escaped. */
const ENVIRONMENT_LINE = /[^\s"'`]*/y;
const ESCAPED_LINE = /[^\s"'`\\]*/y;
/** Matches the part of a bare value that is examined. If it is a credential, a match of `BARE_REST` is masked, too. */
const BARE = /[^\s"'`,;(){}[\]<>|&\\=]{0,256}={0,2}/y;
const BARE_REST = /[^\s"'`,;(){}[\]<>|&\\]*/y;

/** Masks values whose name marks them as credentials. */
export const ASSIGNMENTS: MaskRule = { signs: [NAME_END.source], mask: maskAssignments };

function maskAssignments(text: string): string {
  let masked = '';
  let kept = 0;
  let next = 0;
  for (const end of text.matchAll(NAME_END)) {
    if (end.index < next) continue;
    const found = valueAfter(text, end.index + end[0].length, nameAt(text, end));
    if (found === null) continue;
    const { start, value } = found;
    const isSecret = !isMasked(text, found) && !isCall(text, found);
    if (!isSecret || !isCredential(found.name, value, found.form)) {
      // Names inside a value without `=` are skipped, since examining each of them would take too long.
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

/** Whether the value is code: a call such as `getPassword2(…)`, or an index such as `tokens_2[0]`. */
function isCall(text: string, { start, value, form }: FoundValue): boolean {
  if (form !== 'bare' || !/[([]/.test(text.charAt(start + value.length))) return false;
  return /^[A-Za-z_$][\w$.]*$/.test(value) && /[._]|[a-z][A-Z]/.test(value);
}

/** Whether the value of a field is a credential, for data in which names and values are separate. */
export function isCredentialField(name: string, value: string): boolean {
  return FIELD_NAME.test(`${name}:`) && isCredential(name, value, 'quoted');
}

const FIELD_NAME = new RegExp(NAME_END.source, 'i');

const NAME_MAX = 64;
const NAME_CHARACTER = /[\w.$/\\-]/;

/** The name of a value, and where it begins. */
interface Name {
  readonly name: string;
  readonly from: number;
}

/** Returns the whole name that ends with the match `end`. */
function nameAt(text: string, end: RegExpExecArray): Name {
  let from = end.index;
  const least = Math.max(0, from - NAME_MAX);
  while (from > least && NAME_CHARACTER.test(text.charAt(from - 1))) from -= 1;
  // Messages may have `api key: …`, with a space inside the name.
  const isApiKey = from === end.index && /api $/i.test(text.slice(Math.max(0, from - 4), from));
  if (isApiKey) return { name: `api_${end[0]}`, from };
  // If the line end before a name is escaped, the letter of the escape is not part of the name.
  const lineEnd = /^[\s\S]*\\[nrt]/.exec(text.slice(from, end.index));
  from += lineEnd?.[0].length ?? 0;
  return { name: text.slice(from, end.index) + end[0], from };
}

interface FoundValue {
  readonly name: string;
  readonly start: number;
  readonly value: string;
  readonly form: Form;
}

function valueAfter(text: string, at: number, { name, from }: Name): FoundValue | null {
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
  const line = lineOf(text, from);
  const value = line === null ? trimmed(read(BARE, text, start)) : read(line, text, start);
  return { name, start, value, form: 'environment' };
}

/** Returns the pattern for the value if a line of an environment file starts at `from`, otherwise null. */
function lineOf(text: string, from: number): RegExp | null {
  const before = text.slice(Math.max(0, from - 2), from);
  if (before === '' || before.endsWith('\n')) return ENVIRONMENT_LINE;
  return /["']$|\\n$/.test(before) ? ESCAPED_LINE : null;
}

function read(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** Drops the punctuation that ends a sentence. */
function trimmed(value: string): string {
  return /[.:!?]$/.test(value) ? value.slice(0, -1) : value;
}

/** Whether a value counts as a credential, judged by its name and its form. */
export function isCredential(name: string, value: string, form: Form): boolean {
  const suspicion = suspicionOf(name, form);
  if (suspicion === null || isPlaceholder(value)) return false;
  if (value.startsWith('base64:')) return value.length >= 24;
  if (/^\d+:/.test(value) || isPath(value) || /^[a-z][a-z0-9+.-]{1,20}:/.test(value)) return false;
  if (/\s/.test(value)) return suspicion === 'strong' && isPassphrase(name, value, form);
  if (suspicion === 'weak') return looksRandom(value);
  if (suspicion === 'brief') return isBriefPassword(value, form);
  if (/token$/i.test(name) && isKubeadmToken(value)) return true;
  if (form === 'bare' && isCode(value)) return false;
  if (suspicion === 'medium') {
    return value.length >= (form === 'bare' ? 8 : 6) && !isWords(value) && /[A-Za-z]/.test(value);
  }
  if (form === 'bare') return value.length >= 4 && !isWords(value);
  return value.length >= 3 && !TYPE_WORDS.test(value);
}

/** Whether several words are a passphrase: in a variable, or quoted as a password and not a message. */
function isPassphrase(name: string, value: string, form: Form): boolean {
  if (/^[A-Z][A-Z0-9_]*$/.test(name)) return true;
  if (form !== 'quoted' || !/(?:password|passwd|passphrase|passwort)$/i.test(name)) return false;
  if (!/^[A-Za-z0-9]/.test(value) || value.length < 8 || MESSAGE.test(value)) return false;
  return /\d/.test(value) || !/^[A-Z][a-z]/.test(value);
}

/** Matches words of messages about passwords and of labels of password fields. */
const MESSAGE =
  /\b(?:pass(?:word|wort|phrase|code)s?|please|bitte|enter|type|your|you|must|should|cannot|can|not|is|are|was|were|has|have|if|when|the|an?|for|to|of|at least|characters?|required|optional|invalid|wrong|incorrect|missing|match(?:es)?|fields?|forgot(?:ten)?|reset|changed?|confirm|repeat|weak|short|long|expired|new|old|current)\b/i;

/** Matches values that are no password: a number, a version, the name of a test, a path, a name in a program. */
const NO_PASSWORD =
  /^0x[0-9a-f]+$|^\d+(?:[.,]\d+)*[a-z%]{0,4}$|^v?\d+(?:\.\d+)+|^test|\/|\\|::|->|\?\./i;

/** Whether the value of `pass` or `pwd` is a password: letters mixed with something else. */
function isBriefPassword(value: string, form: Form): boolean {
  if (NO_PASSWORD.test(value)) return false;
  if (form === 'bare' && isCode(value)) return false;
  const least = { quoted: 4, environment: 4, bare: 6 }[form];
  if (value.length < least || !/[A-Za-z]/.test(value) || TYPE_WORDS.test(value)) return false;
  return form === 'environment' || !isWords(value);
}

/** Whether the value has the form of a `kubeadm` token. It must contain a digit, or it could be code. */
function isKubeadmToken(value: string): boolean {
  return /^[a-z0-9]{6}\.(?=[a-z]*\d)[a-z0-9]{16}$/.test(value);
}

const SECRET_KEY =
  /(?:api|access|secret|private|encrypt|encryption|signing|auth|account|master|service|client|app|admin|deploy|session|storage|consumer|webhook|hmac|jwt|(?:pre[_ .-]?)?shared)[_ .-]?key$/i;
const OPEN_KEY =
  /(?:public|primary|foreign|sort|cache|partition|hash|host|index|row|group|idempotency|object|bucket)[_.-]?key$/i;

/** Matches `pass` or `pwd` at the end of a name, but not inside a longer word such as "bypass". */
const BRIEF = /(?:^|[^A-Za-z])(?:pass|PASS|Pass|pwd|PWD|Pwd)$|[a-z](?:Pass|Pwd)$/;

/** Returns how suspicious a name makes its value, or null if not at all. */
function suspicionOf(name: string, form: Form): Suspicion | null {
  // `/etc/passwd:12:…` is a place in a file.
  if (/[/\\][\w.-]*$/.test(name) && !/\\[nrt]\w*$/.test(name)) return null;
  if (/(?:password|passwd|passphrase|passwort|secret)$/i.test(name)) return 'strong';
  if (/_(?:PWD|PASS)$|^(?:-e)?(?:SSH|PG|MYSQL)PASS$/.test(name) && form === 'environment') {
    return 'strong';
  }
  if (BRIEF.test(name)) {
    // `PASS: TestParse2` is a passed test, and `PWD` is a folder.
    if ((name === 'PASS' && form !== 'environment') || /^(?:OLD)?PWD$/.test(name)) return null;
    // In code, a password is quoted; a bare value is an expression.
    return form === 'bare' && /[a-z](?:Pass|Pwd)$/.test(name) ? null : 'brief';
  }
  if (/(?:token|credentials?|secret_key_base)$/i.test(name)) return 'medium';
  if (/(?<!public[_-])key[_-]data$|(?<!public)KeyData$/i.test(name)) return 'weak';
  if (/(?:^|[\\/._-])_?auth$/i.test(name)) return 'weak';
  if (!/key$/i.test(name) || OPEN_KEY.test(name)) return null;
  if (SECRET_KEY.test(name)) return 'medium';
  if (/_KEY$/.test(name) && form === 'environment') return 'medium';
  return /(?:^|[^A-Za-z])key$|[a-z0-9]Key$/i.test(name) ? 'weak' : null;
}

/** Whether a value is empty, already masked, or a reference to a value elsewhere. */
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

/** Matches a word that describes a value, or that is too common to be a credential. */
const TYPE_WORDS =
  /^(?:string|text|str|number|boolean|bool|any|unknown|object|required|optional|password|passwort|passwd|passphrase|secret|token|key|empty|missing|invalid|wrong|hidden|type|name|value|test|pass|passed|fail|failed|yes|no|ok|on|off)$/i;

/** Whether a value consists of words and identifiers rather than random letters. */
function isWords(value: string): boolean {
  if (!/^[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*$/.test(value)) return false;
  return value.split(/[-_.:/ ]/).every((word) => {
    const capitals = word.replace(/[a-z]/g, '').length;
    const isRandom = word.length >= 16 && capitals * 4 > word.length && capitals < word.length;
    return !isRandom && word.length <= 40;
  });
}

/** Whether a value is an expression, a type or an identifier in a program. */
function isCode(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) ||
    /^(?:Big)?(?:U?[Ii]nt|Float|[uif])\d{1,3}(?:Clamped)?(?:Array)?$/.test(value)
  );
}

function isPath(value: string): boolean {
  return /^(?:~|\.{0,2})(?:\/[\w.@-]+)+\/?$/.test(value) && !looksRandom(value.replaceAll('/', ''));
}

/** Whether a value mixes digits, lower and upper case like a random key. A hash, a UUID or a date does not. */
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
