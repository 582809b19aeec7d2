import { type Condition, quotedPhrases } from './condition.ts';

/** Holds if the agent states one of the signals (phrases that the user chose) in two iterations in a row. */
export const SIGNAL: Condition = {
  kind: 'signal',
  settings: ['signal'],
  byWords: true,
  isSet: ({ signals }) => signals.length > 0,
  describe: ({ signals }) => `you state ${quotedPhrases(signals)} in two iterations in a row`,
  check: ({ signalsInARow, policy }) =>
    policy.signals.length > 0 && signalsInARow >= 2
      ? `${quotedPhrases(policy.signals)} stated in ${signalsInARow} iterations in a row`
      : null,
};
