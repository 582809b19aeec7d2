import { numberBefore } from './script-runners.ts';
import type { Runner, TestTally } from './test-tally.ts';

/** Reads the output of RSpec. Below the time come the numbers, and then a command for each failed example. */
export function rspec(tally: TestTally): Runner {
  let before = '';
  return {
    read(line) {
      const [, examples, rest = ''] =
        /^(\d+) examples?, (\d+ failures?(?:, .*)?)$/.exec(line) ?? [];
      const [, file, name] = /^rspec '?(.+?)(?::\d+|\[[\d:]+\])'? # (.+)$/.exec(line) ?? [];
      if (examples !== undefined && before.startsWith('Finished in ')) {
        const failed = numberBefore('failures?', rest);
        const errors = numberBefore('errors? occurred outside of examples', rest);
        tally.add(Number(examples) - failed - numberBefore('pending', rest), failed);
        if (errors > 0) tally.unnamed(errors);
      } else if (file !== undefined) tally.name(`${file}: ${name}`);
      before = line;
    },
  };
}

/** Reads the output of Minitest, also under Rails, and test-unit, which calls the numbers by other words. */
export function minitest(tally: TestTally): Runner {
  let isNameNext = false;
  return {
    read(line) {
      const [, tests, rest = ''] =
        /^(\d+) (?:runs|tests), \d+ assertions, (\d+ failures, \d+ errors, \d+ (?:skips|pendings).*)$/.exec(
          line,
        ) ?? [];
      const [, ofMinitest] = (isNameNext && /^(\S+#.+?)(?: \[.*\])?:$/.exec(line)) || [];
      const [, ofTestUnit] = /^(?:Failure|Error): (\S+\(.+?\))(?:$|: )/.exec(line) ?? [];
      isNameNext = /^(?: *\d+\) )?(?:Failure|Error):$/.test(line);
      if (tests !== undefined) {
        const failed = numberBefore('failures', rest) + numberBefore('errors', rest);
        const idle = ['skips', 'pendings', 'omissions'].map((word) => numberBefore(word, rest));
        tally.add(
          Math.max(0, idle.reduce((left, each) => left - each, Number(tests)) - failed),
          failed,
        );
      }
      const name = ofMinitest ?? ofTestUnit;
      if (name !== undefined) tally.name(name);
    },
  };
}

/** Reads the output of PHPUnit, which prints lists of failed, risky and other tests, and then the numbers. */
export function phpunit(tally: TestTally): Runner {
  let isListing = false;
  return {
    read(line) {
      const [, passed] = /^OK \((\d+) tests?, \d+ assertions?\)$/.exec(line) ?? [];
      const [, tests, rest = ''] =
        /^Tests: (\d+), Assertions: \d+((?:, [\w ]+: \d+)*)\.$/.exec(line) ?? [];
      const [, kind] = /^There (?:was|were) \d+ (.+):$/.exec(line) ?? [];
      const [, name] = (isListing && /^\d+\) (\S+::.+)$/.exec(line)) || [];
      if (passed !== undefined) tally.add(Number(passed), 0);
      else if (tests !== undefined) {
        const of = (word: string): number =>
          Number(new RegExp(`, ${word}: (\\d+)`).exec(rest)?.[1] ?? 0);
        const failed = of('Failures') + of('Errors');
        tally.add(Math.max(0, Number(tests) - failed - of('Skipped') - of('Incomplete')), failed);
        isListing = false;
      } else if (/^No tests executed!$/.test(line)) tally.add(0, 0);
      else if (kind !== undefined) isListing = /^(?:failure|error)s?$/.test(kind);
      else if (name !== undefined) tally.name(name);
    },
  };
}

/** Reads the output of ExUnit, and bats at a terminal, which use the same words for their numbers. */
export function exunit(tally: TestTally): Runner {
  let before = '';
  return {
    read(line) {
      const [, list, rest = ''] =
        /^((?:\d+ (?:doctests?|propert(?:y|ies)), )*\d+ tests?), (\d+ failures?(?:, \d+ \w+)*)(?: in \d+ seconds?)?$/.exec(
          line,
        ) ?? [];
      if (list !== undefined && (before === '' || before.startsWith('Finished in '))) {
        const tests = ['doctests?', 'propert(?:y|ies)', 'tests?'].map((word) =>
          numberBefore(word, list),
        );
        const failed = numberBefore('failures?', rest);
        const invalid = numberBefore('invalid', rest);
        const idle = invalid + numberBefore('skipped', rest) + numberBefore('excluded', rest);
        tally.add(Math.max(0, tests.reduce((sum, each) => sum + each, 0) - failed - idle), failed);
        if (invalid > 0) tally.unnamed(invalid);
      }
      const [, name] =
        /^ {2,3}\d+\) ((?:test|doctest|property) .+ \(\S+\))$/.exec(line) ??
        /^(?: {3}.*\d+\/\d+)? ✗ (.+?)(?: \[\d+\])?$/.exec(line) ??
        [];
      if (name !== undefined) tally.name(name);
      before = line;
    },
  };
}
