/** What test runners said in the output of a check. */
export interface TestCounts {
  /** The number of tests that passed or failed; skipped ones did not run. Null if no known runner spoke. */
  readonly ran: number | null;
  /**
   * The names of all failed tests. Null if the number is unknown, or if something failed that has no name of
   * its own: a file that does not load, a hook, the coverage, two tests of one name.
   */
  readonly failed: readonly string[] | null;
}

/** No known test runner spoke. */
const NO_COUNTS: TestCounts = { ran: null, failed: null };

/** More names than these are not kept: the tests that failed count as unknown. */
const MOST_NAMES = 1000;
const LONGEST_NAME = 500;

/** Collects what one runner says, line by line. */
export class TestTally {
  private ran: number | null = null;
  private failures = 0;
  private hasUnnamed = false;
  private readonly names = new Set<string>();

  /** Adds the tests of one summary. `failures` counts all that needs a name, by default the failed tests. */
  add(passed: number, failed: number, failures: number = failed): void {
    this.ran = (this.ran ?? 0) + passed + failed;
    this.failures += failures;
  }

  /** Notes the name of a failed test. A runner may say it twice. */
  name(name: string): void {
    const short = name.replace(/\s+/g, ' ').trim();
    if (short.length > LONGEST_NAME || this.names.size >= MOST_NAMES) this.hasUnnamed = true;
    else this.names.add(short);
  }

  /** Notes that something failed which is no test. */
  unnamed(): void {
    this.hasUnnamed = true;
  }

  counts(): TestCounts {
    if (this.ran === null) return NO_COUNTS;
    const isComplete = !this.hasUnnamed && this.names.size === this.failures;
    return { ran: this.ran, failed: isComplete ? [...this.names] : null };
  }
}

/** Reads what one test runner prints. */
export interface Runner {
  /** Takes the next line, without colours and line end. */
  readonly read: (line: string) => void;
  /** Ends the output: a summary that waited for a better one counts. */
  readonly end?: () => void;
}

/** Adds up the counts of several outputs, such as standard output and standard error. */
export function sumOfCounts(all: readonly TestCounts[]): TestCounts {
  const known = all.filter(({ ran }) => ran !== null);
  if (known.length === 0) return NO_COUNTS;
  const names = known.flatMap(({ failed }) => failed ?? []);
  const isComplete = known.every(({ failed }) => failed !== null);
  return {
    ran: known.reduce((sum, { ran }) => sum + (ran ?? 0), 0),
    failed: isComplete && new Set(names).size === names.length ? names : null,
  };
}
