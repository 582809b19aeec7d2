import { type Condition, commandSucceeded } from './condition.ts';

/** Holds if the user's command succeeds. */
export const UNTIL: Condition = {
  kind: 'until',
  settings: ['until'],
  byWords: false,
  isSet: ({ until }) => until !== null,
  describe: ({ until }) => `the command '${until}' succeeds`,
  command: ({ until }) => until,
  check: (view) => commandSucceeded(view, 'until'),
};
