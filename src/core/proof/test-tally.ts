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
const MOST_NAMES = 1000;
const LONGEST_NAME = 500;

/** Collects what one runner says, line by line. */
export class TestTally {
  private ran: number | null = null;
  private failures = 0;
  /** Failures that no summary counts. */
  private others = 0;
  private hasUnnamed = false;
  private readonly names = new Set<string>();

  /**
   * Collects what one runner said in several streams: through a pipe, vitest says the numbers in one and the names in
   * the other.
   */
  static joined(tallies: readonly TestTally[]): TestTally {
    const joined = new TestTally();
    for (const { ran, failures, others, hasUnnamed, names } of tallies) {
      if (ran !== null) joined.ran = (joined.ran ?? 0) + ran;
      joined.failures += failures;
      joined.others += others;
      joined.hasUnnamed ||= hasUnnamed;
      for (const name of names) joined.name(name);
    }
    return joined;
  }

  /** Adds the tests of one summary. `failures` counts all that needs a name, by default the failed tests. */
  add(passed: number, failed: number, failures: number = failed): void {
    this.ran = (this.ran ?? 0) + passed + failed;
    this.failures += failures;
  }

  /** Adds failed tests where the runner does not always say how many ran. */
  fail(failures: number): void {
    this.failures += failures;
  }

  /** Notes the name of a failed test. A runner may say it twice. */
  name(name: string): void {
    const short = name.replace(/\s+/g, ' ').trim();
    if (short.length > LONGEST_NAME || this.names.size >= MOST_NAMES) this.hasUnnamed = true;
    else this.names.add(short);
  }

  /** Notes that something failed which is no test. `more` of it is in no summary of failed tests. */
  unnamed(more = 0): void {
    this.hasUnnamed = true;
    this.others += more;
  }

  /** Whether the runner has said nothing so far. */
  get isSilent(): boolean {
    return this.ran === null && this.failures + this.others + this.names.size === 0;
  }

  counts(): TestCounts {
    // A name without any number may be a line of another program.
    if (this.ran === null && this.failures + this.others === 0) return NO_COUNTS;
    const isComplete = !this.hasUnnamed && this.names.size === this.failures;
    return {
      ran: this.ran,
      failures: this.failures + this.others,
      failed: isComplete ? [...this.names] : null,
    };
  }
}

/** Reads what one test runner prints. */
export interface Runner {
  /** Takes the next line, without colours and line end. */
  readonly read: (line: string) => void;
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
