import { numberBefore } from './script-runners.ts';
import type { Runner, TestTally } from './test-tally.ts';

/** Matches pytest's last line, framed or (with `-q`) bare. */
const PYTEST_COUNTS = /^(?:\d+ [a-z ]+(?:, )?)+ in [\d.]+s(?: \([\d:, days]+\))?$/;
/** Matches a count by which such a line is told from `12 checks passed in 0.31s`, which other programs print. */
const PYTEST_WORD =
  /\d (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)(?=,| in )/;
const PYTEST_NONE =
  /^(?:no tests ran|(?:no|\d+(?:\/\d+)?) tests? collected.*) in [\d.]+s(?: \([\d:, days]+\))?$/;

/** Reads the output of pytest. A test that was expected to fail, or whose fixture failed, does not count as run. */
export function pytest(tally: TestTally): Runner {
  let isFramed = false;
  /** How many failed subtests are listed. Pytest counts each as a failed test, but a passed one not as a test. */
  let subtests = 0;
  return {
    read(line) {
      if (/^=+ test session starts =+$/.test(line)) isFramed = true;
      const [, framed] = /^=+ (.* in .*) =+$/.exec(line) ?? [];
      const counts = framed ?? (isFramed ? '' : line);
      if (PYTEST_NONE.test(counts)) {
        isFramed = false;
        tally.add(0, 0);
      } else if (PYTEST_COUNTS.test(counts) && PYTEST_WORD.test(counts)) {
        isFramed = false;
        const list = counts.replace(/ in [\d.]+s.*$/, '');
        const failed = numberBefore('failed', list);
        const others = numberBefore('errors?', list) + numberBefore('subtests failed', list);
        tally.add(numberBefore('passed', list), Math.max(0, failed - subtests), failed + others);
        subtests = 0;
      }
      const [, label = '', test] = /^SUBFAIL(?:ED)?(\S.*?)? (\S+::\S+)(?: - .*)?$/.exec(line) ?? [];
      if (test !== undefined) {
        subtests += 1;
        tally.name(`${test} ${label}`);
      }
      const [, name] = /^(?:FAILED|ERROR) ([^\s[]+(?:\[.*?\])?)(?: - .*)?$/.exec(line) ?? [];
      if (name === undefined) return;
      if (name.includes('::')) tally.name(name);
      else tally.unnamed();
    },
  };
}

/** Reads the output of unittest, also under Django: a line of dashes, `Ran 3 tests in 0.001s`, and the result. */
export function unittest(tally: TestTally): Runner {
  let before = '';
  let ran: number | null = null;
  /** How many modules did not load. Each counts as a test of the summary below. */
  let broken = 0;
  return {
    read(line) {
      const [, tests] = /^Ran (\d+) tests? in [\d.]+s$/.exec(line) ?? [];
      const [, result, list = ''] = /^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/.exec(line) ?? [];
      const [, kind, name] = /^(FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$/.exec(line) ?? [];
      if (tests !== undefined && /^-{70}$/.test(before)) ran = Number(tests);
      else if (ran !== null && result !== undefined) {
        const value = (word: string): number =>
          Number(new RegExp(`(?:^|, )${word}=(\\d+)`).exec(list)?.[1] ?? 0);
        const idle = value('skipped') + value('expected failures');
        const failures = value('failures') + value('errors') + value('unexpected successes');
        tally.add(Math.max(0, ran - idle), 0, failures);
        for (; broken > 0; broken -= 1) tally.notTest();
        ran = null;
      } else if (kind !== undefined && name !== undefined && /^={70}$/.test(before)) {
        if (/unittest\.loader/.test(name)) broken += 1;
        else if (/^(?:setUp|tearDown)(?:Class|Module) /.test(name)) tally.unnamed();
        else tally.name(name);
      }
      before = line;
    },
  };
}

/** Matches the error of a target that does not compile, or that ends in the middle of its tests. */
const CARGO_BROKEN = /^error: could not compile `|^ {2}process didn't exit successfully: /;

/** Reads the output of `cargo test`: one summary for each binary, and one for doc tests. */
export function cargo(tally: TestTally): Runner {
  let isListing = false;
  /** Whether nextest runs. It shows what cargo's own runner says of each failed test, but of no other. */
  let isNextest = false;
  return {
    read(line) {
      if (/^ +Starting \d+ tests? across /.test(line)) isNextest = true;
      else if (/^ +Summary \[/.test(line)) isNextest = false;
      if (isNextest) return;
      const [, passed, failed] =
        /^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; \d+ ignored; \d+ measured; \d+ filtered out/.exec(
          line,
        ) ?? [];
      if (passed !== undefined) tally.add(Number(passed), Number(failed));
      else if (CARGO_BROKEN.test(line)) tally.unnamed(1);
      const [, name] = (isListing && /^ {4}(\S.*)$/.exec(line)) || [];
      if (name !== undefined) tally.name(name);
      else isListing = line === 'failures:';
    },
    isInList: () => isListing,
  };
}

/** Whether the numbers in the output of a check are numbers of packages, as with go. */
export function countsPackages(output: string): boolean {
  return /^(?:ok {2}|FAIL)\t\S+\t/m.test(output);
}

/** Reads the output of go. Counts packages instead of tests, since go names only failed tests. */
export function go(tally: TestTally): Runner {
  let names: string[] = [];
  let hasPanicked = false;
  const forget = (): void => {
    names = [];
    hasPanicked = false;
  };
  return {
    read(line) {
      const [, okRest] = /^ok {2}\t\S+\t(?:[\d.]+s|\(cached\))(.*)$/.exec(line) ?? [];
      const [, failed, failedRest] = /^FAIL\t(\S+)(\t[\d.]+s| \[.* failed\])$/.exec(line) ?? [];
      const [, name] = /^ *--- FAIL: (\S+) \([\d.]+s\)$/.exec(line) ?? [];
      if (okRest !== undefined) {
        forget();
        tally.add(okRest.includes('[no tests to run]') ? 0 : 1, 0);
      } else if (failed !== undefined) {
        const isTests = failedRest?.startsWith('\t') === true;
        tally.add(0, isTests ? 1 : 0, names.length);
        if (names.length === 0 || hasPanicked) tally.unnamed(names.length === 0 ? 1 : 0);
        for (const each of names) tally.name(`${failed}.${each}`);
        forget();
      } else if (name !== undefined) names.push(name);
      else if (/^(?:panic|fatal error): /.test(line)) hasPanicked = true;
      else if (
        /^\? {3}\t\S+\t\[no test files\]|^\t\S+\t\tcoverage: |^no packages to test$/.test(line)
      )
        tally.add(0, 0);
    },
  };
}
