import { tailOf, withoutControls } from '../text/untrusted-text.ts';

/** How much of the outputs of failed commands a prompt shows, in UTF-16 code units. */
export const OUTPUT_ROOM = 4_000;
/** The share for the beginning of an output, which may name the file. Most outputs name the error at their end. */
const SHARE_OF_HEAD = 0.3;

/**
 * Shortens outputs to `room` UTF-16 code units in total, and removes colours. Room that a short output does not need
 * goes to the others. A long output loses its middle.
 */
export function excerpts(outputs: readonly string[], room: number): readonly string[] {
  const texts = outputs.map((output) => withoutControls(output).trimEnd());
  const byLength = [...texts.keys()].sort((a, b) => lengthAt(texts, a) - lengthAt(texts, b));
  const shown: string[] = [...texts];
  let left = room;
  byLength.forEach((at, done) => {
    const text = endsOf(texts[at] ?? '', Math.floor(left / (texts.length - done)));
    shown[at] = text;
    left -= text.length;
  });
  return shown;
}

function lengthAt(texts: readonly string[], at: number): number {
  return texts[at]?.length ?? 0;
}

/** Returns the beginning and the end of a text, with a line between them that says how much is left out. */
function endsOf(text: string, room: number): string {
  if (text.length <= room) return text;
  const mark = `\n[${text.length} characters; the middle is left out]\n`;
  const space = Math.max(0, room - mark.length);
  const head = headOf(text, Math.floor(space * SHARE_OF_HEAD));
  return `${head}${mark}${tailOf(text, space - head.length)}`;
}

/** Returns the beginning of a text without half a character at its end. */
function headOf(text: string, length: number): string {
  const head = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}
