import { isOwn, isThinking, matchTags, mayBeginTag, readTag } from './element.ts';
import { endOfRun, inlineCode } from './inline-code.ts';
import { type Line, readLine } from './markdown-line.ts';
import { REPLACEMENT_CHARACTERS, replaceSpans, type Span } from './phrase.ts';
import {
  endOfBlockScalar,
  endOfBracket,
  endOfDiff,
  endOfFence,
  endOfTranscript,
  lineEnd,
} from './shown-block.ts';

/** The kinds of text in which a phrase is only shown or talked about, not stated. */
const SHOWN = [
  'in-code',
  'in-a-comment',
  'in-a-quote',
  'in-a-heading',
  'in-a-table',
  'in-an-unticked-box',
  /** Printed thinking of a model: `<think>`. */
  'in-thinking',
  /** Between the tags of any other element: `<example>`, `<details>`. */
  'in-an-element',
  /** JSON, YAML, a diff, unfenced code. */
  'in-data',
  'in-a-transcript',
] as const;
export type NonProse = (typeof SHOWN)[number];

interface Region extends Span {
  readonly why: NonProse;
}

/**
 * Returns the part of the text from `from` to `to`, with everything masked that is not prose. Each character
 * is replaced by one mask, but line breaks stay, so the length stays the same. The text is read from its
 * beginning, since earlier blocks can reach into the part. A mask is neither space nor punctuation: a message
 * that ends with a code block must not seem to end with the text before the block. The last character of masked
 * thinking becomes a line break, since the message begins after it.
 */
export function maskNonProse(text: string, from = 0, to = text.length): string {
  const part = text.slice(from, to);
  const regions = findRegions(text, from, to)
    .map(({ why, ...span }) => ({
      why,
      from: Math.max(0, span.from - from),
      to: Math.min(part.length, span.to - from),
    }))
    .filter((span) => span.from < span.to);
  return replaceSpans(part, regions, (shown, { why }) => {
    const mask = String.fromCharCode(REPLACEMENT_CHARACTERS.firstMask + SHOWN.indexOf(why));
    const masked = shown.includes('\n') ? shown.replace(/[^\n]/g, mask) : mask.repeat(shown.length);
    return why === 'in-thinking' && /[>\]▷]$/.test(shown) ? `${masked.slice(0, -1)}\n` : masked;
  });
}

/** Returns why the character at `index` of a masked text is not prose, or null if it is prose. */
export function whyMasked(masked: string, index: number): NonProse | null {
  return SHOWN[masked.charCodeAt(index) - REPLACEMENT_CHARACTERS.firstMask] ?? null;
}

/** What the next line can continue: a paragraph, a quotation or an unticked box. After a `gap`, nothing. */
type Above = 'gap' | 'paragraph' | 'in-a-quote' | 'in-an-unticked-box';

/**
 * Returns the regions between `from` and `to` that are not prose, read block after block from the top.
 * Only a paragraph can contain inline code, so a stray backtick in a heading cannot pair with a later one.
 */
function findRegions(text: string, from: number, to: number): readonly Region[] {
  const regions: Region[] = [];
  /** The end of the last closing tag of thinking that has no opening tag: all text before it is thinking. */
  let thoughtTo = 0;
  const note = (start: number, end: number, why: NonProse): void => {
    if (start === 0 && why === 'in-thinking') thoughtTo = end;
    else if (end > from && start < to) regions.push({ from: start, to: end, why });
  };
  const lineAt = lineReader(text);
  const readParagraph = paragraphReader(text, lineAt, note);
  let above: Above = 'gap';
  /** The indentation of the current unticked box; lines that are indented further belong to it. */
  let openBox: number | null = null;
  let at = 0;
  while (at < to) {
    // After a comment or an element, the rest of its line cannot begin a block.
    const isLineStart = at === 0 || text.charAt(at - 1) === '\n';
    const line = isLineStart ? lineAt(at) : restOfLine(text, at);
    if (line.kind === 'blank') {
      above = 'gap';
      at = line.end + 1;
      continue;
    }
    if (openBox !== null && line.indent <= openBox) openBox = null;
    const shown: Shown | null = openBox === null ? readShown(text, at, line, above) : inBox(line);
    if (shown === null) {
      at = readParagraph(at, line);
      above = 'paragraph';
      continue;
    }
    if (line.kind === 'box' && openBox === null) openBox = line.indent;
    note(at, shown.to, shown.why);
    above = shown.above;
    at = shown.to + 1;
  }
  if (thoughtTo > from) regions.unshift({ from: 0, to: thoughtTo, why: 'in-thinking' });
  return regions;
}

