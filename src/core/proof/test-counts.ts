import { withoutControls } from '../text/untrusted-text.ts';
import { cargo, go, pytest, unittest } from './other-runners.ts';
import { jest, mocha, nodeTest, vitest } from './script-runners.ts';
import { type Runner, sumOfCounts, type TestCounts, TestTally } from './test-tally.ts';

/** The runners whose output is read. A new runner is one more row. */
const RUNNERS: readonly ((tally: TestTally) => Runner)[] = [
  ...[vitest, jest, mocha, nodeTest, pytest, unittest, cargo, go],
];

/** What programs put before each line of a task: `web:test: `, `packages/a test: `, `[unit] `. */
const PREFIX = /^(\[[^\]]+\]:?|(?:\S+ )??\S+?:) (.*)$/;
/** As many prefixes are known at a time. */
const MOST_PREFIXES = 200;
/** A longer line is no summary: what follows is not looked at. */
const LONGEST_LINE = 2000;
const COVERAGE_TOO_LOW = /coverage\b.*(?:does not meet|not reached|fail-under)/i;

/**
 * Counts the tests in the output of a check while it is printed, so that nothing of it need be kept. Each
 * stream needs a counter of its own, since two streams may meet in the middle of a line.
 */
export class TestCounter {
  private rest = '';
  private readonly plain = new Voice('');
  private readonly prefixed = new Map<string, Voice>();
  private isCoverageTooLow = false;

  /** Takes the next piece of the output, which may end within a line. */
  read(piece: string): void {
    const lines = (this.rest + piece).split('\n');
    this.rest = lastDrawn(lines.pop() ?? '');
    for (const line of lines) this.readLine(line);
  }

  /** Returns what was counted. Nothing may be read after it. */
  counts(): TestCounts {
    if (this.rest !== '') this.readLine(this.rest);
    this.rest = '';
    const voices = [this.plain, ...this.prefixed.values()];
    for (const voice of voices) voice.end();
    const { ran, failed } = sumOfCounts(voices.map((voice) => voice.counts()));
    return { ran, failed: this.isCoverageTooLow ? null : failed };
  }

  private readLine(raw: string): void {
    const line = withoutControls(lastDrawn(raw)).replaceAll('\n', ' ').trimEnd();
    this.plain.read(line);
    this.isCoverageTooLow ||= COVERAGE_TOO_LOW.test(line);
    // A prefix with nothing behind it has lost its last space.
    const [, prefix = line, text = null] = PREFIX.exec(line) ?? [];
    const voice = this.prefixed.get(prefix) ?? (text === null ? null : new Voice(prefix));
    if (voice === null) return;
    voice.read(text ?? '');
    this.keep(prefix, voice);
  }

  /** Keeps a voice as the one that spoke last. Forgets the one silent for longest that counted nothing. */
  private keep(prefix: string, voice: Voice): void {
    this.prefixed.delete(prefix);
    this.prefixed.set(prefix, voice);
    if (this.prefixed.size <= MOST_PREFIXES) return;
    for (const [other, silent] of this.prefixed) {
      if (silent.counts().ran !== null) continue;
      this.prefixed.delete(other);
      return;
    }
  }
}

/** Returns what a terminal shows of a line that was drawn several times, as far as it is looked at. */
function lastDrawn(line: string): string {
  const start = line.lastIndexOf('\r', line.length - 2) + 1;
  return line.slice(start, start + LONGEST_LINE);
}

/** One series of lines, as every runner reads it. */
class Voice {
  private readonly prefix: string;
  private readonly tallies = RUNNERS.map((runner) => {
    const tally = new TestTally();
    return { tally, runner: runner(tally) };
  });

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  read(line: string): void {
    for (const { runner } of this.tallies) runner.read(line);
  }

  end(): void {
    for (const { runner } of this.tallies) runner.end?.();
  }

  counts(): TestCounts {
    const { ran, failed } = sumOfCounts(this.tallies.map(({ tally }) => tally.counts()));
    if (this.prefix === '' || failed === null) return { ran, failed };
    return { ran, failed: failed.map((name) => `${this.prefix} ${name}`) };
  }
}
