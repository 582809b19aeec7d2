import { rowOfState } from '../../core/task/endings.ts';
import { hasUnannouncedEnding } from '../../core/task/task-state.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { isUntold, readNewestStep } from '../../effects/state/state-file.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { LeftToPersonError } from '../../task-errors.ts';
import { findTask, resumeCommandHere } from '../tasks/find-task.ts';

/** Whether an earlier task with the id of a new run has ended, but its process died before announcing the end. */
export function hasUntoldEnd(plan: RunPlan): boolean {
  try {
    const found = findTask(plan.taskId, plan);
    if (found === null || !found.isOwn || found.isInHistory) return false;
    return hasUnannouncedEnding(readNewestStep(found.paths, found.state, sealAt(plan)).state);
  } catch {
    // The run itself reports a state that cannot be read.
    return false;
  }
}

/** Whether a new run resumes the earlier task with its id. Throws a `LeftToPersonError` if a person has to decide. */
export function isToBeResumed(plan: RunPlan): boolean {
  const found = findTask(plan.taskId, plan);
  if (found === null) return false;
  const { standing, state, isInHistory, isOwn, paths } = found;
  // If the process died after completing the task, a resume only announces the end.
  if (standing === 'completed') return isOwn && (!isInHistory || isUntold(paths));
  if (isInHistory) return false;
  if (standing === 'live') return true;
  const ending = rowOfState(standing, state.exit_reason);
  if (ending?.ifOpen === 'is refused') {
    throw new LeftToPersonError(
      state.task_id,
      standing === 'stalled' ? `${standing}: ${state.exit_reason}` : standing,
      resumeCommandHere(found),
      ending.exitCode,
    );
  }
  return ending === null || ending.ifOpen === 'continues';
}