/** Caches the last line: the line after a paragraph is read twice, to end it and to begin the next block. */
function lineReader(text: string): (at: number) => Line {
  let last = -1;
  let line = restOfLine(text, 0);
  return (at) => {
    if (at !== last) line = readLine(text, at);
    last = at;
    return line;
  };
}

function restOfLine(text: string, at: number): Line {
  return { kind: 'text', indent: 0, end: lineEnd(text, at), sign: '' };
}

interface Shown {
  readonly to: number;
  readonly why: NonProse;
  readonly above: Above;
}

function inBox({ end }: Line): Shown {
  return { to: end, why: 'in-an-unticked-box', above: 'in-an-unticked-box' };
}

/** Returns the block that begins with this line, or null if it is prose. */
function readShown(text: string, at: number, line: Line, above: Above): Shown | null {
  const { end, kind } = line;
  const block = (to: number, why: NonProse): Shown => ({ to, why, above: 'gap' });
  if (kind === 'box') return inBox(line);
  if (kind === 'fence') return block(endOfFence(text, end + 1, line.sign), 'in-code');
  if (above === 'gap' && line.indent >= 4) return block(end, 'in-code');
  switch (kind) {
    case 'quote':
      return { to: end, why: 'in-a-quote', above: isLazy(text, at, end) ? 'in-a-quote' : 'gap' };
    case 'heading':
      return block(end, 'in-a-heading');
    case 'table':
      return block(end, 'in-a-table');
    case 'diff':
      return block(endOfDiff(text, end + 1), 'in-data');
    case 'transcript':
      return block(endOfTranscript(text, end + 1), 'in-a-transcript');
    case 'block-scalar':
      return block(endOfBlockScalar(text, end + 1, line.indent), 'in-data');
    case 'bracket':
      return block(endOfBracket(text, end + 1, line), 'in-data');
    case 'text':
    case 'underline':
      // Markdown's lazy continuation: a line directly below belongs to the quotation or the box.
      return above === 'in-a-quote' || above === 'in-an-unticked-box'
        ? { to: end, why: above, above }
        : null;
    default:
      return null;
  }
}

/** Whether the next line can continue this line of a quotation. It cannot continue a fence or a blank line. */
function isLazy(text: string, at: number, end: number): boolean {
  return !/^[\s>]*(?:```.*|~~~.*)?$/.test(text.slice(at, Math.min(end, at + 80)));
}

type ParagraphReader = (at: number, first: Line) => number;

/**
 * Returns a function that calls `note` for each region of a paragraph that is not prose, and returns where to
 * continue reading. That can be beyond the paragraph, since a comment or an element can end later.
 */
function paragraphReader(
  text: string,
  lineAt: (at: number) => Line,
  note: (from: number, to: number, why: NonProse) => void,
): ParagraphReader {
  let closings: Int32Array | null = null;
  const closingOf = (at: number): number => {
    closings ??= matchTags(text);
    return closings[at] ?? 0;
  };
  let comments = true;
  const endOfComment = (at: number): number => {
    const close = comments ? text.indexOf('-->', at + 2) : -1;
    // After a comment that never closes no other closes, and searching again each time would be quadratic.
    comments = close !== -1;
    return close === -1 ? text.length : close + 3;
  };

  return (start, first) => {
    const { end, regions } = measureParagraph(text, lineAt, start, first);
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
      } else if (mayBeginTag(sign)) {
        const element = readElement(text, at, closingOf);
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

/** Reads a fence that opens at the end of a line, after text. Returns its end, or null if there is none. */
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
  /** Whether this is only a closing tag of thinking, so that all text before it is thinking. */
  readonly isBehindThinking: boolean;
}

/** Returns the element that begins at a tag, or null if the tag begins none or is one of ralph's own. */
function readElement(text: string, at: number, closingOf: (at: number) => number): Element | null {
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
  const close = closingOf(at);
  if (close > 0) return { to: close, why, isBehindThinking: false };
  // The tag is never closed. If it fills its line or ends it, it opens a block up to the end of the text.
  // Otherwise, and always directly after a word as in `Vec<u8>`, it reaches to the end of the line.
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
  lineAt: (at: number) => Line,
  start: number,
  first: Line,
): { readonly end: number; readonly regions: readonly Region[] } {
  const regions: Region[] = [];
  let { end } = first;
  if (first.kind === 'rule') return { end, regions };
  let lineBefore = start;
  let table: number | null = null;
  while (end < text.length) {
    const line = lineAt(end + 1);
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
