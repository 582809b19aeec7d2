import { expect, test } from 'vitest';
import { limitsOf } from '../../../src/core/supervisor/signs.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';
import { NO_LIMITS } from '../../helpers/no-limits.ts';

const GIVEN = loopPolicy({ maxIterationTokens: 9, maxSubagents: 3 });

test('an agent has the limits of what it tells while it works', () => {
  const limits = { sameFailing: 20, sameCall: 100, refused: 20, tokens: 9, subAgents: 3 };
  expect(limitsOf(GIVEN, 'claude', 2)).toEqual({ ...limits, moneyUsd: null });
  expect(limitsOf(GIVEN, 'opencode', 2)).toEqual({ ...limits, subAgents: null, moneyUsd: 2 });
  expect(limitsOf(GIVEN, 'codex', 2)).toMatchObject({ sameCall: 100, tokens: null });
  expect(limitsOf(GIVEN, 'command', 2)).toEqual(NO_LIMITS);
});

test('0 turns a limit off, and --no-supervise all of them', () => {
  const policy = loopPolicy({ sameFailingLimit: 0, maxIterationTokens: 0 });
  expect(limitsOf(policy, 'claude', null)).toMatchObject({
    sameFailing: null,
    sameCall: 100,
    tokens: null,
  });
  expect(limitsOf({ ...GIVEN, supervise: false }, 'opencode', 2)).toEqual(NO_LIMITS);
});
