import { isOwn, isThinking, matchTags, readTag } from './element.ts';
import { endOfRun, inlineCode } from './inline-code.ts';
import { type Line, readLine } from './markdown-line.ts';
import type { NonProse, Region } from './non-prose.ts';
import { endOfFence, lineEnd } from './shown-block.ts';

type ParagraphReader = (at: number, first: Line) => number;

/**
 * Returns a function that calls `note` for each region of a paragraph that is not prose, and returns where to
 * continue reading. That can be beyond the paragraph, since an HTML comment or element can end later.
 */
export function paragraphReader(
  text: string,
  note: (from: number, to: number, why: NonProse) => void,
): ParagraphReader {
  let closings: ReadonlyMap<number, number> | null = null;
  let comments = true;
  const endOfComment = (at: number): number => {
    const close = comments ? text.indexOf('-->', at + 2) : -1;
    // If one comment is never closed, no later one is either, and searching for each of them would be quadratic.
    comments = close !== -1;
    return close === -1 ? text.length : close + 3;
  };

  return (start, first) => {
    const { end, regions } = measureParagraph(text, start, first);
    for (const { from, to, why } of regions) note(from, to, why);
    let codeAt: ((at: number) => number | null) | null = null;
    for (let at = start; at < end; ) {
      const sign = text.charCodeAt(at);
      let next = at + 1;
      if (sign === BACKTICK) {
        codeAt ??= inlineCode(text, start, end);
        const close = codeAt(at) ?? fenceBehindWords(text, at);
        if (close !== null) note(at, close, 'in-code');
        next = close ?? endOfRun(text, at);
      } else if (sign === ANGLE && text.startsWith('<!--', at)) {
        next = endOfComment(at);
        note(at, next, 'in-a-comment');
      } else {
        const element = readElement(text, at, () => (closings ??= matchTags(text)));
        next = element?.to ?? next;
        if (element !== null) note(element.isBehindThinking ? 0 : at, element.to, element.why);
      }
      if (next > end) return next;
      at = next;
    }
    return end + 1;
  };
}

const BACKTICK = 0x60;
const ANGLE = 0x3c;

/** Reads a code fence that opens at the end of a line, after text. Returns where the fence ends; null for no fence. */
function fenceBehindWords(text: string, at: number): number | null {
  const runEnd = endOfRun(text, at);
  if (runEnd - at < 3) return null;
  const end = lineEnd(text, runEnd);
  if (!/^[\w+#.-]*\s*$/.test(text.slice(runEnd, end))) return null;
  return endOfFence(text, end + 1, text.slice(at, runEnd));
}

interface Element {
  readonly to: number;
  readonly why: NonProse;
  /** Whether this is a closing tag of thinking without an opening tag. All text before it is thinking then. */
  readonly isBehindThinking: boolean;
}

/** Returns the HTML or XML element that begins at `at`; null for none, or for a tag that agents write for ralph. */
function readElement(
  text: string,
  at: number,
  closings: () => ReadonlyMap<number, number>,
): Element | null {
  const tag = readTag(text, at);
  if (tag === null || isOwn(tag) || tag.kind === 'void') return null;
  const why = isThinking(tag)
    ? 'in-thinking'
    : tag.name === 'pre' || tag.name === 'code'
      ? 'in-code'
      : 'in-an-element';
  if (tag.kind === 'close') {
    return why === 'in-thinking' ? { to: tag.end, why, isBehindThinking: true } : null;
  }
  const close = closings().get(at);
  if (close !== undefined) return { to: close, why, isBehindThinking: false };
  // The tag is never closed. If it fills its line or ends it, it opens a block up to the end of the text.
  // Otherwise, and always directly after a word as in `Vec<u8>`, the element reaches to the end of the line.
  const end = lineEnd(text, at);
  const behind = text.slice(tag.end, end).trim();
  const isAtStart = text.slice(text.lastIndexOf('\n', at) + 1, at).trim() === '';
  const isBlock =
    why === 'in-thinking' ||
    tag.name === 'pre' ||
    (behind === '' && !/\w/.test(text.charAt(at - 1))) ||
    (isAtStart && behind.endsWith('>'));
  return { to: isBlock ? text.length : end, why, isBehindThinking: false };
}

/** Finds where a paragraph ends, and whether it is a heading underlined by `===` or contains a table. */
function measureParagraph(
  text: string,
  start: number,
  first: Line,
): { readonly end: number; readonly regions: readonly Region[] } {
  const regions: Region[] = [];
  let { end } = first;
  if (first.kind === 'rule') return { end, regions };
  let lineBefore = start;
  let table: number | null = null;
  while (end < text.length) {
    const line = readLine(text, end + 1);
    if (line.kind === 'underline') {
      regions.push({ from: start, to: line.end, why: 'in-a-heading' });
      end = line.end;
      break;
    }
    const isRow = isDelimiterRow(text, end + 1, line.end);
    if (line.kind !== 'text' && !isRow) break;
    // A table without outer bars is recognised by its second line: `--- | ---`.
    if (isRow) table ??= lineBefore;
    lineBefore = end + 1;
    end = line.end;
  }
  if (table !== null) regions.push({ from: table, to: end, why: 'in-a-table' });
  return { end, regions };
}

function isDelimiterRow(text: string, at: number, end: number): boolean {
  const line = text.slice(at, Math.min(end, at + 3)).trimStart();
  if (!line.startsWith('-') && !line.startsWith(':')) return false;
  const row = text.slice(at, end);
  return row.includes('|') && row.includes('-') && /^[\s|:-]+$/.test(row);
}
