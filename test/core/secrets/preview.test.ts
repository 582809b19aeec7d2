import { describe, expect, test } from 'vitest';
import { preview } from '../../../src/core/secrets/secrets.ts';
import { answered, cut, refusedTool, withoutReport } from '../../helpers/attempt-facts.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';

const BODY = 'aB3dE5gH'.repeat(6);
const KEY = `sk-ant-api03-${BODY}`;

describe('a preview', () => {
  test.for<[name: string, text: string, length: number, expected: string]>([
    ['a short text', 'All good.', 20, 'All good.'],
    ['one line of several', ' All\n\n good.\t', 20, 'All good.'],
    ['the beginning of a long one', 'abcdefghij', 5, 'abcd…'],
    ['nothing', '', 5, ''],
    ['white space only', ' \n\t ', 5, ''],
    ['no control characters', '\u001b[31mred\u001b[0m\u0007\u202e', 20, 'red'],
  ])('shows %s', ([, text, length, expected]) => {
    expect(preview(text, length)).toBe(expected);
  });

  test.for<[name: string, text: string, length: number]>([
    ['alone', KEY, 200],
    ['in a sentence', `The key is ${KEY}, keep it.`, 200],
    ['in an assignment', `DB_PASSWORD=${BODY}`, 200],
    ['in a header', `Authorization: Bearer ${BODY}`, 200],
    [
      'over several lines',
      `-----BEGIN PRIVATE KEY-----\n${BODY}\n${BODY}\n-----END PRIVATE KEY-----`,
      200,
    ],
    ['where the preview is cut in it', `${'x'.repeat(80)} ${KEY}`, 120],
    ['where the preview is cut right behind its beginning', `${'x'.repeat(80)} ${KEY}`, 100],
    ['far behind white space', `${' '.repeat(5_000)}${KEY}`, 100],
    ['coloured in the middle', `${KEY.slice(0, 20)}\u001b[31m${KEY.slice(20)}`, 200],
    ['with a control character in it', `${KEY.slice(0, 20)}\u0000${KEY.slice(20)}`, 200],
  ])('masks a credential %s', ([, text, length]) => {
    const shown = preview(text, length);
    expect(shown).not.toContain(BODY.slice(0, 5));
    expect(shown.length).toBeLessThanOrEqual(length);
  });

  test('of any text respects its length, and is quick', () => {
    const shown = preview('=password '.repeat(100_000), 50);
    expect(shown.length).toBeLessThanOrEqual(50);
  });
});

describe('the state', () => {
  test('shows no credential in what the agent said, what failed or what was refused', () => {
    const loop = loopInHand({ delayMs: 0, promise: KEY, match: 'contains' });
    loop.start();
    loop.iterate(withoutReport(1, `error: invalid x-api-key ${KEY}`));
    loop.iterate(cut('iteration-timeout', { partialOutput: `I found ${KEY}` }));
    loop.iterate(answered('Part of it.', { refused: [refusedTool('Bash', `curl -H ${KEY}`)] }));
    loop.iterate(answered(`I found ${KEY}`));
    const { task } = loop.state();
    expect(task).toMatchObject({ status: 'completed', metrics: { iterations: 4 } });
    expect(task.iterations.map(({ output_preview }) => output_preview)).toEqual([
      expect.any(String),
      expect.stringContaining('I found sk-ant-'),
      'Part of it.',
      expect.stringContaining('I found sk-ant-'),
    ]);
    // The promise is the user's own word, and is kept as it is.
    expect(JSON.stringify({ ...task, completion_promise: null })).not.toContain(BODY);
  });
});
