/*
 * Lines of output that report a failure of something other than a test: a command, a compiler, a threshold. Tests
 * that are known to fail do not excuse such a failure, so the lines are compared with those at the start.
 */

const FAILURES: readonly RegExp[] = [
  // Messages of programs that run other commands.
  /^(?:g?make|mingw32-make)(?:\[\d+\])?: \*\*\* /,
  /^(?:npm|pnpm|yarn|lerna) (?:error|ERR!)|ELIFECYCLE|ERR_PNPM_|^error Command failed/,
  /\bCommand failed\b|^ninja: build stopped|^task: Failed to run/,
  /^FAILURE: Build (?:failed|completed with)\b|^> Task \S+ FAILED$/,
  /: (?:command )?not found$|^Segmentation fault|^Killed$|^Aborted\b/,
  // Thresholds that were not reached, such as for coverage.
  /\bthreshold\b.*\bnot (?:met|reached)|\bnot meet\b.*\bthreshold|coverage\b.*(?:not reached|fail-under)/i,
  // Compilers, linters and programs that end with an error.
  /^(?:[\w.$]*(?:Error|Exception)(?: \[\w+\])?|panic|fatal(?: error)?|Fatal error|Uncaught \w+): /,
  /^error(?:\[\w+\])?: |^\[error\] |^ERROR:? |^\S+ error: /i,
  /^\S+?[(:]\d+(?:[,:]\d+)?\)?:? (?:- )?(?:fatal )?error\b/i,
  /^\s+\d+:\d+\s+error\s|^Found \d+ errors?\b/,
];

/** Matches failures of tests, which do not belong here: failed tests are compared by their names. */
const OF_A_TEST = /^AssertionError\b|^ERROR \S+::/;

/** If there are more lines than this, they are not compared: that alone counts as a new failure. */
const MOST_LINES = 50;
const LONGEST_LINE = 200;

/** Collects the lines that report a failure of something other than a test. */
export class OtherFailures {
  private readonly found: string[] = [];

  /** Reads the next line. `text` is the text after a prefix such as `web:test:`; null if there is no prefix. */
  read(line: string, text: string | null): void {
    if (this.found.length > MOST_LINES) return;
    if (tellsOfFailure(line) || (text !== null && tellsOfFailure(text))) {
      this.found.push(withoutDigits(line));
    }
  }

  /** The lines without their digits. More than `MOST_LINES` of them mean that some were dropped. */
  get lines(): readonly string[] {
    return this.found;
  }
}

function tellsOfFailure(line: string): boolean {
  return !OF_A_TEST.test(line) && FAILURES.some((pattern) => pattern.test(line));
}

/** Removes numbers and times, which differ from run to run. A line that names a cargo target, such as `day1`, stays. */
function withoutDigits(line: string): string {
  if (CARGO_TARGET.test(line)) return line;
  return line.replace(/0x[\da-f]+|\d+(?:\.\d+)*/gi, '').slice(0, LONGEST_LINE);
}

/** Returns the first line that appears more often than at the start, or a remark on too many lines; else null. */
export function newFailure(now: readonly string[], atStart: readonly string[]): string | null {
  if (now.length > MOST_LINES) return `more than ${MOST_LINES} lines that tell of other failures`;
  const left = [...atStart];
  for (const line of now) {
    const at = left.indexOf(line);
    if (at === -1) return line;
    left.splice(at, 1);
  }
  return null;
}

/** Matches what runners print when they skip the remaining tests because one failed, such as pytest, jest and TAP. */
const STOPPED =
  /^!+ \S.* !+$|^Test Suites: .*\b\d+ of \d+ total$|^Bail(?:ing|ed) out after \d+ fail|^Bail out!/;

/** Cargo prints the first of these lines for each failed target, and the second at the end, unless it stopped early. */
const CARGO_TARGET = /^error: (?:doc)?test failed, to rerun pass/;
const CARGO_TARGETS = /^error: (\d+) targets? failed:$/;

/** Returns how a line changes the number of failed cargo targets that no line has summed up yet. */
export function openTargets(line: string): number {
  return Number(CARGO_TARGET.test(line)) - Number(CARGO_TARGETS.exec(line)?.[1] ?? 0);
}

/** Matches a line of Vitest's summary. Only its total, in parentheses, includes tests that were never reached. */
const VITEST = /^ (?:Test Files| {5}Tests) {2}(.*) \((\d+)\)$/;

function hasUncounted(line: string): boolean {
  const [, parts, whole] = VITEST.exec(line) ?? [];
  if (parts === undefined) return false;
  const counted = parts.match(/\d+(?= )/g) ?? [];
  return counted.reduce((sum, each) => sum + Number(each), 0) < Number(whole);
}

/** Whether a line says that the runner skipped the remaining tests because one failed. */
export function saysStopped(line: string): boolean {
  return (
    STOPPED.test(line) ||
    hasUncounted(line) ||
    stoppingWord(/^(?:> |\$ )(.*)$/.exec(line)?.[1] ?? '') !== null
  );
}

const STOPPING =
  /(?<=\s)--?(?:exitfirst|maxfail|bail|fail-?fast|stop-on-(?:failure|error|defect)|halt-on-failure)(?:[= ]\S+)?(?=\s|$)/;
const NO_STOP = /[= ](?:0|false)$/;
/** Short options count only for these runners: `-x` and `-f` mean something else to other programs. */
const SHORT = /\b(?:py\.?test|nosetests)\b[^|;&]*\s(-\w*x)\b|\bunittest\b[^|;&]*\s(-f)\b/;
const MOCHA = /\bmocha\b[^|;&]*\s(-b)\b/;

/** Returns the option with which a command tells its runner to stop at the first failure; null if there is none. */
export function stoppingWord(command: string): string | null {
  const [word] = STOPPING.exec(command) ?? [];
  if (word !== undefined && !NO_STOP.test(word)) return word.replace(/[= ].*$/, '');
  const [, pytest, unittest] = SHORT.exec(command) ?? [];
  return pytest ?? unittest ?? MOCHA.exec(command)?.[1] ?? null;
}
