/** An HTML or XML tag, or a tag in which models print their thinking: `[THINK]`, `◁think▷`. */
export interface Tag {
  /** In lower case. */
  readonly name: string;
  readonly kind: 'open' | 'close' | 'void';
  /** The index after the tag's last character. */
  readonly end: number;
}

const VOID = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'wbr']);
const NAME = String.raw`(/?)([a-z][\w.:-]*)`;
/** Patterns of tags, by the character with which the tags begin. */
const TAGS = new Map([
  ['<', new RegExp(String.raw`<${NAME}(?:[\s/][^<>]*)?>`, 'iy')],
  ['[', new RegExp(String.raw`\[${NAME}\]`, 'iy')],
  ['◁', new RegExp(`◁${NAME}▷`, 'iy')],
]);

/** Returns the tag that begins at index `at`, or null if there is none or it does not end. */
export function readTag(text: string, at: number): Tag | null {
  const pattern = TAGS.get(text.charAt(at));
  if (pattern === undefined) return null;
  pattern.lastIndex = at;
  const [tag, slash, given = ''] = pattern.exec(text) ?? [];
  const name = given.toLowerCase();
  if (tag === undefined || (tag.startsWith('[') && !THINKING.has(name))) return null;
  const isVoid = tag.endsWith('/>') || VOID.has(name);
  return { name, kind: slash ? 'close' : isVoid ? 'void' : 'open', end: at + tag.length };
}

/** The names of the tags in which models print their thinking. */
const THINKING = new Set(
  (
    'think thinking thought thoughts reasoning reflection scratchpad monologue ' +
    'inner_monologue inner-monologue internal_monologue inner_thoughts'
  ).split(' '),
);

export function isThinking({ name }: Tag): boolean {
  return THINKING.has(name.slice(name.lastIndexOf(':') + 1));
}

/** Whether the tag is one that agents write for ralph (a promise, an approval, progress), and not of HTML or XML. */
export function isOwn({ name }: Tag): boolean {
  return name === 'promise' || name === 'approval' || name === 'progress';
}

/** Returns where each closing tag ends, by the index at which its opening tag begins. */
export function matchTags(text: string): ReadonlyMap<number, number> {
  const closings = new Map<number, number>();
  const open = new Map<string, number[]>();
  for (let at = 0; at < text.length; at += 1) {
    const tag = readTag(text, at);
    if (tag === null || isOwn(tag) || tag.kind === 'void') continue;
    const same = open.get(tag.name) ?? [];
    open.set(tag.name, same);
    const opening = tag.kind === 'close' ? same.pop() : undefined;
    if (opening !== undefined) closings.set(opening, tag.end);
    if (tag.kind === 'open') same.push(at);
    at = tag.end - 1;
  }
  return closings;
}
