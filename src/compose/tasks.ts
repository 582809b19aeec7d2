// The light door to the effects, for commands that look at tasks or steer them: nothing of what a
// run needs is loaded behind it.

import { openSeal, type Seal } from '../effects/trust/seal.ts';

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { answerRequest, isPending } from '../effects/answer-request.ts';
export { MB, readWithin } from '../effects/bounded-read.ts';
export { thisPlace } from '../effects/driver-identity.ts';
export { parseObject } from '../effects/json-fields.ts';
export { pruneHistory } from '../effects/prune-history.ts';
export { createPlainLog, createReadableLog, type LogItem } from '../effects/readable-log.ts';
export { leaveRequest, pendingProgress } from '../effects/requests.ts';
export { readSavedSettings } from '../effects/saved-settings.ts';
export {
  isUntold,
  readNewestStep,
  readStateFile,
  tryReadStateFile,
} from '../effects/state-file.ts';
export { liveClaim } from '../effects/task-claim.ts';
export { inHistory, openTaskIds, type TaskPaths, taskPaths } from '../effects/task-folder.ts';
export { findTaskEntry, listTasks, readStateObject, type TaskEntry } from '../effects/task-list.ts';
export { type LogPiece, openTaskLogs } from '../effects/task-logs.ts';
export { foreignFiles } from '../effects/trust/foreign-files.ts';
export { keyFlag } from '../effects/trust/key.ts';
export type { Seal };

/** Where states lie, and the key by which one's own are known. */
export interface SealedPlace {
  readonly stateDir: string;
  readonly keyFile: string | null;
}

/** The seal of a place, for commands that look: no key is made for them. */
export function sealAt({ stateDir, keyFile }: SealedPlace, create = false): Seal {
  return openSeal({ stateDir, keyFile, env: process.env, create });
}
