/** What test runners reported in the output of a check. */
export interface TestCounts {
  /** The number of tests that passed or failed; skipped tests do not count. Null if no known runner reported it. */
  readonly ran: number | null;
  /** How many tests, files and hooks failed. Null if no known runner reported anything. */
  readonly failures: number | null;
  /**
   * The names of all failed tests. Null if their number is unknown, if two of them have the same name, or if
   * something failed that has no name of its own, such as a file that does not load, a hook or the coverage.
   */
  readonly failed: readonly string[] | null;
}

const NO_COUNTS: TestCounts = { ran: null, failures: null, failed: null };

/** If more tests failed, further names are not kept, and the set of failed tests counts as unknown. */
export const MOST_NAMES = 1000;
const LONGEST_NAME = 500;

/** What one runner reported in one pass (one run of the test suite; a check may repeat its suite). */
interface Said {
  ran: number | null;
  failures: number;
  /** Failures that are in no summary. */
  others: number;
  hasUnnamed: boolean;
  readonly names: Set<string>;
}

/** Collects what one runner reports, line by line. */
export class TestTally {
  /** The number of the pass (run of the suite) to which the current lines belong. */
  pass = 0;
  private readonly passes = new Map<number, Said>();

  /**
   * Joins what one runner reported in several streams, in the passes from `start` to before `end`: through a pipe,
   * vitest prints the numbers in one stream and the names in the other.
   */
  static joined(tallies: readonly TestTally[], start: number, end: number): TestTally {
    const joined = new TestTally();
    for (const [pass, said] of tallies.flatMap(({ passes }) => [...passes])) {
      if (pass >= start && pass < end) joined.take(said);
    }
    return joined;
  }

  /** Adds the tests of one summary. `failures` is how many failures should have a name, by default the failed tests. */
  add(passed: number, failed: number, failures: number = failed): void {
    this.now.ran = (this.now.ran ?? 0) + passed + failed;
    this.now.failures += failures;
  }

  /** Adds failed tests for a runner that does not always say how many tests ran. */
  fail(failures: number): void {
    this.now.failures += failures;
  }

  /** Adds the name of a failed test. Repeated names count once. */
  name(name: string): void {
    const short = name.replace(/\s+/g, ' ').trim();
    const { names } = this.now;
    if (short.length > LONGEST_NAME || names.size >= MOST_NAMES) this.now.hasUnnamed = true;
    else names.add(short);
  }

  /** Notes that something other than a test failed. `more` is how many such failures are in no summary. */
  unnamed(more = 0): void {
    this.now.hasUnnamed = true;
    this.now.others += more;
  }

  /** Notes that a failed file or hook, which is no test, is among the tests of a summary. */
  notTest(): void {
    this.unnamed();
    this.now.ran = (this.now.ran ?? 0) - 1;
  }

  get isSilent(): boolean {
    return this.passes.size === 0;
  }

  counts(): TestCounts {
    const { failures, others, hasUnnamed, names } = this.now;
    // The summary that counts a failed file may have been cut off: `node --test | tail`.
    const ran = (this.now.ran ?? -1) < 0 ? null : this.now.ran;
    // A name without any number may come from another program, so it does not count.
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
  /** Reads the next line, without colours and line end. */
  readonly read: (line: string) => void;
  /** Whether the next line may be part of a list, so that it must be read in any case. */
  readonly isInList?: () => boolean;
  /** Called at the end of the output. A summary that a later summary might have replaced now counts. */
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
