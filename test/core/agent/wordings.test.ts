import { expect, test } from 'vitest';
import { failureIn } from '../../../src/core/agent/wordings.ts';

test.for([
  ['in the middle', 'one\nyou hit the limit today\nthree'],
  ['at the end, without a line end', 'one\nyou hit the limit today'],
  ['alone', 'you hit the limit today'],
] as const)('a failure is told by its whole line: %s', ([, text]) => {
  const wordings = [{ pattern: /the limit/, means: 'usage-limited' }] as const;
  expect(failureIn(text, wordings, false)).toEqual({
    means: 'usage-limited',
    words: 'you hit the limit today',
  });
});
