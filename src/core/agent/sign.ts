/** The signs that an iteration goes wrong. Their limits are in `core/supervisor/signs.ts`. */
export const SIGN_NAMES = [
  'same-failing-call',
  'same-call',
  'refused',
  'tokens',
  'subagents',
  'money',
] as const;

export type SignName = (typeof SIGN_NAMES)[number];

/** A sign that an iteration goes wrong. */
export interface SignFound {
  readonly sign: SignName;
  /** `told`: ralph reports the sign, and the iteration goes on. `cut`: ralph ends the iteration. */
  readonly action: 'told' | 'cut';
  /** What the sign counts: calls, tokens, sub-agents, or US dollars. */
  readonly count: number;
  /** The last counted call in one line, such as `Bash: npm test`; empty for a sign that counts no calls. */
  readonly detail: string;
}

/** Returns a clause about a sign, such as `20 sub-agents were started in this iteration`. */
export function describeSign({ sign, count, detail }: SignFound): string {
  const last = detail === '' ? '' : `, the last one ${detail}`;
  switch (sign) {
    case 'same-failing-call':
      return `${calls(count, 'repeated call')} failed and nothing new worked${last}`;
    case 'same-call':
      return `${calls(count, 'call')} only repeated earlier ones that had worked${last}`;
    case 'refused':
      return `${calls(count, 'call')} ${count === 1 ? 'was' : 'were'} refused and none worked in between${last}`;
    case 'tokens':
      return `${count} tokens were used in this iteration`;
    case 'subagents':
      return `${calls(count, 'sub-agent')} ${count === 1 ? 'was' : 'were'} started in this iteration`;
    case 'money':
      return `the budget of the task was spent within this iteration ($${count.toFixed(2)})`;
  }
}

function calls(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
