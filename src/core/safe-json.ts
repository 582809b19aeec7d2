import { UNSEEN } from './material.ts';

/**
 * JSON for files and streams that a person may look at. `JSON.stringify` escapes the first 32 control
 * characters, and leaves all others raw: a terminal that shows such a text would act on them.
 */

const RAW = new RegExp(`${UNSEEN}|[\\u2028\\u2029]`);
const EACH = new RegExp(RAW, 'g');

/** Plain data as JSON that holds nothing which acts on a terminal. It parses back to the same value. */
export function safeJson(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent));
}

/** The same for a JSON text. */
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
