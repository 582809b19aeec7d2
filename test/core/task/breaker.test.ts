import { describe, expect, test } from 'vitest';
import { afterIteration, breakerVerdict, normalisedError } from '../../../src/core/task/breaker.ts';
import { type BreakerState, NO_BREAKER } from '../../../src/core/task/task-state.ts';

const moved = { progress: true, error: null };
const idle = { progress: false, error: null };
const unknown = { progress: null, error: null };
const failed = (error: string) => ({ progress: false, error });

type News = Parameters<typeof afterIteration>[1];

function counted(...news: readonly News[]): BreakerState {
  return news.reduce(afterIteration, NO_BREAKER);
}

describe('iterations without progress', () => {
  test.for<[string, readonly News[], number]>([
    ['are counted', [idle, idle, idle], 3],
    ['are forgotten with progress', [idle, idle, moved], 0],
    ['are counted anew after progress', [idle, moved, idle], 1],
    ['are counted where they failed', [failed('a'), failed('b')], 2],
    ['are not counted where no sign can be looked at', [unknown, unknown, unknown], 0],
    ['are not forgotten where one could not be looked at', [idle, unknown, idle], 2],
  ])('%s', ([, news, count]) => {
    expect(counted(...news).no_progress).toBe(count);
  });
});

describe('iterations with one error', () => {
  const lost = { progress: null, error: 'connection lost' };
  test.for<[string, readonly News[], number]>([
    ['are counted', [failed('a'), failed('a')], 2],
    ['are counted by the normalised error', [failed('line 3 of /a/b'), failed('line 4 of /c')], 2],
    ['begin at 1 with another error', [failed('a'), failed('a'), failed('b')], 1],
    ['are forgotten with progress', [failed('a'), moved], 0],
    ['are forgotten with progress in a failed one', [failed('a'), { ...moved, error: 'a' }], 0],
    ['are not forgotten with one that idles', [failed('a'), idle, failed('a')], 2],
    ['are counted where no sign can be looked at', [lost, lost], 2],
    ['are forgotten with one that went well where no sign can be looked at', [lost, unknown], 0],
  ])('%s', ([, news, count]) => {
    expect(counted(...news).same_error).toBe(count);
  });

  test('clear the error after progress', () => {
    expect(counted(failed('exit code 3')).last_error).toBe('exit code #');
    expect(counted(failed('exit code 3'), moved)).toEqual(NO_BREAKER);
  });
});

describe('the breaker', () => {
  const limits = { noProgressLimit: 3, sameErrorLimit: 5 };
  const at = (no_progress: number, same_error: number): BreakerState => ({
    no_progress,
    same_error,
    last_error: 'a',
  });

  test.for([
    ['stays closed below both limits', at(2, 4), null],
    ['opens without progress', at(3, 4), ['no-progress', 3, '--no-progress-limit']],
    ['opens by the same error', at(0, 5), ['same-error', 5, '--same-error-limit']],
    ['names the error where both hold', at(3, 5), ['same-error', 5, '--same-error-limit']],
    ['stays open beyond the limit', at(4, 0), ['no-progress', 4, '--no-progress-limit']],
  ] as const)('%s', ([, breaker, expected]) => {
    const verdict = breakerVerdict(breaker, limits);
    expect(verdict && [verdict.reason, verdict.count, verdict.flag]).toEqual(expected);
  });

  test('ignores a limit of 0', () => {
    expect(breakerVerdict(at(9, 0), { ...limits, noProgressLimit: 0 })).toBeNull();
    expect(breakerVerdict(at(0, 9), { ...limits, sameErrorLimit: 0 })).toBeNull();
    expect(breakerVerdict(at(0, 0), { noProgressLimit: 0, sameErrorLimit: 0 })).toBeNull();
  });
});

