import { type Line, readLine } from './markdown-line.ts';
import { type NonProse, type Region, SHOWN } from './non-prose.ts';
import { paragraphReader } from './paragraph.ts';
import { REPLACEMENT_CHARACTERS, replaceSpans } from './phrase.ts';
import {
  endOfBlockScalar,
  endOfBracket,
  endOfDiff,
  endOfFence,
  endOfTranscript,
  lineEnd,
} from './shown-block.ts';

/**
 * Returns the part of the text from `from` to `to`, in which everything that is not prose is masked. Each character
 * except line breaks is replaced by one mask character, so the length stays the same. The text is read from its
 * beginning, since earlier blocks can reach into the part. A mask is neither space nor punctuation: a message
 * that ends with a code block must not seem to end with the text before the block. The last character of masked
 * thinking becomes a line break, since the real message begins after it.
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

/** What stands above a line, so that the line can continue it. After a `gap` there is nothing to continue. */
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
  const readParagraph = paragraphReader(text, note);
  let above: Above = 'gap';
  /** The indentation of the current unticked box. Lines with a larger indentation belong to the box. */
  let openBox: number | null = null;
  let at = 0;
  while (at < to) {
    // After an HTML comment or element, the rest of its line cannot begin a block.
    const isLineStart = at === 0 || text.charAt(at - 1) === '\n';
    const line = isLineStart ? readLine(text, at) : restOfLine(text, at);
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
