/** An object out of somebody else's JSON: every field is unknown until it is looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses a text as a JSON object; null if it is no JSON or no object. Never throws. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
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
