import { packStep } from '../../src/effects/state/packed-state.ts';
import type { LoopMemory } from '../../src/effects/state/saved-step.ts';
import { readNewestStep, readStateFile } from '../../src/effects/state/state-file.ts';
import type { TaskPaths } from '../../src/effects/state/task-folder.ts';
import type { Seal } from '../../src/effects/trust/seal.ts';

/** Packs a task as it lies in a state folder; without a memory it is packed with `null`. */
export function packState(paths: TaskPaths, seal: Seal): Uint8Array {
  const file = readStateFile(paths.stateFile, seal);
  if (file.kind !== 'task') throw new Error(`${paths.stateFile} is ${file.kind}`);
  const { state: task, step } = readNewestStep(paths, file.state, seal);
  const memory = (step?.memory ?? null) as LoopMemory;
  return packStep(paths, seal, { ...memory, task, stopRequested: null, pauseRequested: false });
}
