import { describe, expect, test } from 'vitest';
import { defaultTaskId, isTaskId, namedTaskId } from '../../../src/core/task/task-id.ts';

describe('a task id', () => {
  test.for([
    ['a'],
    ['Z'],
    ['7'],
    ['_'],
    ['fix-tests'],
    ['fix.tests_2'],
    ['20260105_100000_000042'],
    ['a..b'],
    ['a-'],
    ['a.'],
    ['a'.repeat(128)],
    ['stuck_report'],
    ['history-2'],
  ] as const)('may be %s', ([id]) => {
    expect(isTaskId(id)).toBe(true);
  });

  test.for([
    [''],
    ['.'],
    ['..'],
    ['.hidden'],
    ['-n'],
    ['--force'],
    ['a/b'],
    ['../a'],
    ['a\\b'],
    ['a b'],
    [' a'],
    ['a '],
    ['a\n'],
    ['\na'],
    ['a\nb'],
    ['a\u0000'],
    ['ä'],
    ['日本'],
    ['a:b'],
    ['a*'],
    ['~'],
    ['$HOME'],
    ['a'.repeat(129)],
  ] as const)('must not be %o', ([id]) => {
    expect(isTaskId(id)).toBe(false);
  });

  // Names of the state folder itself: the journal, the history, another task's state file.
  test.for([['history'], ['events'], ['events.jsonl'], ['another-task.json']] as const)(
    'must not take the name %s of the state folder',
    ([id]) => {
      expect(isTaskId(id)).toBe(false);
    },
  );
});

describe('the default id of a run', () => {
  test.for([
    ['Make the failing tests pass', 'make-failing-tests-0000'],
    ['make  THE\n"Failing" (tests), pass.', 'make-failing-tests-0000'],
    ['Répare la façade', 'repare-la-facade-0000'],
    ['Fix src/a.ts, v2 and user@host', 'fix-0000'],
    ['Fix a it x', 'fix-0000'],
    ['internationalisation everywhere', 'everywhere-0000'],
    ['configurable documentati onbehalfofit', 'configurable-documentati-0000'],
    ["don't 修复 тест", 'task-0000'],
    ['', 'task-0000'],
  ] as const)('%s', ([prompt, id]) => {
    expect(namedTaskId(prompt, 0)).toBe(id);
    expect(isTaskId(id)).toBe(true);
  });

  test('ends in four characters at random', () => {
    expect(namedTaskId('x', 0.999_999_999)).toBe('task-zzzz');
    expect(namedTaskId('x', 1 / 36 ** 3)).toBe('task-0010');
  });
});

describe('the default id of a fleet and of the library', () => {
  test.for([
    ['2026-01-05T10:00:00.000Z', 0, '20260105_100000_000000'],
    ['2026-01-05T10:00:00.000Z', 0.000042, '20260105_100000_000042'],
    ['2026-12-31T23:59:59.999Z', 0.999_999_999, '20261231_235959_999999'],
    ['2026-12-31T23:59:59Z', 0.5, '20261231_235959_500000'],
  ] as const)('at %s with %d', ([at, random, id]) => {
    expect(defaultTaskId(at, random)).toBe(id);
    expect(isTaskId(id)).toBe(true);
  });
});
