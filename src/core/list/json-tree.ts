import { type Node, parseTree, printParseErrorCode, visit } from 'jsonc-parser';

export interface JsonMember {
  readonly key: Node;
  readonly value: Node;
}

/** An error in a JSON text: `expected` says what should be at the index `at`. */
export class JsonMistake {
  readonly expected: string;
  readonly at: number;
  constructor(expected: string, at: number) {
    this.expected = expected;
    this.at = at;
  }
}

/** The deepest nesting that is read. Deeper nesting could exhaust the stack, and no list of tasks has it. */
const DEEPEST = 200;
const BYTE_ORDER_MARK = /^\uFEFF/;
/** Matches the byte order mark of each file whose lines were put into one. */
const BYTE_ORDER_MARKS = /(?<=^|\n)\uFEFF/g;
const MORE = /[^ \t\r\n]/;
const THE_END = 'the end';
/** What belongs where the parser finds an error of this name. */
const EXPECTED: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a value or a name in double quotes',
  PropertyNameExpected: 'a name in double quotes',
  ColonExpected: 'a colon',
  CommaExpected: 'a comma or a closing bracket',
  CloseBraceExpected: 'a comma or }',
  CloseBracketExpected: 'a comma or ]',
  EndOfFileExpected: THE_END,
  InvalidCommentToken: 'JSON without comments',
  UnexpectedEndOfString: 'a text with a closing quote on its line',
  UnexpectedEndOfNumber: 'a complete number',
  InvalidUnicode: 'a text with four digits after \\u',
  InvalidEscapeCharacter: 'a text with \\\\ for a backslash',
  InvalidCharacter: 'a text without control signs',
};

/** Reads a JSON text, with the place of each value, so that a value can be changed alone. Or returns the mistake. */
export function readJson(text: string): Node | JsonMistake {
  const bare = text.replace(BYTE_ORDER_MARK, ' ');
  return mistakeIn(bare) ?? treeOf(bare, 0);
}

/** Reads JSON texts that follow each other with or without space between them, as `readJson` reads one. */
export function readJsonSeries(text: string): readonly Node[] | JsonMistake {
  const nodes: Node[] = [];
  let rest = text.replace(BYTE_ORDER_MARKS, ' ');
  while (MORE.test(rest)) {
    const from = text.length - rest.length;
    const { expected, at } = mistakeIn(rest) ?? new JsonMistake(THE_END, rest.length);
    if (expected !== THE_END) return new JsonMistake(expected, from + at);
    nodes.push(treeOf(rest.slice(0, at), from));
    rest = rest.slice(at);
  }
  return nodes;
}

function mistakeIn(text: string): JsonMistake | null {
  let depth = 0;
  const enter = (at: number): void => {
    if (depth > DEEPEST) throw new JsonMistake(`at most ${DEEPEST} levels`, at);
    depth += 1;
  };
  const leave = (): void => {
    depth -= 1;
  };
  try {
    visit(
      text,
      {
        ...{ onObjectBegin: enter, onArrayBegin: enter, onObjectEnd: leave, onArrayEnd: leave },
        onError: (code, at) => {
          throw new JsonMistake(EXPECTED[printParseErrorCode(code)] ?? 'a value', at);
        },
      },
      { disallowComments: true },
    );
    return null;
  } catch (error) {
    if (error instanceof JsonMistake) return error;
    throw error;
  }
}

/** Returns the tree of a text without mistakes that begins at the index `from` of another one. */
function treeOf(text: string, from: number): Node {
  const tree = parseTree(text) as Node;
  if (from > 0) move(tree, from);
  return tree;
}

function move(node: { offset: number; readonly children?: Node[] }, by: number): void {
  node.offset += by;
  for (const child of node.children ?? []) move(child, by);
}

/** Returns the members of an object; none for any other value. */
export function membersOf(node: Node): readonly JsonMember[] {
  const properties = node.type === 'object' ? (node.children ?? []) : [];
  return properties.flatMap(({ children: [key, value] = [] }) =>
    key && value ? { key, value } : [],
  );
}

/** Returns the member of an object with this name. If there are several, the last one counts, as in `JSON.parse`. */
export function memberOf(object: Node, key: string): Node | undefined {
  const properties = object.type === 'object' ? object.children : undefined;
  return properties?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1];
}

/** Returns the indexes of the first character of a value and after its last one. */
export function rangeOf({ offset, length }: Node): {
  readonly from: number;
  readonly to: number;
} {
  return { from: offset, to: offset + length };
}

/** Returns the line and the column of a place, both counted from 1. */
export function lineAndColumn(
  text: string,
  at: number,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
