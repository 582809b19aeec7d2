import { withoutControls } from '../text/untrusted-text.ts';
import { dotnet, gradle, maven } from './build-runners.ts';
import { OtherFailures, openTargets, saysStopped } from './other-failures.ts';
import { cargo, go, pytest, unittest } from './other-runners.ts';
import { Passes } from './repeats.ts';
import { exunit, minitest, phpunit, rspec } from './ruby-php-elixir-runners.ts';
import { ava, bun, jest, mocha, nodeTest, vitest } from './script-runners.ts';
import { tap } from './tap-runners.ts';
import { type Runner, sumOfCounts, type TestCounts, TestTally } from './test-tally.ts';

/** The runners whose output is read. A new runner is one more row. */
const RUNNERS: readonly ((tally: TestTally) => Runner)[] = [
  ...[vitest, jest, mocha, nodeTest, ava, bun, tap, pytest, unittest, cargo, go],
  ...[maven, gradle, dotnet, rspec, minitest, phpunit, exunit],
];

/** Matches what task runners put before each line of a task's output: `web:test: `, `packages/a test: `, `[unit] `. */
const PREFIX = /^(\[[^\]]+\]:?|(?:\S+ )??\S+?:) (.*)$/;
const MOST_PREFIXES = 200;
/** Only this many characters of a line are read, since no summary is longer. */
const LONGEST_LINE = 2000;
const COVERAGE_TOO_LOW = /coverage\b.*(?:does not meet|not reached|fail-under)/i;

/**
 * Matches every line that a runner may need or that reports another failure. Most lines of a long output do not
 * match; testing each of them against all patterns took 0.1 s per megabyte.
 */
const SIGNS = new RegExp(
  [
    '^$',
    '^ *(?:#|---|\\.\\.\\.$|\\}$|\\d+(?:[ )]|\\.\\.)|(?:not )?ok\\b)',
    '^[=!?]|^[>$] |^\\[[a-z]+\\]|^ran ',
    '[●✘✔✗✖▶ℹ─]|\\*\\*\\*|\\.[cm]?[jt]sx?:$',
    'test|fail|pass|err|exception|panic|fatal|abort|kill|bail|cover|threshold|succe|uncaught',
    'total time|results :|not found|segmentation|stopped|duration|location: |type: |finished in',
    'start at|rspec|there w|files=|exit status|exit successfully|wstat|elifecycle|tap version',
  ].join('|'),
  'i',
);

function mayTell(line: string): boolean {
  return SIGNS.test(line);
}

/** What the output of a check says about its tests and about other failures. */
export interface OutputReport extends TestCounts {
  /** Whether the runner skipped the remaining tests because one failed. */
  readonly stoppedEarly: boolean;
  /** The lines, without digits, that report a failure other than a test. 51 lines mean that there were even more. */
  readonly otherFailures: readonly string[];
}

/** Reads the output of a check as it is printed. Each stream needs its own reader: a piece may end within a line. */
export class OutputReader {
  private readonly passes: Passes;
  private rest = '';
  private readonly plain = new Voice('');
  private readonly prefixed = new Map<string, Voice>();
  private readonly others = new OtherFailures();
  private isCoverageTooLow = false;
  private stoppedEarly = false;
  private openTargets = 0;

  /** `passes` divides the output into runs of the test suite, and is shared by all streams of one check. */
  constructor(passes: Passes = new Passes()) {
    this.passes = passes;
  }

  /** Reads the next piece of the output, which may end within a line. */
  read(piece: string): void {
    const lines = (this.rest + piece).split('\n');
    this.rest = lastDrawn(lines.pop() ?? '');
    for (const line of lines) this.readLine(line);
  }

  /**
   * Returns what all streams of one check say. Nothing may be read afterwards. `tries`: how often at most the check
   * runs its command until it passes, as in `npm test || npm test`.
   */
  static reportOf(streams: readonly OutputReader[], tries = 1): OutputReport {
    for (const stream of streams) stream.end();
    const voices = new Map<string, Voice[]>();
    for (const voice of streams.flatMap(({ plain, prefixed }) => [plain, ...prefixed.values()])) {
      voices.set(voice.prefix, [...(voices.get(voice.prefix) ?? []), voice]);
    }
    const countsOf = (start: number, end: number): TestCounts =>
      sumOfCounts([...voices.values()].map((same) => Voice.counts(same, start, end)));
    const passes = streams[0]?.passes ?? new Passes();
    const { ran, failures, failed } = passes.countsOfLastTry(tries, countsOf);
    return {
      ...{ ran, failures },
      failed: streams.some(({ isCoverageTooLow }) => isCoverageTooLow) ? null : failed,
      stoppedEarly: streams.some(
        ({ stoppedEarly, openTargets }) => stoppedEarly || openTargets > 0,
      ),
      otherFailures: streams.flatMap(({ others }) => others.lines),
    };
  }

