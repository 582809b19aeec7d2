import { say, standardOutlet } from '../../cli/terminal/outlet.ts';
import { laterBy } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { fleetPruneSummary, pruneFailure } from '../../report/screens/prune.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import { removeRefsOf } from '../worker/prune-origin.ts';
import type { OpenFleet } from './on-fleet.ts';

interface FleetPrune {
  /** How long ago a task must have ended to be removed, in milliseconds. */
  readonly ageMs: number;
  /** That time as the user wrote it, such as `30d`. */
  readonly olderThan: string;
  readonly dryRun: boolean;
  /** Whether to leave the tasks' git refs in their repositories (origins), needed if one is gone for good. */
  readonly keepRefs: boolean;
}

/**
 * `ralph prune` on a fleet: removes tasks that ended long ago, with their refs at the origins. A paused task has not
 * ended, and stays. If a task's database row cannot be read, no origin is touched, since the row may name a wrong one.
 */
export async function fleetPrune(
  { queue }: OpenFleet,
  { ageMs, olderThan, dryRun, keepRefs }: FleetPrune,
  removeRefs: typeof removeRefsOf = removeRefsOf,
): Promise<number> {
  const before = laterBy(await queue.readClock(), -ageMs);
  const old = await queue.tasks({ endedBefore: before, lean: true });
  const unreadable = await queue.unreadable({ endedBefore: before });
  const ids = [...old.map(({ spec }) => spec.task_id), ...unreadable.map(({ taskId }) => taskId)];
  // The refs are removed first: once the task is removed, nothing leads to them.
  const stillEnded = async ({ spec, ended_at }: FleetTaskFacts): Promise<boolean> =>
    (await queue.task(spec.task_id))?.ended_at === ended_at;
  const staying = dryRun || keepRefs ? [] : await removeRefs(old, process.env, stillEnded);
  const kept = new Set(staying.map(({ taskId }) => taskId));
  const removed = dryRun
    ? ids
    : await queue.prune(
        ids.filter((id) => !kept.has(id)),
        before,
      );
  for (const { taskId, why } of staying) {
    say(pruneFailure(oneLine(taskId, 128), oneLine(why.replace(/\.$/, ''), 300)));
  }
  if (staying.length > 0) say(REFS_GONE);
  const listed = dryRun ? removed.map((id) => `${oneLine(id, 128)}\n`).join('') : '';
  const summary = fleetPruneSummary({ tasks: removed.length, olderThan, dryRun });
  await standardOutlet().write(`${oneLine(queue.name, 200)}\n${listed}${summary}`);
  return staying.length === 0 ? 0 : EXIT_FAILED;
}

const REFS_GONE =
  'tasks whose refs cannot be removed stay; if their repository is gone for good, ralph prune --keep-refs removes the tasks and leaves the refs';
