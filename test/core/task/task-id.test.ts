import { describe, expect, test } from 'vitest';
import { defaultTaskId, isTaskId } from '../../../src/core/task/task-id.ts';

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

describe('the default id', () => {
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
