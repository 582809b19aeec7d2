import { endOfRun } from './inline-code.ts';

/** Matches the first line of a code fence, even after quote signs and list markers. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:(`{3,})[^`]*|(~{3,}).*)$/;
/** Matches a line that begins with an HTML comment, even after quote signs and list markers. */
export const COMMENT = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*<!--/;

/**
 * Yields the index of each line that is outside of code fences and HTML comments. Below a fence or comment that never
 * ends, all lines are yielded as doubtful.
 */
export function* shownLines(
  lines: readonly string[],
): Generator<{ readonly at: number; readonly isDoubtful: boolean }> {
  let isDoubtful = false;
  for (let at = 0; at < lines.length; at += 1) {
    const end = isDoubtful ? at : endOfHidden(lines, at);
    if (end === null) isDoubtful = true;
    else if (end > at || COMMENT.test(lines[at] ?? '')) {
      at = end;
      continue;
    }
    yield { at, isDoubtful };
  }
}

/** Returns the last line of the fence or comment that begins at line `at`; `at` if none does, null if it never ends. */
export function endOfHidden(lines: readonly string[], at: number): number | null {
  const line = lines[at] ?? '';
  const isComment = COMMENT.test(line);
  const [, backticks, tildes] = isComment ? [] : (FENCE.exec(line) ?? []);
  const fence = backticks ?? tildes;
  if (isComment && line.includes('-->')) return at;
  if (!isComment && fence === undefined) return at;
  for (let end = at + 1; end < lines.length; end += 1) {
    const candidate = lines[end] ?? '';
    if (fence === undefined ? candidate.includes('-->') : closes(candidate, fence)) return end;
  }
  return null;
}

/** Whether a line closes the fence: it has the fence's sign at least as often as the first line, and nothing else. */
function closes(line: string, fence: string): boolean {
  const sign = line.replace(/^[\s>]+/, '').trimEnd();
  return sign.startsWith(fence) && endOfRun(sign, 0) === sign.length;
}
