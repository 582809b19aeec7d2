import { UNSEEN } from '../text/untrusted-text.ts';

/** Matches characters that could end a line, change what a terminal shows, or be mistaken for the quotes. */
const ODD = new RegExp(`${UNSEEN}|[\\t\\n"\\\\\\u2028\\u2029]`);

/**
 * Returns a path for people, on one line. A path with odd characters, or one that is not UTF-8, is quoted as in git:
 * `"a\nb"`, `"\344.txt"`. `name` has one character for each byte of the path.
 */
export function shownPath(name: string): string {
  const bytes = Uint8Array.from(name, (character) => character.charCodeAt(0));
  const text = decoded(bytes);
  if (text === null) return `"${[...name].map(quotedByte).join('')}"`;
  return ODD.test(text) ? `"${[...text].map(quotedCharacter).join('')}"` : text;
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function quotedCharacter(character: string): string {
  if (!ODD.test(character)) return character;
  return Array.from(new TextEncoder().encode(character), (byte) =>
    quotedByte(String.fromCharCode(byte)),
  ).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\t': '\\t',
  '"': '\\"',
  '\\': '\\\\',
};

function quotedByte(character: string): string {
  const code = character.charCodeAt(0);
  const isPlain = code >= 0x20 && code < 0x7f;
  return ESCAPES[character] ?? (isPlain ? character : `\\${code.toString(8).padStart(3, '0')}`);
}
