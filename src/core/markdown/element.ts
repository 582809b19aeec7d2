/** An HTML or XML tag, or a tag in which models print their thinking: `[THINK]`, `◁think▷`. */
export interface Tag {
  /** In lower case. */
  readonly name: string;
  readonly kind: 'open' | 'close' | 'void';
  /** The index after its last character. */
  readonly end: number;
}

const VOID = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'wbr']);
const CLOSING_SIGNS = new Map([
  [0x3c, '>'],
  [0x5b, ']'],
  [0x25c1, '▷'],
]);

/** Whether a tag can begin with the character: `<`, `[`, `◁`. */
export function mayBeginTag(code: number): boolean {
  return code === 0x3c || code === 0x5b || code === 0x25c1;
}

/** Returns the tag that begins at index `at`, or null if there is none or it does not end. */
export function readTag(text: string, at: number): Tag | null {
  const isClosing = text.charCodeAt(at + 1) === SLASH;
  const start = isClosing ? at + 2 : at + 1;
  if (!isLetter(text.charCodeAt(start))) return null;
  let last = start + 1;
  while (isOfName(text.charCodeAt(last))) last += 1;
  const sign = CLOSING_SIGNS.get(text.charCodeAt(at)) ?? '>';
  const behind = text.charAt(last);
  if (behind !== sign && (sign !== '>' || !/[\s/]/.test(behind))) return null;
  const name = text.slice(start, last).toLowerCase();
  if (sign === ']' && !THINKING.has(name)) return null;
  while (last < text.length && text.charAt(last) !== sign) {
    if (text.charAt(last) === '<') return null;
    last += 1;
  }
  if (last === text.length) return null;
  const isVoid = text.charCodeAt(last - 1) === SLASH || VOID.has(name);
  return { name, kind: isClosing ? 'close' : isVoid ? 'void' : 'open', end: last + 1 };
}

const SLASH = 0x2f;

function isLetter(code: number): boolean {
  return (code | 0x20) >= 97 && (code | 0x20) <= 122;
}

/** Whether the character can be part of a name: letters, digits, `-`, `.`, `:`, `_`. */
function isOfName(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 58) || code === 45 || code === 46 || code === 95;
}

/** The names under which models print their thinking. */
const THINKING = new Set(
  (
    'think thinking thought thoughts reasoning reflection scratchpad monologue ' +
    'inner_monologue inner-monologue internal_monologue inner_thoughts'
  ).split(' '),
);

export function isThinking({ name }: Tag): boolean {
  return THINKING.has(name.slice(name.lastIndexOf(':') + 1));
}

/** Whether the agent writes the tag for ralph (a promise, an approval, progress), so it is not an element. */
export function isOwn({ name }: Tag): boolean {
  return name === 'promise' || name === 'approval' || name === 'progress';
}

/** Returns an array that has, at the index of each opening tag, the end of its closing tag; 0 if it has none. */
export function matchTags(text: string): Int32Array {
  const closings = new Int32Array(text.length);
  const open = new Map<string, number[]>();
  for (let at = 0; at < text.length; at += 1) {
    if (!mayBeginTag(text.charCodeAt(at))) continue;
    const tag = readTag(text, at);
    if (tag === null || isOwn(tag) || tag.kind === 'void') continue;
    const same = open.get(tag.name);
    if (tag.kind === 'close') {
      const opening = same?.pop();
      if (opening !== undefined) closings[opening] = tag.end;
    } else if (same === undefined) open.set(tag.name, [at]);
    else same.push(at);
    at = tag.end - 1;
  }
  return closings;
}
