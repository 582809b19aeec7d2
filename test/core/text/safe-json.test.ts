import { describe, expect, test } from 'vitest';
import { escapedJson, safeJson } from '../../../src/core/text/safe-json.ts';
import { withoutControls } from '../../../src/core/text/untrusted-text.ts';
import { HOSTILE, hostileSign } from '../../helpers/hostile-signs.ts';

describe('JSON for people', () => {
  test('escapes every character that withoutControls removes, and parses to the same value', () => {
    const wrong: string[] = [];
    const look = (code: number): void => {
      const text = `a${String.fromCodePoint(code)}b`;
      const json = safeJson({ [text]: text });
      const [[name, value] = [], ...others] = Object.entries<unknown>(JSON.parse(json));
      const isSame = name === text && value === text && others.length === 0;
      // One `expect` for each would take seconds.
      if (!isSame || withoutControls(json) !== json) wrong.push(code.toString(16));
    };
    for (let code = 0; code <= 0xffff; code += 1) look(code);
    for (let code = 0xe0000; code <= 0xe00ff; code += 1) look(code);
    expect(wrong).toEqual([]);
  });

  test('escapes each code unit as \\u and four digits', () => {
    expect(safeJson('\u009b\u202e\u200b\u2028\u007f')).toBe(
      '"\\u009b\\u202e\\u200b\\u2028\\u007f"',
    );
    expect(safeJson('\u{e0041}')).toBe('"\\udb40\\udc41"');
    expect(hostileSign(safeJson({ [HOSTILE]: [HOSTILE] }, 2))).toBeNull();
  });

  test('equals JSON.stringify if there is nothing to escape', () => {
    const value = { a: [1, null, 'é 漢 🚀 👩\u200d👧\n\t"'], b: { c: true } };
    expect(safeJson(value)).toBe(JSON.stringify(value));
    expect(safeJson(value, 2)).toBe(JSON.stringify(value, null, 2));
    expect(escapedJson(JSON.stringify(value))).toBe(JSON.stringify(value));
  });
});
