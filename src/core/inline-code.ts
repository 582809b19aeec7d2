import type { Span } from './phrase.ts';

/** What inside a paragraph is code or comment, by backticks or by HTML. */
export interface InlineRegion extends Span {
  readonly why: 'in-code' | 'in-a-comment';
}

type HtmlKind = '<!--' | '<pre' | '<code';

/** Where a region of this kind ends; null if nowhere. */
export type HtmlCloser = (kind: HtmlKind, from: number) => number | null;

/** Groups: what stands before it if that is only the line's prefix; the opening. */
const INLINE =
  /(?:(^[^\S\n]*(?:(?:[-*+]|\d{1,9}[.)])[^\S\n]+)*)|)(`+|<!--|<pre(?=[\s>])|<code(?=[\s>]))/gim;

/** Inline code, comments and HTML code of a paragraph, and where to read on: maybe behind its end. */
export function readInline(
  text: string,
  start: number,
  end: number,
  closeHtml: HtmlCloser,
): { regions: readonly InlineRegion[]; next: number } {
  const paragraph = text.slice(start, end);
  const regions: InlineRegion[] = [];
  if (!/[`<]/.test(paragraph)) return { regions, next: end + 1 };
  const closeBackticks = backtickCloser(paragraph);
  let done = 0;
  for (const token of paragraph.matchAll(INLINE)) {
    const [, linePrefix, opening = ''] = token;
    const at = token.index + (linePrefix ?? '').length;
    if (at < done) continue;
    if (opening.startsWith('`')) {
      const close = closeBackticks(at, opening.length);
      if (close === null) continue;
      regions.push({ from: start + at, to: start + close, why: 'in-code' });
      done = close;
      continue;
    }
    const kind = htmlKind(opening);
    // An opening that is never closed is a word, but at the beginning of a line it opens a block.
    const close =
      closeHtml(kind, start + at + 2) ??
      (linePrefix !== undefined && kind !== '<code' ? text.length : null);
    if (close === null) continue;
    regions.push({
      from: start + at,
      to: close,
      why: kind === '<!--' ? 'in-a-comment' : 'in-code',
    });
    if (close > end) return { regions, next: close };
    done = close - start;
  }
  return { regions, next: end + 1 };
}

function htmlKind(opening: string): HtmlKind {
  if (opening === '<!--') return '<!--';
  return opening.toLowerCase() === '<pre' ? '<pre' : '<code';
}

/** Where an HTML region ends. It remembers what is not there: looking again would be quadratic. */
export function htmlCloser(text: string): HtmlCloser {
  const patterns = { '<!--': /-->/g, '<pre': /<\/pre\s*>/gi, '<code': /<\/code\s*>/gi };
  const missing = new Set<HtmlKind>();
  return (kind, from) => {
    if (missing.has(kind)) return null;
    const pattern = patterns[kind];
    pattern.lastIndex = from;
    const close = pattern.exec(text);
    if (close === null) missing.add(kind);
    return close === null ? null : close.index + close[0].length;
  };
}

/** Where inline code ends: behind the next run of exactly as many backticks. */
function backtickCloser(paragraph: string): (at: number, length: number) => number | null {
  const runs = new Map<number, number[]>();
  // From the end, so that the next run of a length is always the last of its list.
  for (const { index, 0: run } of [...paragraph.matchAll(/`+/g)].reverse()) {
    const same = runs.get(run.length);
    if (same === undefined) runs.set(run.length, [index]);
    else same.push(index);
  }
  return (at, length) => {
    // A backslash takes the first backtick away from an opening run, though not from a closing one.
    const slashes = /\\*$/.exec(paragraph.slice(Math.max(0, at - 20), at))?.[0].length ?? 0;
    const wanted = length - (slashes % 2);
    const same = runs.get(wanted) ?? [];
    while ((same.at(-1) ?? Number.POSITIVE_INFINITY) <= at) same.pop();
    const close = same.pop();
    return close === undefined ? null : close + wanted;
  };
}
