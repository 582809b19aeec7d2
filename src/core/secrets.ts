import { isCredentialField, maskAssignments } from './secret-assignments.ts';
import { MASK, maskPrivateKeys, maskShapes } from './secret-shapes.ts';

/**
 * Takes out whatever looks like a credential, and leaves enough to tell which kind it was:
 * `sk-ant-api03-…[masked]`, `DB_PASSWORD=…[masked]`. Done twice it changes nothing more. A text that
 * is to be cut is masked first: half a secret cannot always be told.
 */
export function maskSecrets(text: string): string {
  if (text.length < SHORTEST || !SIGN.test(text)) return text;
  return maskAssignments(maskHeaders(maskShapes(maskPrivateKeys(text))));
}

/** Shorter texts hold no credential: `key=12345678`. */
const SHORTEST = 8;

/**
 * Something of this is in every text that any of the patterns could change. Nearly every text has
 * none of it, and to ask for all at once costs a tenth of asking one after the other.
 */
const SIGN =
  /sk-|gh[pousr]_|github_pat_|gl(?:pat|[drf]t|rt|cbt|ptt|soat|agent)-|xox|xapp-|hooks\.slack|AIza|ya29|GOCSPX|k_(?:live|test)_|whsec_|npm_|pypi-|hf_|gsk_|r8_|dckr_|dop_|hvs\.|lin_api|SG\.|eyJ|AKIA|ASIA|:\/\/|-----|bearer|key|token|secret|passw|passphrase|_pwd|_pass|credential|auth/i;

/** A line of a private key, or of another secret in base64: no hash, no name. */
const KEY_LINE = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{40,200}={0,2}$/;

/** The same for a single line out of a longer text, as an agent's words come: its neighbours are unknown. */
export function maskLine(line: string): string {
  return KEY_LINE.test(line.trim()) ? MASK : maskSecrets(line);
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
    const isNamed = typeof field === 'string' && isCredentialField(name, field);
    fields[name] = isNamed ? MASK : masked(field);
  }
  return fields;
}

/** `Authorization: Bearer …`, and a bearer token that stands alone. */
const AUTHORIZATION =
  /(authorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?(?:(?:bearer|basic|token|apikey|digest)[ \t]{1,4})?)([^\s"'`\\,;<>]+)/gi;
const BEARER = /(\bbearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{12,})/gi;

function maskHeaders(text: string): string {
  return text
    .replace(AUTHORIZATION, (whole, before: string, value: string) => {
      const hasScheme = /[a-z][ \t]{1,4}$/i.test(before);
      return isOpaque(value, hasScheme ? 6 : 16) ? `${before}${MASK}` : whole;
    })
    .replace(BEARER, (whole, before: string, value: string) =>
      isOpaque(value, 12) ? `${before}${MASK}` : whole,
    );
}

/** No plain word, no name with parts, and nothing that stands for a value elsewhere. */
function isOpaque(value: string, least: number): boolean {
  if (value.length < least || /^[$%{<[]|\[masked\]|\$\{/.test(value)) return false;
  const isNames = /^[A-Za-z_]?[a-z_]*(?:[-.][A-Za-z_]?[a-z_]*)*$|^[A-Z_]+$/.test(value);
  return !isNames;
}
