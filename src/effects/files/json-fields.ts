import { isObject } from '../../core/text/is-object.ts';
import { ifPossible } from './if-possible.ts';

/** A parsed JSON object from outside: the type of every field is unknown until checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** JSON nested more deeply is not parsed: recursive code that walks it would overflow the stack. */
export const MOST_LEVELS = 500;
/** JSON with more lists and objects is not parsed: in memory, each takes ten times the size of its text. */
const MOST_CONTAINERS = 1_000_000;
/** A shorter text cannot be nested too deeply, since each level takes two brackets, so it is parsed without a scan. */
const HARMLESS_LENGTH = 2 * MOST_LEVELS;

/** Parses a text as a JSON object; null if it is none, or too deep or large (`exceedsBounds`). Never throws. */
export function parseObject(text: string): JsonObject | null {
  if (exceedsBounds(text)) return null;
  const value: unknown = ifPossible(() => JSON.parse(text));
  return isObject(value) ? value : null;
}

/** Whether a JSON text is nested too deeply, or has too many lists and objects, to be parsed. */
export function exceedsBounds(json: string): boolean {
  if (json.length <= HARMLESS_LENGTH) return false;
  let levels = 0;
  let containers = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = closingQuote(json, at);
      // The text breaks off inside a string, so it is not JSON.
      if (at === -1) return false;
    } else if (code === LEFT_BRACE || code === LEFT_BRACKET) {
      levels += 1;
      containers += 1;
      if (levels > MOST_LEVELS || containers > MOST_CONTAINERS) return true;
    } else if (code === RIGHT_BRACE || code === RIGHT_BRACKET) levels -= 1;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LEFT_BRACKET = 0x5b;
const RIGHT_BRACKET = 0x5d;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;

/** Returns the index of the quote that closes the string begun at `open`; -1 if it has no end. */
function closingQuote(json: string, open: number): number {
  for (let quote = open; ; ) {
    quote = json.indexOf('"', quote + 1);
    if (quote === -1) return -1;
    let before = quote - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    // An odd number of backslashes escapes the quote; an even number escapes only themselves.
    if ((quote - before) % 2 === 1) return quote;
  }
}

/** Returns the field if it is an object, or null. */
export function objectAt(object: JsonObject, key: string): JsonObject | null {
  const value = object[key];
  return isObject(value) ? value : null;
}

/** Returns the field if it is a string, or null. */
export function stringAt(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === 'string' ? value : null;
}

/** Returns the field if it is a finite number, or null. */
export function numberAt(object: JsonObject, key: string): number | null {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Returns the field if it is a positive finite number, or 0. */
export function amountAt(object: JsonObject, key: string): number {
  return Math.max(0, numberAt(object, key) ?? 0);
}

/** Returns the objects in a list field; skips everything else. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the strings in a list field; skips everything else. */
export function stringsAt(object: JsonObject, key: string): readonly string[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
