import { describe, expect, test } from 'vitest';
import { escapedJson, safeJson } from '../../../src/core/text/safe-json.ts';
import { withoutControls } from '../../../src/core/text/untrusted-text.ts';
import { HOSTILE, hostileSign } from '../../helpers/hostile-signs.ts';

describe('JSON for people', () => {
  test('escapes every character that withoutControls removes, and parses to the same value', () => {
    for (let code = 0; code <= 0xffff; code += 1) {
      const text = `a${String.fromCharCode(code)}b`;
      const json = safeJson({ [text]: text });
      expect(JSON.parse(json)).toEqual({ [text]: text });
      expect(withoutControls(json)).toBe(json);
    }
    for (let code = 0xe0000; code <= 0xe00ff; code += 1) {
      const text = String.fromCodePoint(code);
      const json = safeJson(text);
      expect(JSON.parse(json)).toBe(text);
      expect(withoutControls(json)).toBe(json);
    }
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
