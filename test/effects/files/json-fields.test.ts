import { describe, expect, test } from 'vitest';
import { maskDeep } from '../../../src/core/secrets/secrets.ts';
import { exceedsBounds, MOST_LEVELS, parseObject } from '../../../src/effects/files/json-fields.ts';

/** A list of lists of lists …, `levels` deep, within a text of at least `length` characters. */
function lists(levels: number, length = 0): string {
  return `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`.padEnd(length);
}

/** Longer than what is parsed without a look. */
const LONG = 10_000;

describe('a text of JSON', () => {
  test('may have so many levels, and no more', () => {
    expect(parseObject(lists(MOST_LEVELS, LONG))).not.toBeNull();
    expect(parseObject(lists(MOST_LEVELS + 1, LONG))).toBeNull();
    expect(exceedsBounds(lists(MOST_LEVELS + 1, LONG))).toBe(true);
  });

  test('may have a million lists and objects, and no more', () => {
    const holding = (count: number): string => `{"a":[${'{},'.repeat(count - 2)}0]}`;
    expect(exceedsBounds(holding(1_000_000))).toBe(false);
    expect(exceedsBounds(holding(1_000_001))).toBe(true);
  });

  test.for([
    ['in a string', `{"a":"${'['.repeat(LONG)}"}`],
    ['behind an escaped quote', `{"a":"\\"${'['.repeat(LONG)}"}`],
    ['behind escaped backslashes', `{"a":"\\\\\\"${'['.repeat(LONG)}"}`],
    ['in a name', `{"${'{'.repeat(LONG)}":1}`],
    ['one after the other', `{"a":[${'[],'.repeat(LONG)}1]}`],
  ] as const)('may have any number of brackets %s', ([, json]) => {
    expect(parseObject(json)).not.toBeNull();
  });

  test('is seen through where a string ends before the brackets', () => {
    expect(exceedsBounds(`{"a\\\\":${'['.repeat(LONG)}`)).toBe(true);
  });

  test('that breaks off in a string is none', () => {
    expect(parseObject(`{"a":"${'x'.repeat(LONG)}`)).toBeNull();
  });

  test('is held to them at any length', () => {
    const lengths = Array.from({ length: 1_000 }, (_, more) => MOST_LEVELS + 1 + more);
    expect(lengths.filter((levels) => parseObject(lists(levels)) !== null)).toEqual([]);
  });

  test('is walked through at its deepest', () => {
    const deepest = lists(MOST_LEVELS);
    const value = parseObject(deepest);
    expect(JSON.stringify(value)).toBe(deepest);
    expect(maskDeep(value)).toEqual(value);
  });
});
