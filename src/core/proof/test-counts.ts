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

/** What programs put before each line of a task: `web:test: `, `packages/a test: `, `[unit] `. */
const PREFIX = /^(\[[^\]]+\]:?|(?:\S+ )??\S+?:) (.*)$/;
/** As many prefixes are known at a time. */
const MOST_PREFIXES = 200;
/** A longer line is no summary: what follows is not looked at. */
const LONGEST_LINE = 2000;
const COVERAGE_TOO_LOW = /coverage\b.*(?:does not meet|not reached|fail-under)/i;

/**
 * Matches what every line has that a runner reads, or that tells of another failure. Most lines of a long output have
 * none of it, and to put each of them through all patterns took 0.1 s for a megabyte.
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

/** What the output of a check says of its tests, and of what failed beside them. */
export interface OutputReport extends TestCounts {
  /** Whether the runner left out tests since one had failed. */
  readonly stoppedEarly: boolean;
  /** The lines that tell of a failure which is no test, without their digits; 51 stand for more. */
  readonly otherFailures: readonly string[];
}

/**
 * Reads the output of a check while it is printed, so that nothing of it need be kept. Each stream needs a reader of
 * its own, since two streams may meet in the middle of a line.
 */
export class OutputReader {
  private readonly passes: Passes;
  private rest = '';
  private readonly plain = new Voice('');
  private readonly prefixed = new Map<string, Voice>();
  private readonly others = new OtherFailures();
  private isCoverageTooLow = false;
  private stoppedEarly = false;
  private openTargets = 0;

  /** The streams of one check share their passes. */
  constructor(passes: Passes = new Passes()) {
    this.passes = passes;
  }

  /** Takes the next piece of the output, which may end within a line. */
  read(piece: string): void {
    const lines = (this.rest + piece).split('\n');
    this.rest = lastDrawn(lines.pop() ?? '');
    for (const line of lines) this.readLine(line);
  }

  /**
   * Returns what all streams of one check say. Nothing may be read after it. `tries` says how often the check's words
   * run one command until it passes, see `triesOf`.
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
    // A prefix with nothing behind it has lost its last space.
    if (found === null && !/[:\]]$/.test(line)) return;
    const prefix = found?.[1] ?? line;
    const voice = this.prefixed.get(prefix) ?? (text === null ? null : new Voice(prefix));
    if (voice === null) return;
    voice.read(text ?? '', pass, text === null || isTextTelling);
    this.keep(prefix, voice);
  }

  /** Reads what a line says of failures that are no tests. `text` is what stands behind its prefix. */
  private readFailures(line: string, text: string | null): void {
    this.isCoverageTooLow ||= COVERAGE_TOO_LOW.test(line);
    this.others.read(line, text);
    this.stoppedEarly ||= saysStopped(line) || saysStopped(text ?? '');
    this.openTargets = Math.max(0, this.openTargets + openTargets(line) + openTargets(text ?? ''));
  }

  /** Keeps a voice as the one that spoke last. Forgets the one silent for longest that counted nothing. */
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

/** Returns what a terminal shows of a line that was drawn several times, as far as it is looked at. */
function lastDrawn(line: string): string {
  const start = line.lastIndexOf('\r', line.length - 2) + 1;
  return line.slice(start, start + LONGEST_LINE);
}

/** One series of lines, as every runner reads it. */
class Voice {
  readonly prefix: string;
  /** Made for the first line that may tell something. */
  private tallies: readonly { readonly tally: TestTally; readonly runner: Runner }[] = [];
  /** The last lines that were not read: one at the left edge, and any one. */
  private skipped: readonly [string | null, string | null] = [null, null];
  /** Whether the next line is read whatever it says: it stands below one that tells something, or in a list. */
  private isNextRead = false;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /**
   * Takes a line. Runners see of lines that tell nothing only the first one, for what it may belong to, and the last one,
   * for what it stands above; between them, one such line does to a runner what many do.
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

  /**
   * Counts what voices of one prefix said in several streams, in the passes from `start` to before `end`: what each
   * runner said belongs together.
   */
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
