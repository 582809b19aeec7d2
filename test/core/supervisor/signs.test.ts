import { expect, test } from 'vitest';
import { SIGNS } from '../../../src/core/supervisor/signs.ts';

test.for([
  ['same-failing-call', 20, 'the same calls failed again 20 times, last: Bash: npm test'],
  ['same-failing-call', 1, 'the same calls failed again once, last: Bash: npm test'],
  ['same-call', 100, 'the same calls were repeated 100 times, last: Bash: npm test'],
  ['refused', 20, '20 calls were refused and none worked in between, last: Bash: npm test'],
  ['refused', 1, 'one call was refused and none worked in between, last: Bash: npm test'],
  ['tokens', 1_200_000, '1200000 tokens in one iteration'],
  ['subagents', 11, '11 sub-agents in one iteration'],
  ['money', 5.004, '$5.00 in one iteration, all that was left of the budget'],
] as const)('the words for %s, %i', ([sign, count, words]) => {
  expect(SIGNS[sign].words(count, 'Bash: npm test')).toBe(words);
});
