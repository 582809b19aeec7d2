import { endOfRun } from './inline-code.ts';
import { type Line, readLine } from './markdown-line.ts';

/*
 * Finds the ends of blocks that are not prose. Each function takes the index at which the second line of the
 * block begins, and returns the index of the line break after its last line, or the end of the text.
 */

/**
 * Returns the end of a code fence: a line that has only the fence's sign, at least as often as its first line. A fence
 * followed by a word opens a nested fence, even if it is not longer. Agents write such examples, although in Markdown
 * the end of the inner fence would end the outer one.
 */
export function endOfFence(text: string, start: number, fence: string): number {
  const open = [fence.length];
  const sign = fence.charAt(0);
  for (let at = start; at < text.length; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end).trim();
    const length = line.startsWith(sign) ? endOfRun(line, 0) : 0;
    if (length > 0 && length >= (open.at(-1) ?? 0)) {
      if (length === line.length) open.pop();
      else if (!line.includes(sign, length)) open.push(length);
    }
    if (open.length === 0) return end;
    at = end + 1;
  }
  return text.length;
}

/** Returns the end of a YAML block scalar, which is before the first line that is not indented further than the key. */
export function endOfBlockScalar(text: string, start: number, indent: number): number {
  let last = start - 1;
  for (let at = start; at < text.length; ) {
    const line = readLine(text, at);
    if (line.kind !== 'blank' && line.indent <= indent) break;
    if (line.kind !== 'blank') last = line.end;
    at = line.end + 1;
  }
  return last;
}

const CLOSING: Readonly<Record<string, string>> = {
  '{': '}',
  '[': ']',
  '(': ')',
  '\\begin{': '\\end{',
  '#+begin': '#+end',
  '/*': '*/',
};

/** Returns the end of a bracket: a line that closes it and is indented no further; for `/*`, the end of the comment. */
export function endOfBracket(text: string, start: number, { sign, indent }: Line): number {
  const closing = CLOSING[sign] ?? sign;
  for (let at = start; at < text.length; ) {
    const line = readLine(text, at);
    if (
      (line.indent <= indent || sign === '/*') &&
      text.slice(at, line.end).trimStart().toLowerCase().startsWith(closing)
    ) {
      return line.end;
    }
    at = line.end + 1;
  }
  return text.length;
}

const DIFF_WORD = /^(?:diff|index|new|deleted|old|similarity|rename|Binary) /;

/** Returns the end of a diff: before the first line that cannot be part of it, and before blank lines at its end. */
export function endOfDiff(text: string, start: number): number {
  let last = start - 1;
  for (let at = start; at < text.length; ) {
    const end = lineEnd(text, at);
    const first = text.charAt(at);
    if (end > at) {
      if (!' +-@\\'.includes(first) && !DIFF_WORD.test(text.slice(at, at + 12))) break;
      last = end;
    }
    at = end + 1;
  }
  return last;
}

/** Returns the end of a transcript, which is before a blank line. */
export function endOfTranscript(text: string, start: number): number {
  const blank = /\n[^\S\n]*(?:\n|$)/g;
  blank.lastIndex = start - 1;
  return blank.exec(text)?.index ?? text.length;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
