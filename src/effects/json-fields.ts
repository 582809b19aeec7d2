/** An object out of somebody else's JSON: every field is unknown until it is looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Deeper nested JSON is not parsed: whatever walks through it by calling itself would run out of stack. */
export const MOST_LEVELS = 500;
/** JSON of more lists and objects is not parsed: each takes some ten times the memory of its brackets. */
export const MOST_CONTAINERS = 1_000_000;
/**
 * Shorter texts are parsed without being looked through, which would take a third of the parsing: with two
 * brackets for each level they cannot be nested more deeply.
 */
const HARMLESS_LENGTH = 2 * MOST_LEVELS;

/**
 * Parses a text as a JSON object; null if it is no JSON, no object, or beyond what `exceedsBounds` lets
 * through. Never throws.
 */
export function parseObject(text: string): JsonObject | null {
  if (exceedsBounds(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a text of JSON is nested too deeply or holds too many lists and objects to be parsed. */
export function exceedsBounds(json: string): boolean {
  if (json.length <= HARMLESS_LENGTH) return false;
  let levels = 0;
  let containers = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = closingQuote(json, at);
      // It breaks off inside a string, and is no JSON.
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

/** Where the string ends that begins at this quote; -1 if it does not end. */
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

/** The field as an object; null if it is missing or something else. */
export function objectAt(object: JsonObject, key: string): JsonObject | null {
  const value = object[key];
  return isObject(value) ? value : null;
}

/** The field as a string; null if it is missing or something else. */
export function stringAt(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === 'string' ? value : null;
}

/** The field as a number; null if it is missing or something else. */
export function numberAt(object: JsonObject, key: string): number | null {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The objects in a field that should be a list of them; anything else in it is left out. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings in a field that should be a list of them; anything else in it is left out. */
export function stringsAt(object: JsonObject, key: string): readonly string[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Whether a value is an object with fields, rather than null or a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
