import type { SignLimits, SignName } from './supervisor.ts';

interface SignRow {
  readonly limit: keyof SignLimits;
  /** The setting that limits it. */
  readonly setting: string;
  /** The default limit; null if the sign is off. */
  readonly cutAt: number | null;
  /** What an agent has to tell while it works. */
  readonly needs: 'calls' | 'refusals' | 'tokens' | 'sub-agents' | 'cost';
  /** What a person and the next prompt read about it. */
  readonly words: (count: number, detail: string) => string;
}

/** Every sign, how it is limited, and its words. */
export const SIGNS = {
  'same-failing-call': {
    limit: 'sameFailing',
    setting: 'sameFailingLimit',
    cutAt: 20,
    needs: 'calls',
    words: (count, detail) => `the same calls failed again ${times(count)}, last: ${detail}`,
  },
  'same-call': {
    limit: 'sameCall',
    setting: 'sameCallLimit',
    cutAt: 100,
    needs: 'calls',
    words: (count, detail) => `the same calls were repeated ${times(count)}, last: ${detail}`,
  },
  refused: {
    limit: 'refused',
    setting: 'refusedLimit',
    cutAt: 20,
    needs: 'refusals',
    words: (count, detail) =>
      `${count === 1 ? 'one call was' : `${count} calls were`} refused and none worked in between, last: ${detail}`,
  },
  tokens: {
    limit: 'tokens',
    setting: 'maxIterationTokens',
    cutAt: null,
    needs: 'tokens',
    words: (count) => `${count} tokens in one iteration`,
  },
  subagents: {
    limit: 'subAgents',
    setting: 'maxSubagents',
    cutAt: null,
    needs: 'sub-agents',
    words: (count) => `${count} ${count === 1 ? 'sub-agent' : 'sub-agents'} in one iteration`,
  },
  money: {
    limit: 'moneyUsd',
    setting: 'maxCost',
    cutAt: null,
    needs: 'cost',
    words: (count) => `$${count.toFixed(2)} in one iteration, all that was left of the budget`,
  },
} as const satisfies Readonly<Record<SignName, SignRow>>;

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
