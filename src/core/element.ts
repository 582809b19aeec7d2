/** A tag as of HTML or XML, or one of those in which models print their thinking: `[THINK]`, `◁think▷`. */
export interface Tag {
  /** In small letters. */
  readonly name: string;
  readonly kind: 'open' | 'close' | 'void';
  /** The index behind its last character. */
  readonly end: number;
}

const VOID = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'wbr']);
const CLOSING_SIGNS = new Map([
  [0x3c, '>'],
  [0x5b, ']'],
  [0x25c1, '▷'],
]);

/** Whether the character may begin a tag: `<`, `[`, `◁`. */
export function mayBeginTag(code: number): boolean {
  return code === 0x3c || code === 0x5b || code === 0x25c1;
}

const NAME = /\/?([A-Za-z][\w:.-]*)(?=[\s/>\]▷])/y;

/** The tag that begins at such a character; null where none does, or where it does not end. */
export function readTag(text: string, at: number): Tag | null {
  const sign = CLOSING_SIGNS.get(text.charCodeAt(at)) ?? '>';
  if (!isTagLetter(text.charCodeAt(at + 1)) && text.charAt(at + 1) !== '/') return null;
  NAME.lastIndex = at + 1;
  const name = NAME.exec(text)?.[1]?.toLowerCase();
  if (name === undefined || (sign === ']' && !THINKING.has(name))) return null;
  let last = NAME.lastIndex;
  while (last < text.length && text.charAt(last) !== sign) {
    if (text.charAt(last) === '<' || sign !== '>') return null;
    last += 1;
  }
  if (last === text.length) return null;
  const isVoid = text.charAt(last - 1) === '/' || VOID.has(name);
  const kind = text.charAt(at + 1) === '/' ? 'close' : isVoid ? 'void' : 'open';
  return { name, kind, end: last + 1 };
}

function isTagLetter(code: number): boolean {
  return (code | 0x20) >= 97 && (code | 0x20) <= 122;
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

/** What an agent says to ralph in tags is no element: the promise, a request, its progress. */
export function isOwn({ name }: Tag): boolean {
  return name === 'promise' || name === 'approval' || name === 'progress';
}

/** For each opening tag, by its index, where its closing tag ends; 0 where it has none. */
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
