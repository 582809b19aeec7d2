import { endOfRun } from './inline-code.ts';
import { type Line, readLine } from './markdown-line.ts';

/*
 * Where a block ends in which things are shown. Each takes the index at which the line below its first
 * one begins, and returns the index of the line break behind its last one, or the end of the text.
 */

/**
 * The end of a fence: a line of the same sign, at least as often, and nothing behind it. A fence with
 * a word behind it opens another one inside, of the same length too: a Markdown example that itself
 * has a shell block is written that way, although Markdown would end the outer one with the inner.
 */
export function endOfFence(text: string, start: number, fence: string): number {
  const open = [fence.length];
  for (let at = start; at < text.length; ) {
    const end = lineEnd(text, at);
    let first = at;
    while (first < end && /\s/.test(text.charAt(first))) first += 1;
    if (text.charAt(first) === fence.charAt(0)) {
      const runEnd = endOfRun(text, first);
      const length = runEnd - first;
      const behind = text.slice(runEnd, end).trim();
      if (length >= (open.at(-1) ?? 0)) {
        if (behind === '') open.pop();
        else if (!behind.includes(fence.charAt(0))) open.push(length);
      }
      if (open.length === 0) return end;
    }
    at = end + 1;
  }
  return text.length;
}

/** What is indented further than the key, blank lines too. */
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

/** To the line that begins with the closing bracket and is indented no further, but for a comment. */
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

/** To the first line that is none of a diff; a blank one is, where such a line follows. */
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

/** A transcript ends at a blank line. */
export function endOfTranscript(text: string, start: number): number {
  const blank = /\n[^\S\n]*(?:\n|$)/g;
  blank.lastIndex = start - 1;
  return blank.exec(text)?.index ?? text.length;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
