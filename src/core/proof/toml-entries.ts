/** One value of a TOML file. */
export interface TomlEntry {
  /** The path of the table, then the entry's own keys. In an array of tables, the table's number comes in between. */
  readonly keys: readonly string[];
  /** The value as it is written, without comments and white space outside strings. */
  readonly value: string;
}

/** Matches a string of any kind, a comment, a bracket, a line end, white space, or other text. */
const TOKEN =
  /"""[\s\S]*?(?:"{3,5}|$)|'''[\s\S]*?(?:'{3,5}|$)|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*|[[\]{}=]|\n|[^\S\n]+|[^"'#[\]{}=\s]+/g;
/** Matches a part of a dotted key. */
const KEY_PART = /"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s."']+)/g;

/** Lists the entries of a TOML file, in order. Finds where each value begins and ends, but does not parse it. */
export function tomlEntries(text: string): readonly TomlEntry[] {
  const entries: TomlEntry[] = [];
  const seen = new Map<string, number>();
  let table: readonly string[] = [];
  for (const { key, value } of statements(text)) {
    if (value !== null) entries.push({ keys: [...table, ...keysIn(key)], value });
    else if (key.startsWith('[[')) {
      const keys = keysIn(key.slice(2, -2));
      const at = seen.get(keys.join('\n')) ?? 0;
      seen.set(keys.join('\n'), at + 1);
      table = [...keys, String(at)];
    } else if (key.startsWith('[')) table = keysIn(key.slice(1, -1));
  }
  return entries;
}

/** Splits a text into its statements: `key = value`, or a table's header, whose value is null. */
function statements(text: string): readonly { key: string; value: string | null }[] {
  const found: { key: string; value: string | null }[] = [];
  let key = '';
  let value: string | null = null;
  let depth = 0;
  const close = (): void => {
    if (key !== '') found.push({ key, value });
    key = '';
    value = null;
    depth = 0;
  };
  for (const [token] of text.replaceAll('\r\n', '\n').matchAll(TOKEN)) {
    if (token === '\n' && (depth <= 0 || value === null)) close();
    else if (token.startsWith('#') || /^\s+$/.test(token)) continue;
    else if (value === null && token === '=') value = '';
    else if (value === null) key += token;
    else {
      if (/^[[{]$/.test(token)) depth += 1;
      if (/^[\]}]$/.test(token)) depth -= 1;
      value += token;
    }
  }
  close();
  return found;
}

function keysIn(path: string): readonly string[] {
  return [...path.matchAll(KEY_PART)].map(
    ([, basic, literal, bare]) => basic ?? literal ?? bare ?? '',
  );
}