  private end(): void {
    if (this.rest !== '') this.readLine(this.rest);
    this.rest = '';
    for (const voice of [this.plain, ...this.prefixed.values()]) voice.end();
  }

  private readLine(raw: string): void {
    const line = withoutControls(lastDrawn(raw)).replaceAll('\n', ' ').trimEnd();
    const pass = this.passes.take(line);
    const isTelling = mayTell(line);
    this.plain.read(line, pass, isTelling);
    const found = PREFIX.exec(line);
    const text = found?.[2] ?? null;
    const isTextTelling = text !== null && mayTell(text);
    if (isTelling || isTextTelling) this.readFailures(line, text);
    // A line of only a prefix has lost its last space by trimming, so it ends with the colon or bracket.
    if (found === null && !/[:\]]$/.test(line)) return;
    const prefix = found?.[1] ?? line;
    const voice = this.prefixed.get(prefix) ?? (text === null ? null : new Voice(prefix));
    if (voice === null) return;
    voice.read(text ?? '', pass, text === null || isTextTelling);
    this.keep(prefix, voice);
  }

  /** Reads what a line says about failures other than those of tests. `text` is the text after the line's prefix. */
  private readFailures(line: string, text: string | null): void {
    this.isCoverageTooLow ||= COVERAGE_TOO_LOW.test(line);
    this.others.read(line, text);
    this.stoppedEarly ||= saysStopped(line) || saysStopped(text ?? '');
    this.openTargets = Math.max(0, this.openTargets + openTargets(line) + openTargets(text ?? ''));
  }

  /** Marks a prefix as the latest. If there are too many prefixes, forgets the oldest one without any test results. */
  private keep(prefix: string, voice: Voice): void {
    this.prefixed.delete(prefix);
    this.prefixed.set(prefix, voice);
    if (this.prefixed.size <= MOST_PREFIXES) return;
    for (const [other, silent] of this.prefixed) {
      if (!silent.isSilent) continue;
      this.prefixed.delete(other);
      return;
    }
  }
}

/** Returns the last version of a line that was redrawn with carriage returns, up to `LONGEST_LINE`. */
function lastDrawn(line: string): string {
  const start = line.lastIndexOf('\r', line.length - 2) + 1;
  return line.slice(start, start + LONGEST_LINE);
}

/** The lines with one prefix in one stream, together with a reader for each known test runner. */
class Voice {
  readonly prefix: string;
  /** Created with the first line that may matter. */
  private tallies: readonly { readonly tally: TestTally; readonly runner: Runner }[] = [];
  /** The last two skipped lines that a runner may still need: one without indentation, and the very last. */
  private skipped: readonly [string | null, string | null] = [null, null];
  /** Whether the next line is read in any case, since it follows a line that matters or is part of a list. */
  private isNextRead = false;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /**
   * Reads a line. Of several lines that do not matter, runners see only two: the last one without indentation, to
   * which the next lines may belong, and the very last one, which stands above the next line.
   */
  read(line: string, pass: number, isTelling: boolean): void {
    if (!isTelling && !this.isNextRead) {
      this.skipped = [line.startsWith(' ') ? this.skipped[0] : line, line];
      return;
    }
    if (this.tallies.length === 0) {
      this.tallies = RUNNERS.map((runner) => {
        const tally = new TestTally();
        return { tally, runner: runner(tally) };
      });
    }
    for (const each of this.skipped) if (each !== null) this.tell(each, pass);
    this.skipped = [null, null];
    this.tell(line, pass);
    this.isNextRead = isTelling || this.tallies.some(({ runner }) => runner.isInList?.() === true);
  }

  private tell(line: string, pass: number): void {
    for (const { tally, runner } of this.tallies) {
      tally.pass = pass;
      runner.read(line);
    }
  }

  end(): void {
    for (const { runner } of this.tallies) runner.end?.();
  }

  get isSilent(): boolean {
    return this.tallies.every(({ tally }) => tally.isSilent);
  }

  /** Returns the counts of one prefix over several streams, in the passes from `start` to before `end`. */
  static counts(voices: readonly Voice[], start: number, end: number): TestCounts {
    const counts = sumOfCounts(
      RUNNERS.map((_, at) => {
        const tallies = voices.flatMap(({ tallies: all }) => all[at]?.tally ?? []);
        return TestTally.joined(tallies, start, end).counts();
      }),
    );
    const prefix = voices[0]?.prefix ?? '';
    if (prefix === '' || counts.failed === null) return counts;
    return { ...counts, failed: counts.failed.map((name) => `${prefix} ${name}`) };
  }
}
