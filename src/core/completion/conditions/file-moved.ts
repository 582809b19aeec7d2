import type { Condition } from './condition.ts';

/** Holds if the agent has moved the watched file to the done folder. */
export const FILE_MOVED: Condition = {
  kind: 'file-moved',
  settings: ['watchFile'],
  byWords: false,
  isSet: ({ watchFile }) => watchFile !== null,
  describe: ({ watchFile, doneFolder }) => `'${watchFile}' has been moved to '${doneFolder}'`,
  check: ({ sightings }) => sightings.movedFile,
};
