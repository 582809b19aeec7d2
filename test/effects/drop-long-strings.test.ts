import { describe, expect, it } from 'vitest';
import { dropLongStrings } from '../../src/effects/drop-long-strings.ts';

describe('dropLongStrings', () => {
  const drop = (value: unknown) => dropLongStrings(Buffer.from(JSON.stringify(value)), 8);

  it.each([
    ['short', 'short'],
    ['12345678', '12345678'],
    ['123456789', ''],
    ['€€€', ''],
    ['"quotes" in "it"', ''],
    ['ends in a backslash\\', ''],
    ['\\\\', '\\\\'],
    ['\\"\\', '\\"\\'],
    ['\\\\"\\\\"\\\\"', ''],
  ])('makes of %j %j and leaves what stands around it', (value, expected) => {
    const around = (inner: string) => ({ a: 'x', b: [inner, 1], c: { d: inner }, e: '🙂' });
    expect(JSON.parse(drop(around(value)))).toEqual(around(expected));
  });

  it('gives nothing where a string does not end', () => {
    expect(dropLongStrings(Buffer.from('{"a":"never ending\\"}'), 8)).toBe('');
    expect(dropLongStrings(Buffer.from(''), 8)).toBe('');
  });
});
