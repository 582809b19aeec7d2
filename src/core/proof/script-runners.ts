import type { Runner, TestTally } from './test-tally.ts';

/** Reads `N word` in a list such as `1 failed | 2 passed (3)`. */
export function numberBefore(word: string, list: string): number {
  return Number(new RegExp(`(\\d+) ${word}\\b`).exec(list)?.[1] ?? 0);
}

/**
 * Reads the output of Vitest. The summary has two spaces before each value, and counts once the line with the start
 * time follows. The summaries that Vitest redraws at a terminal have only one space.
 */
export function vitest(tally: TestTally): Runner {
  let isAfterFiles = false;
  let tests: string | null = null;
  return {
    read(line) {
      const [, list] = (isAfterFiles && /^ {6}Tests {2}(\d.*|no tests)$/.exec(line)) || [];
      const [, failedSuites] = /^⎯+ Failed Suites (\d+) ⎯+$/.exec(line) ?? [];
      isAfterFiles = /^ Test Files {2}\d/.test(line);
      if (list !== undefined) tests = list;
      else if (isAfterFiles) tests = null;
      else if (tests !== null && /^ {3}Start at {2}/.test(line)) {
        tally.add(numberBefore('passed', tests), numberBefore('failed', tests));
        tests = null;
      } else if (tests !== null && /^ *(?:Type )?Errors {2}\d/.test(line)) tally.unnamed(1);
      else if (/^No test files found, exiting with code \d/.test(line)) tally.add(0, 0);
      else if (failedSuites !== undefined) tally.unnamed(Number(failedSuites));
      else {
        const [, name] = /^ FAIL {2}(.* > .*)$/.exec(line) ?? [];
        if (name !== undefined) tally.name(name);
      }
    },
  };
}

/**
 * Reads the output of Jest. At a terminal the summary is printed again and again, with `1 of 3 total` while files are
 * still to come. `Ran all test suites` follows the last summary, unless jest is told to be silent.
 */
export function jest(tally: TestTally): Runner {
  let isAfterSuites = false;
  let isUnderWay = false;
  let tests: string | null = null;
  let file = '';
  const commit = (): void => {
    if (tests !== null) tally.add(numberBefore('passed', tests), numberBefore('failed', tests));
    tests = null;
  };
  return {
    read(line) {
      const [, ofSuites] = /^Test Suites: (\d.* total)$/.exec(line) ?? [];
      const [, ofTests] = (isAfterSuites && /^Tests: {7}(\d.* total)$/.exec(line)) || [];
      const [, inFile] = /^ ?(?:FAIL|PASS) (.+?)(?: \([\d.]+ m?s\))?$/.exec(line) ?? [];
      const [, name] = /^ {2}● (.+)$/.exec(line) ?? [];
      isAfterSuites = ofSuites !== undefined;
      if (ofTests !== undefined) tests = ofTests;
      else if (ofSuites !== undefined) {
        if (!isUnderWay) commit();
        tests = null;
        isUnderWay = / of \d+ total$/.test(ofSuites);
      } else if (/^Ran all test suites/.test(line)) commit();
      else if (/^No tests found(?:, exiting with code \d| related to files)/.test(line))
        tally.add(0, 0);
      else if (inFile !== undefined) file = inFile.trim();
      else if (name === 'Test suite failed to run') tally.unnamed(1);
      else if (name !== undefined && name !== 'Console' && !name.endsWith(':'))
        tally.name(`${file} › ${name}`);
    },
    end: commit,
  };
}

