/**
 * Finds inline code between `start` and `end`. The returned function takes the index of a run of backticks and returns
 * the end of the code that begins there, or null if it is not closed. Its calls must go from left to right.
 */
export function inlineCode(
  text: string,
  start: number,
  end: number,
): (at: number) => number | null {
  const byLength = new Map<number, { readonly at: number[]; passed: number }>();
  for (const { 0: run, index } of text.slice(start, end).matchAll(/`+/g)) {
    const same = byLength.get(run.length) ?? { at: [], passed: 0 };
    same.at.push(start + index);
    byLength.set(run.length, same);
  }
  return (at) => {
    // A backslash escapes the first backtick of an opening run, but not of a closing run.
    const wanted = endOfRun(text, at) - at - (isEscaped(text, start, at) ? 1 : 0);
    const same = byLength.get(wanted);
    if (same === undefined) return null;
    while ((same.at[same.passed] ?? Number.POSITIVE_INFINITY) <= at) same.passed += 1;
    const close = same.at[same.passed];
    return close === undefined ? null : close + wanted;
  };
}

/** Returns the index after the run of equal characters that begins at `at`. */
export function endOfRun(text: string, at: number): number {
  const sign = text.charCodeAt(at);
  let end = at + 1;
  while (text.charCodeAt(end) === sign) end += 1;
  return end;
}

function isEscaped(text: string, start: number, at: number): boolean {
  let slashes = 0;
  while (at - slashes > start && text.charCodeAt(at - slashes - 1) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}

const BACKSLASH = 0x5c;
