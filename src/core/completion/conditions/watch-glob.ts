import { type Condition, quotedPhrases } from './condition.ts';

/** Holds if a file that matches one of the patterns is new or has changed since the task's start. */
export const WATCH_GLOB: Condition = {
  kind: 'watch-glob',
  settings: ['watchGlob', 'watchExisting'],
  byWords: false,
  isSlow: true,
  isSet: ({ watchGlobs }) => watchGlobs.length > 0,
  describe: ({ watchGlobs }) => `a new or changed file matches ${quotedPhrases(watchGlobs)}`,
  // An agent that was cut off may have left half a file. So a file counts only if the iteration ended well, or if
  // there are checks.
  check: ({ outcome, sightings, policy }) =>
    outcome.kind === 'answered' || outcome.kind === 'bounded' || policy.verify.length > 0
      ? (sightings.watchMatches[0] ?? null)
      : null,
};