/** Reads the output of Mocha: first the numbers, then the failed tests, each below the names of its suites. */
export function mocha(tally: TestTally): Runner {
  let failing = 0;
  let name: string[] | null = null;
  const close = (last: string): void => {
    const whole = [...(name ?? []), last.replace(/:$/, '')].map((part) => part.trim()).join(' > ');
    if (/"(?:before|after) (?:all|each)" hook/.test(whole)) tally.notTest();
    else tally.name(whole);
    name = null;
  };
  return {
    read(line) {
      const [, passed] = /^ {2}(\d+) passing \(\d+\w+\)$/.exec(line) ?? [];
      const [, failed] = /^ {2}(\d+) failing$/.exec(line) ?? [];
      const [, first] = (failing > 0 && /^ {2}\d+\) (.+)$/.exec(line)) || [];
      if (passed !== undefined) {
        tally.add(Number(passed), 0);
        failing = 0;
      } else if (failed !== undefined) {
        tally.add(0, Number(failed));
        failing = Number(failed);
      } else if (first !== undefined) {
        failing -= 1;
        name = [];
        if (first.endsWith(':')) close(first);
        else name.push(first);
      } else if (name !== null && /^ {7,}\S/.test(line)) {
        if (line.endsWith(':')) close(line);
        else name.push(line);
      } else if (/^Error: No test files found/.test(line)) tally.add(0, 0);
      // If a file does not load, the run ends before any numbers.
      else if (/^\S* ?Exception during run: /.test(line)) tally.unnamed(1);
    },
    isInList: () => failing > 0 || name !== null,
  };
}

/** Reads the output of Ava. If a test failed, it does not say how many passed, so they are counted one by one. */
export function ava(tally: TestTally): Runner {
  let passed = 0;
  let isSummary = false;
  return {
    read(line) {
      const [, count, what = ''] =
        (isSummary && /^ {2}(\d+) (tests? failed|tests? passed|[a-z ]+)$/.exec(line)) || [];
      const [, name] = /^ {2}✘ \[fail\]: (.+)$/.exec(line) ?? [];
      isSummary = line === '  ─' || count !== undefined || (isSummary && line === '');
      if (what.endsWith(' failed')) {
        tally.add(passed, Number(count));
        passed = 0;
      } else if (what.endsWith(' passed')) {
        tally.add(Number(count), 0);
        passed = 0;
      } else if (/^uncaught exceptions?$|^unhandled rejections?$/.test(what))
        tally.unnamed(Number(count));
      else if (/^ {2}✘ Couldn’t find any (?:files to test|matching tests)$/.test(line))
        tally.add(0, 0);
      else if (/^ {2}✔ (?!\[expected fail\])/.test(line)) passed += 1;
      else if (name !== undefined) tally.name(name.replace(/ \([\d.]+m?s\)$/, ''));
    },
  };
}

/** Reads the output of `bun test`. The numbers are right above `Ran 3 tests across 1 file.`, but not with `--bail`. */
export function bun(tally: TestTally): Runner {
  let file = '';
  let names = 0;
  let values = new Map<string, number>();
  return {
    read(line) {
      const [, value, word = ''] =
        /^ ?(\d+) (pass|fail|errors?|[a-z]+(?:\(\))?(?: calls|, \d+ expect\(\) calls| out)?)$/.exec(
          line,
        ) ?? [];
      const [, ran] = /^Ran (\d+) tests? across \d+ files?\.(?: \[[\d.]+m?s\])?$/.exec(line) ?? [];
      const [, inFile] = /^(\S+\.[cm]?[jt]sx?):$/.exec(line) ?? [];
      const [, name] = /^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+m?s\])?$/.exec(line) ?? [];
      if (ran !== undefined) {
        // bun counts a file that does not load as an error and also as a failed test.
        const failed = values.get('fail') ?? names;
        const errors = values.get('error') ?? values.get('errors') ?? 0;
        tally.add(values.get('pass') ?? Number(ran) - names, Math.max(0, failed - errors), failed);
        names = 0;
      } else if (inFile !== undefined) file = inFile;
      else if (name !== undefined) {
        names += 1;
        tally.name(`${file}: ${name}`);
      } else if (/^error: regex .+ matched 0 tests\. /.test(line)) tally.add(0, 0);
      if (value === undefined) values = new Map();
      else values.set(word, Number(value));
    },
  };
}

