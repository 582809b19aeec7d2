/** What test runners said in the output of a check. */
export interface TestCounts {
  /** The number of tests that passed or failed; skipped ones did not run. Null if no known runner said it. */
  readonly ran: number | null;
  /** How many tests, files and hooks failed. Null if no known runner spoke. */
  readonly failures: number | null;
  /**
   * The names of all failed tests. Null if the number is unknown, or if something failed that has no name of
   * its own: a file that does not load, a hook, the coverage, two tests of one name.
   */
  readonly failed: readonly string[] | null;
}

/** No known test runner spoke. */
const NO_COUNTS: TestCounts = { ran: null, failures: null, failed: null };

/** More names than these are not kept: the tests that failed count as unknown. */
export const MOST_NAMES = 1000;
const LONGEST_NAME = 500;

/** What one runner said in one pass through a check. */
interface Said {
  ran: number | null;
  failures: number;
  /** Failures that no summary counts. */
  others: number;
  hasUnnamed: boolean;
  readonly names: Set<string>;
}

/** Collects what one runner says, line by line. */
export class TestTally {
  /** The pass that the lines belong to, see `Passes`. */
  pass = 0;
  private readonly passes = new Map<number, Said>();

  /**
   * Collects what one runner said in several streams, in the passes from `start` to before `end`: through a pipe, vitest
   * says the numbers in one and the names in the other.
   */
  static joined(tallies: readonly TestTally[], start: number, end: number): TestTally {
    const joined = new TestTally();
    for (const [pass, said] of tallies.flatMap(({ passes }) => [...passes])) {
      if (pass >= start && pass < end) joined.take(said);
    }
    return joined;
  }

  /** Adds the tests of one summary. `failures` counts all that needs a name, by default the failed tests. */
  add(passed: number, failed: number, failures: number = failed): void {
    this.now.ran = (this.now.ran ?? 0) + passed + failed;
    this.now.failures += failures;
  }

  /** Adds failed tests where the runner does not always say how many ran. */
  fail(failures: number): void {
    this.now.failures += failures;
  }

  /** Notes the name of a failed test. A runner may say it twice. */
  name(name: string): void {
    const short = name.replace(/\s+/g, ' ').trim();
    const { names } = this.now;
    if (short.length > LONGEST_NAME || names.size >= MOST_NAMES) this.now.hasUnnamed = true;
    else names.add(short);
  }

  /** Notes that something failed which is no test. `more` of it is in no summary of failed tests. */
  unnamed(more = 0): void {
    this.now.hasUnnamed = true;
    this.now.others += more;
  }

  /** Whether the runner has said nothing so far. */
  get isSilent(): boolean {
    return this.passes.size === 0;
  }

  /** Counts what was said in the current pass. */
  counts(): TestCounts {
    const { ran, failures, others, hasUnnamed, names } = this.now;
    // A name without any number may be a line of another program.
    if (ran === null && failures + others === 0) return NO_COUNTS;
    const isComplete = !hasUnnamed && names.size === failures;
    return { ran, failures: failures + others, failed: isComplete ? [...names] : null };
  }

  private get now(): Said {
    const now = this.passes.get(this.pass) ?? {
      ...{ ran: null, failures: 0, others: 0, hasUnnamed: false, names: new Set<string>() },
    };
    this.passes.set(this.pass, now);
    return now;
  }

  private take({ ran, failures, others, hasUnnamed, names }: Said): void {
    const { now } = this;
    if (ran !== null) now.ran = (now.ran ?? 0) + ran;
    now.failures += failures;
    now.others += others;
    now.hasUnnamed ||= hasUnnamed;
    for (const name of names) this.name(name);
  }
}

/** Reads what one test runner prints. */
export interface Runner {
  /** Takes the next line, without colours and line end. */
  readonly read: (line: string) => void;
  /** Whether the next line may belong to a list, whatever it says. */
  readonly isInList?: () => boolean;
  /** Ends the output: a summary that waited for a better one counts. */
  readonly end?: () => void;
}

/** Adds up the counts of several runners. */
export function sumOfCounts(all: readonly TestCounts[]): TestCounts {
  const known = all.filter(({ failures }) => failures !== null);
  if (known.length === 0) return NO_COUNTS;
  const names = known.flatMap(({ failed }) => failed ?? []);
  const isComplete = known.every(({ failed }) => failed !== null);
  const numbers = known.flatMap(({ ran }) => ran ?? []);
  return {
    ran: numbers.length === 0 ? null : sum(numbers),
    failures: sum(known.map(({ failures }) => failures ?? 0)),
    failed: isComplete && new Set(names).size === names.length ? names : null,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
