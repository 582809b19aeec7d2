import { parseAst } from 'vitest/node';

/** One change to a text that should make a test fail. */
export interface Mutation {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

/** What is used here of a node of the syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly operator?: string;
  readonly left?: Node;
  readonly right?: Node;
  readonly test?: Node;
  readonly argument?: Node | null;
  readonly body?: Node;
  readonly object?: Node;
  readonly callee?: Node;
  readonly optional?: boolean;
  readonly elements?: readonly (Node | null)[];
  readonly value?: unknown;
  readonly regex?: { readonly pattern: string };
  readonly tag?: Node;
  readonly quasi?: Node;
  readonly returnType?: { readonly typeAnnotation: Node } | null;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
};
/** Nodes of types whose values are still code. */
const TYPED_VALUES = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'];

/** Whether a text is TypeScript that can be parsed. */
export function parses(text: string): boolean {
  try {
    parseAst(text, { lang: 'ts' });
    return true;
  } catch {
    return false;
  }
}

/** The mutations of each place of a text: those of one place are alternatives to each other. */
export function placesOf(text: string): readonly (readonly Mutation[])[] {
  const places: Mutation[][] = [];
  walk(parseAst(text, { lang: 'ts' }), false);
  return places;

  function walk(value: unknown, answersBoolean: boolean): void {
    if (Array.isArray(value)) for (const each of value) walk(each, answersBoolean);
    if (!isNode(value)) return;
    if (value.type.startsWith('TS') && !TYPED_VALUES.includes(value.type)) return;
    const found = mutationsOf(value, text);
    if (found.length > 0) places.push(found);
    const { tag, quasi } = value;
    const isRaw = tag && text.slice(tag.start, tag.end) === 'String.raw';
    if (isRaw && quasi) places.push(...withoutAlternative(quasi, text));
    if (value.regex !== undefined) places.push(...withoutAlternative(value, text));
    const inside = 'returnType' in value ? isBoolean(value.returnType) : answersBoolean;
    const answer = value.type === 'ArrowFunctionExpression' ? value.body : value.argument;
    const isAnswer = value.type === 'ReturnStatement' || value.type === 'ArrowFunctionExpression';
    if (isAnswer && inside && answer && answer.type !== 'BlockStatement') {
      if (answer.type !== 'Literal') places.push([negated('answer negated', answer, text)]);
    }
    for (const child of Object.values(value)) walk(child, inside);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function isBoolean(returnType: Node['returnType']): boolean {
  const type = returnType?.typeAnnotation.type;
  return type === 'TSBooleanKeyword' || type === 'TSTypePredicate';
}

/** All but the alternatives of patterns. */
function mutationsOf(node: Node, text: string): Mutation[] {
  const { type, start, end, operator = '', left, right, test } = node;
  const isOperation = type === 'BinaryExpression' || type === 'LogicalExpression';
  const swapped = SWAPPED[operator];
  if (isOperation && left && right && swapped !== undefined) {
    // Texts are added as well: a number in it says that it is numbers.
    const isOfNumbers = [left, right].some(({ value }) => typeof value === 'number');
    if (operator === '+' && !isOfNumbers) return [];
    const at = text.indexOf(operator, left.end);
    const name = `${operator} to ${swapped}`;
    return [{ operator: name, start: at, end: at + operator.length, after: swapped }];
  }
  if (type === 'Literal' && typeof node.value === 'boolean') {
    return [{ operator: 'other boolean', start, end, after: String(!node.value) }];
  }
  if (type === 'Literal' && typeof node.value === 'number') {
    return [{ operator: 'number + 1', start, end, after: String(node.value + 1) }];
  }
  if (type === 'UnaryExpression' && operator === '!' && node.argument) {
    return [{ operator: '! removed', start, end: start + 1, after: '' }];
  }
  if ((type === 'IfStatement' || type === 'ConditionalExpression') && test) {
    const never = { operator: 'never', start: test.start, end: test.end, after: 'false' };
    return [negated('condition negated', test, text), never];
  }
  if (type === 'ExpressionStatement') {
    return [{ operator: 'statement removed', start, end, after: ';' }];
  }
  const before = node.object ?? node.callee;
  if (node.optional === true && before !== undefined) {
    const at = text.indexOf('?.', before.end);
    const after = '[('.includes(text.charAt(at + 2)) ? '' : '.';
    return [{ operator: '?. to .', start: at, end: at + 2, after }];
  }
  return type === 'ArrayExpression' ? withoutElement(node) : [];
}

function negated(operator: string, { start, end }: Node, text: string): Mutation {
  return { operator, start, end, after: `!(${text.slice(start, end)})` };
}

/** Two in an array are mostly a pair, which no code takes for a list. */
function withoutElement({ elements = [] }: Node): Mutation[] {
  const all = elements.filter((element) => element !== null);
  if (all.length < 3 || all.length < elements.length) return [];
  return all.map((element, index) => {
    const next = all[index + 1];
    const start = next === undefined ? (all[index - 1]?.end ?? element.start) : element.start;
    return { operator: 'element removed', start, end: next?.start ?? element.end, after: '' };
  });
}

/** Leaves one of the alternatives out of each group of a pattern that has some. */
function withoutAlternative(node: Node, text: string): Mutation[][] {
  const first = node.start + 1;
  const pattern = node.regex?.pattern ?? text.slice(first, node.end - 1);
  const open: { start: number; bars: number[] }[] = [{ start: 0, bars: [] }];
  const places: Mutation[][] = [];
  const close = (end: number): void => {
    const { start = 0, bars = [] } = open.pop() ?? {};
    if (bars.length === 0) return;
    const cuts = [start - 1, ...bars, end].map((cut) => cut + first);
    const alternatives = cuts.slice(0, -1).map((cut, index) => ({
      operator: 'alternative removed',
      // The first goes with the bar behind it, the others with the bar before them.
      start: index === 0 ? cut + 1 : cut,
      end: (cuts[index + 1] ?? 0) + (index === 0 ? 1 : 0),
      after: '',
    }));
    places.push(alternatives);
  };
  const tokens = /\\.|\$\{[^}]*\}|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<\w+>|:))?|[)|]/gs;
  for (const { 0: token, index } of pattern.matchAll(tokens)) {
    if (token.startsWith('(')) open.push({ start: index + token.length, bars: [] });
    if (token === '|') open.at(-1)?.bars.push(index);
    if (token === ')') close(index);
  }
  close(pattern.length);
  return places;
}
