import { expect, test } from 'vitest';
import { describeSign } from '../../../src/core/agent/sign.ts';

test.for([
  [
    'same-failing-call',
    20,
    '20 repeated calls failed and nothing new worked, the last one Bash: npm test',
  ],
  [
    'same-failing-call',
    1,
    '1 repeated call failed and nothing new worked, the last one Bash: npm test',
  ],
  [
    'same-call',
    100,
    '100 calls only repeated earlier ones that had worked, the last one Bash: npm test',
  ],
  ['refused', 20, '20 calls were refused and none worked in between, the last one Bash: npm test'],
  ['refused', 1, '1 call was refused and none worked in between, the last one Bash: npm test'],
] as const)('the words for %s, %i', ([sign, count, words]) => {
  expect(describeSign({ sign, action: 'cut', count, detail: 'Bash: npm test' })).toBe(words);
});

test.for([
  ['tokens', 1_200_000, '1200000 tokens were used in this iteration'],
  ['subagents', 11, '11 sub-agents were started in this iteration'],
  ['money', 5.004, 'the budget of the task was spent within this iteration ($5.00)'],
] as const)('the words for %s, %d', ([sign, count, words]) => {
  expect(describeSign({ sign, action: 'cut', count, detail: '' })).toBe(words);
});
