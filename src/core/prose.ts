import { htmlCloser, readInline } from './inline-code.ts';
import { replaceSpans, type Span, STAND_INS } from './phrase.ts';

/** The parts of a Markdown message in which a phrase is shown or spoken about, but not stated. */
export type NonProse =
  | 'in-code'
  | 'in-a-comment'
  | 'in-a-quote'
  | 'in-a-heading'
  | 'in-a-table'
  | 'in-an-unticked-box';

const MASKED: readonly NonProse[] = [
  'in-code',
  'in-a-comment',
  'in-a-quote',
  'in-a-heading',
  'in-a-table',
  'in-an-unticked-box',
];

interface Region extends Span {
  readonly why: NonProse;
}

/**
 * The text with all that is not prose masked character by character; line breaks and length stay.
 * The masks are neither space nor punctuation, so that a message whose last thing is a code block
 * does not end with what precedes it.
 */
export function maskNonProse(text: string): string {
  return replaceSpans(text, findRegions(text), (part, { why }) => {
    const mask = String.fromCharCode(STAND_INS.firstMask + MASKED.indexOf(why));
    return part.includes('\n') ? part.replace(/[^\n]/g, mask) : mask.repeat(part.length);
  });
}

/** Why the character at this index of a masked text is not prose; null if it is. */
export function whyMasked(masked: string, index: number): NonProse | null {
  return MASKED[masked.charCodeAt(index) - STAND_INS.firstMask] ?? null;
}

/**
 * Block after block from the top. Only a paragraph can hold inline code, so that a stray backtick
 * in a heading cannot pair with one further down.
 */
function findRegions(text: string): Region[] {
  const regions: Region[] = [];
  const closeHtml = htmlCloser(text);
  /** The indentation of the unticked box that what is indented further belongs to. */
  let openBox: number | null = null;
  let at = 0;
  while (at < text.length) {
    const end = lineEnd(text, at);
    // Behind a comment or `</pre>` the rest of its line begins nothing.
    const isLineStart = at === 0 || text.charAt(at - 1) === '\n';
    const line = isLineStart ? readLine(text.slice(at, end)) : REST_OF_LINE;
    const mask = (why: NonProse, to: number): void => {
      regions.push({ from: at, to, why });
      at = to + 1;
    };
    if (line.kind !== 'blank' && openBox !== null && line.indent <= openBox) openBox = null;
    if (line.kind === 'fence') {
      mask('in-code', endOfFence(text, end + 1, line.fence));
    } else if (line.kind === 'blank') {
      at = end + 1;
    } else if (openBox !== null) {
      mask('in-an-unticked-box', end);
    } else if (line.kind === 'box') {
      openBox = line.indent;
      mask('in-an-unticked-box', end);
    } else if (line.kind === 'quote') {
      mask('in-a-quote', end);
    } else if (line.kind === 'heading') {
      mask('in-a-heading', end);
    } else if (line.kind === 'table') {
      mask('in-a-table', end);
    } else {
      const paragraph = readParagraph(text, at);
      const inline = readInline(text, at, paragraph.end, closeHtml);
      for (const region of [...paragraph.regions, ...inline.regions]) regions.push(region);
      at = inline.next;
    }
  }
  return regions;
}

type Line =
  | { readonly kind: 'fence'; readonly indent: number; readonly fence: string }
  | {
      readonly kind:
        | 'blank'
        | 'quote'
        | 'heading'
        | 'table'
        | 'box'
        | 'underline'
        | 'rule'
        | 'item'
        | 'text';
      readonly indent: number;
    };

const REST_OF_LINE: Line = { kind: 'text', indent: 0 };

/** Indentation and list markers: `- 1. ` */
const PREFIX = /^[^\S\n]*(?:(?:[-*+]|\d{1,9}[.)])[^\S\n]+)*/;

function readLine(line: string): Line {
  const prefix = PREFIX.exec(line)?.[0] ?? '';
  const rest = line.slice(prefix.length);
  const indent = (/^\s*/.exec(line)?.[0] ?? '').replaceAll('\t', '    ').length;
  const fence = /^(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(rest);
  if (fence !== null) return { kind: 'fence', indent, fence: fence[1] ?? fence[2] ?? '' };
  if (rest === '' && prefix.trim() === '') return { kind: 'blank', indent };
  if (rest.startsWith('>')) return { kind: 'quote', indent };
  if (rest.startsWith('|')) return { kind: 'table', indent };
  if (/^#{1,6}(?:\s|$)/.test(rest)) return { kind: 'heading', indent };
  if (/^\[[^\]xX]\](?:\s|$)/.test(rest)) return { kind: 'box', indent };
  if (prefix.trim() !== '') return { kind: 'item', indent };
  if (/^=+\s*$/.test(rest)) return { kind: 'underline', indent };
  if (/^(?:-+|\*{3,}|_{3,})\s*$/.test(rest)) return { kind: 'rule', indent };
  return { kind: 'text', indent };
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** The end of the closing fence's line: the same character, at least as often, nothing behind it. */
function endOfFence(text: string, start: number, fence: string): number {
  for (let at = start; at < text.length; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end).trim();
    if (line.startsWith(fence) && line === fence.charAt(0).repeat(line.length)) return end;
    at = end + 1;
  }
  return text.length;
}

/** Where the paragraph ends, and whether it is a heading underlined by `===` or a table. */
function readParagraph(text: string, start: number): { end: number; regions: Region[] } {
  const regions: Region[] = [];
  let lineBefore = start;
  let end = lineEnd(text, start);
  let table: number | null = null;
  while (end < text.length) {
    const next = end + 1;
    const nextEnd = lineEnd(text, next);
    const line = text.slice(next, nextEnd);
    const { kind } = readLine(line);
    if (kind === 'underline') regions.push({ from: start, to: nextEnd, why: 'in-a-heading' });
    if (kind !== 'text') break;
    // A table without outer bars shows itself by its second line: `--- | ---`.
    if (/^[\s|:-]+$/.test(line) && line.includes('|') && line.includes('-')) table ??= lineBefore;
    lineBefore = next;
    end = nextEnd;
  }
  if (table !== null) regions.push({ from: table, to: end, why: 'in-a-table' });
  return { end, regions };
}
