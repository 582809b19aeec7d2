import { UNSEEN } from './untrusted-text.ts';

/**
 * Matches what is escaped in JSON that people read. `JSON.stringify` itself escapes only the first 32 control
 * characters, but a terminal would also act on others.
 */

const RAW = new RegExp(`${UNSEEN}|[\\u2028\\u2029]`);
const EACH = new RegExp(RAW, 'g');

/** Formats plain data as JSON that is safe to show on a terminal. Parses back to the same value. */
export function safeJson(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent));
}

/** Escapes text that is already JSON, so that it is safe to show on a terminal. Parses to the same value. */
export function escapedJson(json: string): string {
  return RAW.test(json) ? json.replace(EACH, escaped) : json;
}

function escaped(character: string): string {
  let units = '';
  for (let index = 0; index < character.length; index += 1) {
    units += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return units;
}
