import type { Runner, TestTally } from './test-tally.ts';

const MAVEN_SUMMARY =
  /^(\[[A-Z]+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?:, Flakes: \d+)?$/;

/** Match lines that report a failed build. They follow the numbers of the tests, and count only if no test failed. */
const MAVEN_BROKEN =
  /^\[ERROR\] (?:Failed to execute goal|COMPILATION ERROR|The build could not read)/;
const GRADLE_BROKEN = /^FAILURE: Build (?:failed|completed with)\b/;

/**
 * Reads the output of Maven's Surefire and Failsafe. With `-q`, Maven prints numbers only if a test failed, so they do
 * not say how many tests ran in all. Before Surefire 2.20, lines had no level such as `[INFO]`.
 */
export function maven(tally: TestTally): Runner {
  let isQuiet = true;
  let hasFailed = false;
  let isAfterResults = false;
  let isListing = false;
  return {
    read(line) {
      isQuiet &&= !line.startsWith('[INFO]');
      const [, level, ...numbers] = MAVEN_SUMMARY.exec(line) ?? [];
      if (numbers.length > 0 && (level !== undefined || isAfterResults)) {
        const [tests = 0, failures = 0, errors = 0, skipped = 0] = numbers.map(Number);
        const failed = failures + errors;
        hasFailed ||= failed > 0;
        if (level !== undefined && isQuiet) tally.fail(failed);
        else tally.add(Math.max(0, tests - failed - skipped), failed);
        isAfterResults = false;
        isListing = false;
      } else if (MAVEN_BROKEN.test(line) && !hasFailed) {
        hasFailed = true;
        tally.unnamed(1);
      } else if (/^Results :$/.test(line)) isAfterResults = true;
      else if (/^\[INFO\] (?:No tests to run|Tests are skipped)\.$/.test(line)) tally.add(0, 0);
      else if (/^\[[A-Z]+\] \w+:$/.test(line))
        isListing = /^\[ERROR\] (?:Failures|Errors):$/.test(line);
      else if (isListing) {
        // The name of a test that ran several times stands on a line of its own, above its runs.
        const [, name] = /^\[ERROR\] +(?!Run \d)(\S*\.[^:»]+?)(?::\d+\b| » |$)/.exec(line) ?? [];
        if (name !== undefined) tally.name(name);
      }
    },
  };
}

/** Reads the output of Gradle, which says how many tests ran only if one failed, so that number is not used. */
export function gradle(tally: TestTally): Runner {
  let hasFailed = false;
  return {
    read(line) {
      const [, failed] = /^\d+ tests? completed, (\d+) failed(?:, \d+ skipped)?$/.exec(line) ?? [];
      const [, name] = /^([^\s>].* > .+) FAILED$/.exec(line) ?? [];
      const isBroken = GRADLE_BROKEN.test(line) && !hasFailed;
      hasFailed ||= isBroken || failed !== undefined;
      if (failed !== undefined) tally.fail(Number(failed));
      else if (isBroken) tally.unnamed(1);
      else if (name !== undefined) tally.name(name);
    },
  };
}

/** Match the line with the numbers of one test project or, at a terminal, of all projects. */
const DOTNET_LINES: readonly RegExp[] = [
  /^(?:Failed|Passed|Skipped)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +\d+, Total: +\d+(?:,| -|$)/,
  /^Test summary: total: \d+, failed: (\d+), succeeded: (\d+), skipped: \d+(?:,|$)/,
];
const DOTNET_NAMES: readonly RegExp[] = [
  /^ {2}Failed (.+) \[(?:< )?[\d.,]+ m?s\]$/,
  /^(?:\[xUnit\.net [\d:.]+\] +)?(\S.*) \[FAIL\]$/,
  /^failed (.+) \([\dhms. ]+s\)$/,
  /\berror TESTERROR: (\S.*?) \([\dhms. ]+s\): /,
];

/** Matches an error in a project that does not compile. dotnet prints each such error twice. */
const DOTNET_BROKEN = /: error [A-Z]{2,}\d+: .*\[[^\]]+\.\w+proj(?:::[^\]]*)?\]$/;

/** Reads the output of `dotnet test`. The numbers are on one line, or in a block with a line for each that is not 0. */
export function dotnet(tally: TestTally): Runner {
  let block: { passed: number; failed: number } | null = null;
  let isNameNext = false;
  let isBroken = false;
  const close = (): void => {
    if (block !== null) tally.add(block.passed, block.failed);
    block = null;
  };
  return {
    read(line) {
      const [, passed] = /^ +(?:Passed|succeeded): (\d+)$/.exec(line) ?? [];
      const [, failed] = /^ +(?:Failed|failed): (\d+)$/.exec(line) ?? [];
      if (block !== null && passed !== undefined) block.passed = Number(passed);
      else if (block !== null && failed !== undefined) block.failed = Number(failed);
      else if (/^Total tests: \d+$|^Test run summary: \S/.test(line)) {
        close();
        block = { passed: 0, failed: 0 };
      } else if (/^ *(?:Total time|duration): /.test(line)) close();

      const [, failures, successes] =
        DOTNET_LINES.map((form) => form.exec(line)).find((found) => found !== null) ?? [];
      if (failures !== undefined) tally.add(Number(successes), Number(failures));
      else if (!isBroken && DOTNET_BROKEN.test(line)) {
        isBroken = true;
        tally.unnamed(1);
      }

      const text = isNameNext ? `error TESTERROR: ${line.trim()}` : line;
      isNameNext = /\berror TESTERROR:$/.test(line);
      const name = DOTNET_NAMES.map((form) => form.exec(text)?.[1]).find(Boolean);
      if (name !== undefined) tally.name(name);
    },
    end: close,
  };
}
