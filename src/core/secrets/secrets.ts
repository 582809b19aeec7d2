import { oneLine, withFields, withoutControls } from '../text/untrusted-text.ts';
import { joinRules, MASK } from './mask.ts';
import { wordMasker } from './mask-words.ts';
import { maskPrivateKeys } from './private-keys.ts';
import { ASSIGNMENTS, isCredentialField } from './secret-assignments.ts';
import { COMMAND_RULES, FLAG_RULES } from './secret-commands.ts';
import { HEADER_RULES } from './secret-headers.ts';
import { PLACE_RULES } from './secret-places.ts';
import { INNER_RULES, SHAPE_RULES } from './secret-shapes.ts';

const maskShapes = wordMasker(SHAPE_RULES);
const maskPlaces = joinRules([...INNER_RULES, ...PLACE_RULES, ...COMMAND_RULES], '');
const maskNamed = joinRules([...HEADER_RULES, ...FLAG_RULES, ASSIGNMENTS], 'i');

/** The length of the shortest text that can contain a credential, in code units. */
const SHORTEST = 8;

/**
 * Masks everything that looks like a credential, but keeps enough to tell which kind it was:
 * `sk-ant-api03-…[masked]`, `DB_PASSWORD=…[masked]`. A second call changes nothing. Credentials with colour codes or
 * invisible characters inside are recognised, too; if anything is masked, all such characters are removed from the
 * text. A text must be masked before it is cut, since half a secret may not be recognised.
 */
export function maskSecrets(text: string): string {
  if (text.length < SHORTEST) return text;
  const plain = withoutControls(text);
  const masked = maskNamed(maskPlaces(maskShapes(maskPrivateKeys(plain))));
  return masked === plain ? text : masked;
}

/** Matches a line of a private key or another base64 secret, but not a hash or a name. */
const KEY_LINE = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{40,200}={0,2}$/;

/** Masks the credentials in one line of a longer text. A line that may belong to a private key is masked as a whole. */
export function maskLine(line: string): string {
  return KEY_LINE.test(withoutControls(line).trim()) ? MASK : maskSecrets(line);
}

/** Masks the credentials in several lines of a longer text, in each line as `maskLine` does. */
export function maskLines(text: string): string {
  return maskSecrets(text).split('\n').map(maskLine).join('\n');
}

/** Masks the credentials in all strings of plain JSON data. The name of a field can mark its value as a credential. */
export function maskDeep<T>(value: T): T {
  // The cast is safe: strings remain strings, lists remain lists, and records keep their keys.
  return masked(value) as T;
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  return withFields(value, (field, name) => {
    const isNamed = typeof field === 'string' && isCredentialField(name, withoutControls(field));
    return isNamed ? MASK : masked(field);
  });
}

/** How much of a text a preview reads: far more than it shows, so that no credential is cut before it is masked. */
const LOOKED_AT = 8_000;

/** Returns the beginning of a text on one line, at most `length` code units, with credentials masked. */
export function preview(text: string, length: number): string {
  return oneLine(maskSecrets(withoutControls(text.slice(0, LOOKED_AT))), length);
}