describe('two reports of one error are equal', () => {
  test.for([
    ['numbers', 'exited with code 1 after 3 tries', 'exited with code 137 after 12 tries'],
    ['counted things', 'worker3 died', 'worker14 died'],
    ['durations', 'took 900 ms', 'took 1.2s'],
    ['sizes', 'heap of 512MB is full', 'heap of 2 GB is full'],
    ['paths', "ENOENT: no such file, open '/tmp/a/b.json'", "ENOENT: no such file, open '/c.json'"],
    ['paths with blanks', "open '/tmp/my file/b'", "open '/tmp/b'"],
    ['paths from here and home', 'in ./src/a.ts:12:3', 'in ~/b.ts:1:30'],
    ['relative paths', 'src/core/a.ts(3,4): error', 'test/b.ts(12,1): error'],
    ['paths of Windows', 'open C:\\a\\b.txt', 'open D:\\c.txt'],
    ['file addresses', 'at file:///home/a/x.js:3', 'at file:///b.js:12'],
    [
      'addresses',
      'GET https://api.example.com/v1/a?x=1 failed',
      'GET https://api.example.com/b failed',
    ],
    ['instants', 'at 2026-01-29T12:00:01.123Z: lost', 'at 2025-12-01 09:30:00 +01:00: lost'],
    ['days', 'since Mon Jan 5, 2026 10:00:01', 'since Tue, Feb 17 2026 9:15:00'],
    ['hours', 'resets 3pm', 'resets 12:30 am'],
    [
      'uuids',
      'session 8d7f2c1e-0b1a-4c3d-9e8f-0123456789ab',
      'session ffffffff-0b1a-4c3d-9e8f-aaaaaaaaaaaa',
    ],
    [
      'request ids',
      'failed (request_id: req_011CSHoEeqs5C35K2UUqR7Fy)',
      'failed (request_id: req_011ZZZoEeqs5C35K2UUqR7Aa)',
    ],
    ['hashes', 'cannot merge 09282fb', 'cannot merge a5bc640f4b93e5bbd7c57e5cf5b8f4d2c4c3a1b0'],
    ['addresses in memory', 'fault at 0x7ffdeadbeef', 'fault at 0x10'],
    ['long ids', 'job abc123DEF456ghi789JKL', 'job zzz999YYY888xxx777WWWvvv'],
    ['colours, space and line ends', '\x1b[31mlost\x1b[0m\r\n  it', 'lost it'],
  ] as const)('apart from %s', ([, one, other]) => {
    expect(normalisedError(one)).toBe(normalisedError(other));
  });
});

describe('different errors stay different', () => {
  test.for([
    ['words', 'cannot read the file', 'cannot write the file'],
    ['what is in quotes', "command 'jq' not found", "command 'yq' not found"],
    ['error codes of compilers', 'error TS2345: no', 'error TS2322: no'],
    ['error codes of the system', 'write EPIPE', 'write ECONNRESET'],
    ['hosts', 'GET https://api.example.com/v1', 'GET https://other.example.com/v1'],
    ['packages', "no module '@scope/one'", "no module '@scope/two'"],
    ['words with a slash', 'input/output error', 'and/or error'],
    ['types of content', 'application/json', 'application/xml'],
    ['words of hexadecimal letters', 'it was defaced', 'it was effaced'],
    ['names with digits in the middle', 'e2fsck failed', 'i2cdetect failed'],
  ] as const)('by %s', ([, one, other]) => {
    expect(normalisedError(one)).not.toBe(normalisedError(other));
  });

  test('the rest can still be read', () => {
    expect(
      normalisedError("ENOENT: no such file, open '/tmp/x/a.json' at 12:30:01 (req_011CSHoEeqs5)"),
    ).toBe('ENOENT: no such file, open <path> at # (<id>)');
  });
});

describe('an error of any size', () => {
  test('is cut between whole characters', () => {
    const kept = normalisedError('😀'.repeat(5_000));
    expect(kept.length).toBeLessThanOrEqual(300);
    expect(kept).not.toMatch(/\p{Surrogate}/u);
  });

  test.for(['a-', 'a1-', '/a', 'ab_', '#1 ', 'a/', "'/", '1.', '0f', 'jan '])(
    'is read quickly: %s again and again',
    (part) => {
      const startedAtMs = performance.now();
      normalisedError(part.repeat(200_000));
      expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    },
  );

  test('may be empty', () => {
    expect(normalisedError('')).toBe('');
  });
});