/** The names of the lines in the summary of `node --test`, in order. */
const NODE_SUMMARY = [
  ...['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'],
];
/** Matches the name of a test file. `node --test` counts a file without tests as a test that passed. */
const FILE_AS_TEST = /^\S*\.[cm]?[jt]sx?$/;

/** Reads the output of `node --test`, in TAP or as at a terminal. In TAP, what tests print also begins with `# `. */
export function nodeTest(tally: TestTally): Runner {
  let values: number[] = [];
  let files = 0;
  let isListing = false;
  let tap: string | null = null;
  let isSuite = false;
  let file = '';
  /**
   * The number of failed tests in the last summary, minus the tests listed below it so far. A negative number means
   * that a failed suite is listed, which the summary does not count.
   */
  let unlisted = 0;
  let isBelowPlace = false;

  /** How many files did not load, of those listed above the summary that counts them as tests. */
  let broken = 0;

  const closeTap = (): void => {
    if (tap !== null && FILE_AS_TEST.test(tap)) broken += 1;
    else if (tap !== null) nameIn(file, tap);
    tap = null;
  };
  const nameIn = (path: string, name: string): void => {
    if (FILE_AS_TEST.test(name)) tally.notTest();
    else tally.name(`${path.slice(path.lastIndexOf('/') + 1)}: ${name}`);
  };
  const summary = (word: string, value: number): void => {
    if (word !== NODE_SUMMARY[values.length]) values = [];
    if (word !== NODE_SUMMARY[values.length]) return;
    values.push(value);
    if (values.length < NODE_SUMMARY.length) return;
    const [, , passed = 0, failed = 0, cancelled = 0] = values;
    closeTap();
    tally.add(Math.max(0, passed - files), failed + cancelled);
    for (; broken > 0; broken -= 1) tally.notTest();
    unlisted = failed + cancelled;
    values = [];
    files = 0;
  };

  return {
    read(line) {
      const [, word, value] = /^(?:#|ℹ) (\w+) ([\d.]+)$/.exec(line) ?? [];
      if (word !== undefined) return summary(word, Number(value));
      const [, passed] =
        /^(?:ok \d+ - (\S+)|✔ (\S+) \([\d.]+ms\))$/.exec(line)?.filter(Boolean) ?? [];
      if (passed !== undefined && FILE_AS_TEST.test(passed)) files += 1;

      const [, ok, name, remark] =
        /^ *(not ok|ok) \d+ - (.*?)( # (?:SKIP|TODO).*)?$/.exec(line) ?? [];
      if (ok !== undefined) {
        closeTap();
        if (ok === 'not ok' && remark === undefined) tap = name ?? '';
        isSuite = false;
      } else if (tap !== null && /^ *type: 'suite'$/.test(line)) {
        tap = null;
        isSuite = true;
      } else if (isSuite && /^ *failureType: '(?!subtestsFailed')/.test(line)) {
        tally.unnamed(1);
      }
      const [, location] = /^ *location: '(.*?)(?::\d+)*'$/.exec(line) ?? [];
      if (tap !== null && location !== undefined) file = location;

      if (line === '✖ failing tests:') isListing = true;
      else if (/^TAP version|^✔ |^▶ /.test(line)) isListing = false;
      const [, at] = /^test at (.*?)(?::\d+)*$/.exec(line) ?? [];
      if (at !== undefined) file = at;
      const isPlaced = isBelowPlace;
      isBelowPlace = at !== undefined;
      const [, shown] = (isListing && /^✖ (.*) \([\d.]+ms\)$/.exec(line)) || [];
      if (shown === undefined) return;
      if (isPlaced) unlisted -= 1;
      if (isPlaced && unlisted < 0) tally.unnamed(1);
      nameIn(file, shown);
    },
  };
}
