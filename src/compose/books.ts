// The door to the effects for the library's books: it reads and writes the state of tasks, and starts
// nothing.

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { awaitAnswer, placeRequest } from '../effects/approval-desk.ts';
export { thisPlace } from '../effects/driver-identity.ts';
export { writeNote } from '../effects/note-file.ts';
export { promptProblem } from '../effects/prompt-source.ts';
export { openTaskBooks, type TaskBooks } from '../effects/task-books.ts';
export { liveClaim } from '../effects/task-claim.ts';
export { readTaskFile } from '../effects/task-file-text.ts';
export { leadsOut, nameInside } from '../effects/vault-folders.ts';
