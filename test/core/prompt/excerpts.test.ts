import { describe, expect, test } from 'vitest';
import { excerpts } from '../../../src/core/prompt/excerpts.ts';

const LONG = `begins ${'m'.repeat(5_000)} ends`;

describe('excerpts', () => {
  test.for<[outputs: readonly string[]]>([
    [['a', 'b\n\n']],
    [[LONG]],
    [[LONG, LONG, LONG]],
    [['short', LONG, 'short too']],
    [[`${'😀'.repeat(3_000)}`, `x${'😀'.repeat(3_000)}`]],
    [Array.from({ length: 50 }, () => LONG)],
  ])('take no more room together than there is', ([outputs]) => {
    const shown = excerpts(outputs, 1_000);
    expect(shown).toHaveLength(outputs.length);
    expect(shown.join('').length).toBeLessThanOrEqual(Math.max(1_000, 60 * outputs.length));
    expect(shown.some((text) => /\p{Cs}/u.test(text))).toBe(false);
  });

  test('leave short outputs whole, and give their room to long ones', () => {
    const [short, long = ''] = excerpts(['short\n', LONG], 1_000);
    expect(short).toBe('short');
    expect(long).toMatch(/^begins m+\n\[5012 characters; the middle is left out\]\nm+ ends$/);
    expect(long.length).toBeGreaterThan(950);
  });

  test('have no colours, and none of their remains', () => {
    expect(excerpts(['\u001b[31mred\u001b[0m\r\n'], 10)).toEqual(['red']);
  });
});
