import { joinRules, MASK } from './mask.ts';
import { wordMasker } from './mask-words.ts';
import { withoutControls } from './material.ts';
import { maskPrivateKeys } from './private-keys.ts';
import { ASSIGNMENTS, isCredentialField } from './secret-assignments.ts';
import { COMMAND_RULES, FLAG_RULES } from './secret-commands.ts';
import { HEADER_RULES } from './secret-headers.ts';
import { PLACE_RULES } from './secret-places.ts';
import { INNER_RULES, SHAPE_RULES } from './secret-shapes.ts';

const maskShapes = wordMasker(SHAPE_RULES);
const maskPlaces = joinRules([...INNER_RULES, ...PLACE_RULES, ...COMMAND_RULES], '');
const maskNamed = joinRules([...HEADER_RULES, ...FLAG_RULES, ASSIGNMENTS], 'i');

/** Shorter texts hold no credential: `key=12345678`. */
const SHORTEST = 8;

/**
 * Takes out whatever looks like a credential, and leaves enough to tell which kind it was:
 * `sk-ant-api03-…[masked]`, `DB_PASSWORD=…[masked]`. Done twice it changes nothing more. A credential
 * is also known where colours or signs that nobody sees stand in it: a text from which one was taken
 * out is without any of these. A text that is to be cut is masked first: half a secret cannot always
 * be told.
 */
export function maskSecrets(text: string): string {
  if (text.length < SHORTEST) return text;
  const plain = withoutControls(text);
  const masked = maskNamed(maskPlaces(maskShapes(maskPrivateKeys(plain))));
  return masked === plain ? text : masked;
}

/** A line of a private key, or of another secret in base64: no hash, no name. */
const KEY_LINE = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{40,200}={0,2}$/;

/** The same for a single line out of a longer text, as an agent's words come: its neighbours are unknown. */
export function maskLine(line: string): string {
  return KEY_LINE.test(withoutControls(line).trim()) ? MASK : maskSecrets(line);
}

/** The same for several such lines. */
export function maskLines(text: string): string {
  return maskSecrets(text).split('\n').map(maskLine).join('\n');
}

/** The same for every string in plain JSON data; also a value whose field is called as one. */
export function maskDeep<T>(value: T): T {
  // Strings become strings, lists lists, and records keep their keys: the type stays what it was.
  return masked(value) as T;
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskSecrets(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const isNamed = typeof field === 'string' && isCredentialField(name, withoutControls(field));
    fields[name] = isNamed ? MASK : masked(field);
  }
  return fields;
}
