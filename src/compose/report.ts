// The door to the effects for `ralph report`.

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { readJournal } from '../effects/journal-span.ts';
export { openNotes, openRequests } from '../effects/open-matters.ts';
export { listTasksSince } from '../effects/task-list.ts';
export { writeFileAtomic } from '../effects/write-file.ts';
