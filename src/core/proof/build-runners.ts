import type { Runner, TestTally } from './test-tally.ts';

const MAVEN_SUMMARY =
  /^(\[[A-Z]+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?:, Flakes: \d+)?$/;

/** The build ended before its tests, or for another reason: it is told behind their numbers. */
const MAVEN_BROKEN =
  /^\[ERROR\] (?:Failed to execute goal|COMPILATION ERROR|The build could not read)/;
const GRADLE_BROKEN = /^FAILURE: Build (?:failed|completed with)\b/;

/**
 * Maven's Surefire and Failsafe: each module ends with the names of what failed, and its numbers. With `-q` only a run
 * in which a test failed says its number, so the number tells nothing then. Before 2.20 the lines had no level.
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
        // A test that ran several times stands alone in its line, and its runs below.
        const [, name] = /^\[ERROR\] +(?!Run \d)(\S*\.[^:»]+?)(?::\d+\b| » |$)/.exec(line) ?? [];
        if (name !== undefined) tally.name(name);
      }
    },
  };
}

/** Gradle says how many tests ran only if one failed, so a number tells nothing. */
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

/** One line for each project of tests, or for all at a terminal. */
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

/** A project that does not compile; each error is said twice. */
const DOTNET_BROKEN = /: error [A-Z]{2,}\d+: .*\[[^\]]+\.\w+proj(?:::[^\]]*)?\]$/;

/**
 * `dotnet test`, as VSTest and Microsoft.Testing.Platform say it: in one line, or in a block with a line for each
 * number, which leaves out those that are 0.
 */
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
