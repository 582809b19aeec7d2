// The light door to the effects, for commands that look at tasks or steer them: nothing of what a
// run needs is loaded behind it.

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { answerRequest, isPending } from '../effects/answer-request.ts';
export { MB, readWithin } from '../effects/bounded-read.ts';
export { thisPlace } from '../effects/driver-identity.ts';
export { parseObject } from '../effects/json-fields.ts';
export { pruneHistory } from '../effects/prune-history.ts';
export { createPlainLog, createReadableLog, type LogItem } from '../effects/readable-log.ts';
export { leaveRequest, pendingProgress } from '../effects/requests.ts';
export { readSavedSettings } from '../effects/saved-settings.ts';
export { readStateFile, tryReadStateFile } from '../effects/state-file.ts';
export { liveClaim } from '../effects/task-claim.ts';
export { inHistory, openTaskIds, type TaskPaths, taskPaths } from '../effects/task-folder.ts';
export { findTaskEntry, listTasks, readStateObject, type TaskEntry } from '../effects/task-list.ts';
export { type LogPiece, openTaskLogs } from '../effects/task-logs.ts';
export { sealOf } from '../effects/task-settings.ts';
