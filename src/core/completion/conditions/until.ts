import type { Condition } from './condition.ts';

/** The user's command succeeds. */
export const UNTIL: Condition = {
  kind: 'until',
  settings: ['until'],
  byWords: false,
  isSlow: true,
  isSet: ({ until }) => until !== null,
  describe: ({ until }) => `the command '${until}' succeeds`,
  check: ({ sightings }) =>
    sightings.until?.exitCode === 0 ? `${sightings.until.command} exited with 0` : null,
};
