import { describe, expect, test } from 'vitest';
import { parseDuration, writeDuration } from '../../../src/core/settings/duration.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';
import { newTask } from '../../helpers/new-task.ts';

describe('a duration', () => {
  test.for([
    ['500ms', 500],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
    ['5m5s', 305_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1.5h', 5_400_000],
    ['0.5s', 500],
    ['0.4ms', 0],
    ['0', 0],
    ['0s', 0],
    ['180s', 180_000],
    [' 90s ', 90_000],
  ] as const)('%s', ([text, ms]) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.for([
    [''],
    [' '],
    ['5'],
    ['00'],
    ['s'],
    ['-5s'],
    ['+5s'],
    ['5 s'],
    ['1h 30m'],
    ['1m30'],
    ['30min'],
    ['5S'],
    ['1e3s'],
    ['.5s'],
    ['5.s'],
    ['1,5h'],
    ['0x10s'],
    ['Infinityd'],
    ['five minutes'],
    ['5s\n5x'],
    ['٥s'],
    ['999999999999999999d'],
  ] as const)('is not %o', ([text]) => {
    expect(parseDuration(text)).toBeNull();
  });

  test.for([['100000000d'], ['104249991d']] as const)(
    'that is accepted fits the range of dates: %s',
    ([text]) => {
      // A Date ends in the year 275760; a limit beyond it must be refused, not crash the run.
      const ms = parseDuration(text);
      expect(() => (ms === null ? null : newTask(loopPolicy(), ms))).not.toThrow();
    },
  );
});

describe('a written duration', () => {
  test.for([
    [0, '0'],
    [500, '500ms'],
    [90_000, '1m30s'],
    [180_000, '3m'],
    [5_400_000, '1h30m'],
    [604_800_000, '7d'],
    [93_784_005, '1d2h3m4s5ms'],
  ] as const)('of %i ms is %s, which parses to the same duration', ([ms, text]) => {
    expect(writeDuration(ms)).toBe(text);
    expect(parseDuration(text)).toBe(ms);
  });
});
