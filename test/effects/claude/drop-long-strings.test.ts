import { describe, expect, test } from 'vitest';
import { dropLongStrings } from '../../../src/effects/claude/drop-long-strings.ts';

describe('dropLongStrings', () => {
  const drop = (value: unknown) =>
    dropLongStrings(Buffer.from(JSON.stringify(value)), { maxBytes: 8 }) ?? '';

  test.for([
    ['short', 'short'],
    ['12345678', '12345678'],
    ['123456789', ''],
    ['€€€', ''],
    ['"quotes" in "it"', ''],
    ['ends in a backslash\\', ''],
    ['\\\\', '\\\\'],
    ['\\"\\', '\\"\\'],
    ['\\\\"\\\\"\\\\"', ''],
  ] as const)('makes of %j %j and leaves what stands around it', ([value, expected]) => {
    const around = (inner: string) => ({ a: 'x', b: [inner, 1], c: { d: inner }, e: '🙂' });
    expect(JSON.parse(drop(around(value)))).toEqual(around(expected));
  });

  test('gives nothing where a string does not end', () => {
    expect(dropLongStrings(Buffer.from('{"a":"never ending\\"}'), { maxBytes: 8 })).toBe('');
    expect(dropLongStrings(Buffer.from(''), { maxBytes: 8 })).toBe('');
  });

  test.for([
    ['deep', `{"a":"123456789","b":${'['.repeat(501)}`],
    ['with too much in it', `{"a":"123456789","b":[${'[],'.repeat(1_000_000)}0]}`],
  ] as const)('gives null for a line that is too %s', ([, line]) => {
    expect(dropLongStrings(Buffer.from(line), { maxBytes: 8 })).toBeNull();
  });

  describe('up to a last member', () => {
    const upTo = (line: string) =>
      JSON.parse(dropLongStrings(Buffer.from(line), { maxBytes: 8, lastMember: 'last' }) ?? '');

    test.for([
      ['{"a":1,"last":{"b":[{"c":"123456789"}]},"d":2}', { a: 1, last: { b: [{ c: '' }] } }],
      ['{"last":[[],{}],"d":{"last":1}}', { last: [[], {}] }],
      ['{"last":{}}', { last: {} }],
      ['{"a":{"last":{"b":1}},"c":2}', { a: { last: { b: 1 } }, c: 2 }],
      ['{"a":"last","c":{"d":1},"e":2}', { a: 'last', c: { d: 1 }, e: 2 }],
      ['{"a":"}]{[","last":{"b":"}"},"c":2}', { a: '}]{[', last: { b: '}' } }],
      ['{"a":1}', { a: 1 }],
    ] as const)('%s', ([line, expected]) => {
      expect(upTo(line)).toEqual(expected);
    });

    test('reads nothing of what stands behind it', () => {
      expect(upTo('{"last":{"b":1},"c":"never ending')).toEqual({ last: { b: 1 } });
    });
  });
});
