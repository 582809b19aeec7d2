import type { Condition } from './condition.ts';

/** Holds if the agent states the promise in its final message. */
export const PROMISE: Condition = {
  kind: 'promise',
  settings: ['promise'],
  byWords: true,
  isSet: ({ promise }) => promise !== null,
  describe: ({ promise }) => `'<promise>${promise}</promise>' is satisfied`,
  check: ({ outcome, verdict }) =>
    outcome.kind === 'answered' && verdict.kind === 'stated' ? verdict.line : null,
};
