import type { Layer } from '../../core/settings/setting-source.ts';
import { packedTask, withMoreTime } from '../../effects/state/packed-state.ts';
import { taskPaths } from '../../effects/state/task-folder.ts';
import { UsageError } from '../../errors.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import { resumedSpec } from '../core/resumed-spec.ts';
import type { FleetQueue, ResumedSettings } from '../database/fleet-queue.ts';
import { stateOfRow } from './task-copy.ts';

/**
 * Returns what a resume with the limits in `flags` changes in a task. A limit such as `+5` is added to what
 * the task has used. Rejects with a `UsageError`, or with an error if the stored state (checkpoint) cannot be read.
 */
export async function planFleetResume(
  queue: Pick<FleetQueue, 'checkpoint' | 'name'>,
  facts: FleetTaskFacts,
  flags: Layer,
): Promise<ResumedSettings> {
  const { spec, updated_at: since } = facts;
  const kept = await queue.checkpoint(spec.task_id);
  // The state is in no file, so errors name the fleet in place of a folder.
  const paths = taskPaths(queue.name, spec.task_id);
  const task = kept === null ? stateOfRow(facts) : packedTask(paths, kept.packed);
  const { settings, moreMs, problems } = resumedSpec(spec, flags, task);
  if (problems.length > 0) throw new UsageError(problems);
  // Without a checkpoint, the time limit comes from the settings alone.
  const packed = kept === null || moreMs === 0 ? null : withMoreTime(paths, kept.packed, moreMs);
  return { since, settings, packed };
}
