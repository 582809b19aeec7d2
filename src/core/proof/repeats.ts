import type { TestCounts } from './test-tally.ts';

/*
 * A check may run its test suite again after a failure, by `npm test || npm test` or in a script, so each test runs
 * twice. A second run is recognized by its output, or, if it passes, by the words of the check.
 */

/** If the output has more passes (runs of the suite) or lines, nothing is recognized as a repetition. */
const MOST_PASSES = 100;
const MOST_LINES = 20_000;
const LONGEST_LINE = 200;

/** Divides the output of a check into passes. Each pass begins with the same line as the whole output. */
export class Passes {
  private readonly lines: Set<string>[] = [];
  private first: string | null = null;
  private kept = 0;

  /** Adds the next line of any stream, and returns the number of its pass. */
  take(line: string): number {
    const text = this.isKnown ? steady(line) : '';
    if (text !== '') {
      this.first ??= text;
      if (text === this.first) this.lines.push(new Set());
      this.kept += 1;
      this.lines.at(-1)?.add(text);
    }
    return Math.max(0, this.lines.length - 1);
  }

  /** Whether the whole output is kept. If not, no repetition is recognized, so the pass of a line does not matter. */
  private get isKnown(): boolean {
    return this.lines.length <= MOST_PASSES && this.kept <= MOST_LINES;
  }

  /**
   * Returns the counts of the last try, if the tries before it ran the same suite and failed; otherwise the counts of
   * the whole output. It is the same suite if as many tests ran, and either the output is a repetition or the check
   * runs one command up to `tries` times. `countsOf` returns the counts of the passes from `start` to before `end`.
   */
  countsOfLastTry(tries: number, countsOf: (start: number, end: number) => TestCounts): TestCounts {
    for (let parts = this.isKnown ? this.lines.length : 1; parts > 1; parts -= 1) {
      const size = this.lines.length / parts;
      const isTry = parts <= tries;
      if (!Number.isInteger(size) || !(isTry || this.isSaidAgain(size))) continue;
      const counts = Array.from({ length: parts }, (_, at) => countsOf(at * size, (at + 1) * size));
      const isAgain = counts.every((after, at) => {
        const before = counts[at - 1];
        if (before === undefined) return true;
        const isNext = (before.failures ?? 0) > 0 && after.ran === before.ran;
        return isNext && (isTry || isSameFailure(before, after));
      });
      const last = counts.at(-1);
      if (isAgain && last !== undefined) return last;
    }
    return countsOf(0, Infinity);
  }

  /** Whether each part of `size` passes has only lines that the part before it has, too. */
  private isSaidAgain(size: number): boolean {
    return this.lines.every((lines, at) =>
      [...lines].every((line) => at < size || this.lines[at - size]?.has(line) === true),
    );
  }
}

/** Returns a line without numbers and times, which differ from run to run; '' for a line with one dot per test. */
function steady(line: string): string {
  const text = line
    .slice(0, LONGEST_LINE)
    .replace(/0x[\da-f]+|\d+(?:[.,:]\d+)*(?: ?[mnµ]?s\b)?/gi, '')
    .replace(/\(\s*\)|\s+/g, ' ')
    .trim();
  return /\p{L}/u.test(text.replace(/^[A-Z.*?]+$/, '')) ? text : '';
}

function isSameFailure(before: TestCounts, after: TestCounts): boolean {
  const [then, now] = [before, after].map(({ failed }) => failed?.toSorted().join('\n'));
  return after.failures === before.failures && then === now;
}

/** Returns how often a check runs one command until it passes: 2 for `npm test || (sleep 1; npm test)`, mostly 1. */
export function triesOf(check: string): number {
  const [first = '', ...others] = check.split('||').map((part) => part.trim());
  if (/[;&|(){}]/.test(first)) return 1;
  const isAgain = others.every((other) => {
    const steps = other
      .replace(/^[({]|;?\s*[)}]$/g, '')
      .split(/;|&&/)
      .map((step) => step.trim());
    return steps.pop() === first && steps.every((step) => /^(?:sleep|echo)\b[^|&<>]*$/.test(step));
  });
  return isAgain ? others.length + 1 : 1;
}
