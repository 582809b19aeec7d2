/** A value of a JSON text, with its place in the text. */
export type JsonNode = PlacedObject | JsonArray | JsonLeaf;

interface Placed {
  /** The index of the first character. */
  readonly from: number;
  /** The index after the last character. */
  readonly to: number;
}

export interface PlacedObject extends Placed {
  readonly kind: 'object';
  readonly members: readonly JsonMember[];
}

interface JsonArray extends Placed {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}

export interface JsonLeaf extends Placed {
  readonly kind: 'leaf';
  readonly value: string | number | boolean | null;
}

export interface JsonMember {
  readonly key: string;
  /** The key begins at `from` and ends at `keyEnd`. */
  readonly from: number;
  readonly keyEnd: number;
  readonly value: JsonNode;
}

/** An error in a JSON text: `expected` says what should be at the index `at`. */
export interface JsonMistake {
  readonly expected: string;
  readonly at: number;
}

/** The deepest nesting that is read. Deeper nesting could exhaust the stack, and no list of tasks has it. */
const DEEPEST = 200;
const SPACE = /[ \t\r\n]*/y;
const STRING = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/** Reads a JSON text, with the place of each value, so that a value can be changed alone. Or returns the mistake. */
export function readJson(text: string): JsonNode | JsonMistake {
  return unlessMistaken(() => {
    const reader = jsonReader(text);
    const whole = reader.next();
    return reader.isAtEnd() ? whole : reader.fail('the end');
  });
}

/** Reads JSON texts that follow each other with or without space between them, as `readJson` reads one. */
export function readJsonSeries(text: string): readonly JsonNode[] | JsonMistake {
  return unlessMistaken(() => {
    const reader = jsonReader(text);
    const nodes: JsonNode[] = [];
    while (!reader.isAtEnd()) nodes.push(reader.next());
    return nodes;
  });
}

function unlessMistaken<T>(read: () => T): T | JsonMistake {
  try {
    return read();
  } catch (error) {
    if (error instanceof Mistake) return error;
    throw error;
  }
}

class Mistake implements JsonMistake {
  readonly expected: string;
  readonly at: number;
  constructor(expected: string, at: number) {
    this.expected = expected;
    this.at = at;
  }
}

function jsonReader(text: string) {
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    if (found === undefined) return null;
    at += found.length;
    return found;
  };
  const skip = (): void => {
    match(SPACE);
  };
  const fail = (expected: string): never => {
    throw new Mistake(expected, at);
  };
  const take = (sign: string): boolean => {
    skip();
    if (text.charAt(at) !== sign) return false;
    at += 1;
    return true;
  };
  const parsed = (raw: string, from: number): JsonLeaf['value'] => {
    try {
      return JSON.parse(raw);
    } catch {
      throw new Mistake('a text without control signs', from);
    }
  };
  const value = (depth: number): JsonNode => {
    skip();
    if (depth > DEEPEST) return fail(`at most ${DEEPEST} levels`);
    const from = at;
    if (take('{')) return object(from, depth);
    if (take('[')) return array(from, depth);
    const raw = match(STRING) ?? match(NUMBER) ?? match(WORD);
    if (raw === null) return fail('a value');
    return { kind: 'leaf', value: parsed(raw, from), from, to: at };
  };
  const object = (from: number, depth: number): JsonNode => {
    const members: JsonMember[] = [];
    while (members.length > 0 || !take('}')) {
      skip();
      const keyFrom = at;
      const key = parsed(match(STRING) ?? fail('a name in quotes'), keyFrom);
      const keyEnd = at;
      if (!take(':')) fail('a colon');
      members.push({ key: String(key), from: keyFrom, keyEnd, value: value(depth + 1) });
      if (take('}')) break;
      if (!take(',')) fail('a comma or }');
    }
    return { kind: 'object', members, from, to: at };
  };
  const array = (from: number, depth: number): JsonNode => {
    const items: JsonNode[] = [];
    while (items.length > 0 || !take(']')) {
      items.push(value(depth + 1));
      if (take(']')) break;
      if (!take(',')) fail('a comma or ]');
    }
    return { kind: 'array', items, from, to: at };
  };
  return {
    next: () => value(0),
    isAtEnd(): boolean {
      skip();
      return at === text.length;
    },
    fail,
  };
}

/** Whether the result of reading a JSON text is a mistake. */
export function isMistake(read: JsonNode | readonly JsonNode[] | JsonMistake): read is JsonMistake {
  return 'expected' in read;
}

/** Returns the member of an object with this name. If there are several, the last one counts, as in `JSON.parse`. */
export function memberOf(object: PlacedObject, key: string): JsonMember | undefined {
  return object.members.findLast((member) => member.key === key);
}

/** Returns the plain value of a node. */
export function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'leaf':
      return node.value;
    case 'array':
      return node.items.map(plainValue);
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]));
  }
}

/** Returns the line and the column of a place, both counted from 1. */
export function lineAndColumn(
  text: string,
  at: number,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
