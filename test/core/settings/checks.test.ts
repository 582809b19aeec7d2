import { describe, expect, test } from 'vitest';
import { readChecks, writeCheck } from '../../../src/core/settings/checks.ts';
import { parseValue } from '../../../src/core/settings/parse-value.ts';
import { fromStored } from '../../../src/core/settings/stored-run.ts';

const UNIT = { name: 'unit', command: 'npm test' };
const LINT = { name: 'lint', command: 'npm run lint' };
const UNNAMED = { name: 'npm test', command: 'npm test' };

describe('checks', () => {
  test.for<[written: unknown, checks: unknown]>([
    ['npm test', [UNNAMED]],
    [
      ['npm test', 'npm run lint', 'npm test'],
      [UNNAMED, { ...LINT, name: 'npm run lint' }],
    ],
    [{ unit: 'npm test', lint: 'npm run lint' }, [UNIT, LINT]],
    [
      [UNIT, LINT],
      [UNIT, LINT],
    ],
    [{ ' two\n words ': 'a\nb' }, [{ name: 'two words', command: 'a\nb' }]],
    ['a\nb', [{ name: 'a b', command: 'a\nb' }]],
    // Commands that look alike on one line differ.
    [
      ['a b', 'a\nb'],
      [
        { name: 'a b', command: 'a b' },
        { name: 'a b', command: 'a\nb' },
      ],
    ],
    [{}, []],
    [[], []],
  ])('are read from %j', ([written, expected]) => {
    expect(readChecks(written)).toEqual(expected);
  });

  test.for([7, true, null, [7], { unit: 7 }, { unit: ['npm test'] }, [{ name: 'unit' }]])(
    'are not read from %j',
    (written) => {
      expect(parseValue({ kind: 'checks' }, written)).toMatchObject({
        problem: expect.stringContaining('expects a shell command, a list of them, or names with'),
      });
    },
  );

  test('are written as a person wrote them', () => {
    expect([UNIT, UNNAMED, { name: 'a b', command: 'a\nb' }].map(writeCheck)).toEqual([
      ...['unit: npm test', 'npm test', 'a\nb'],
    ]);
  });

  test('of an older task are stored as one command', () => {
    const stored = { verify: { value: 'npm test', source: '--verify', from: 'flag' as const } };
    const { settings, sources } = fromStored(stored);
    expect(settings.verify).toEqual([UNNAMED]);
    expect(sources.verify).toEqual({ kind: 'flag', where: '--verify' });
    const none = { verify: { value: null, source: 'default', from: 'default' as const } };
    expect(fromStored(none).settings.verify).toEqual([]);
  });
});
