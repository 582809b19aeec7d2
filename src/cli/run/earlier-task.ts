import { rowOfState } from '../../core/task/endings.ts';
import { hasUnannouncedEnding } from '../../core/task/task-state.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { isUntold, readNewestStep } from '../../effects/state/state-file.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { LeftToPersonError } from '../../task-errors.ts';
import { type FoundTask, findTask, resumeCommandHere } from '../tasks/find-task.ts';

/** An earlier task with the id of a new run. */
interface EarlierTask {
  /** Whether its last driver died before it announced how the task ended. */
  readonly isUntold: boolean;
  /**
   * Whether the earlier task should be resumed instead of replaced. Throws if it cannot be read, and a
   * `LeftToPersonError` if a person has to decide.
   */
  readonly isOpen: () => boolean;
}

/** Finds the earlier task with the id of a new run. If there is none, both answers are no. */
export function earlierTask(plan: RunPlan): EarlierTask {
  try {
    const found = findTask(plan.taskId, plan);
    if (found === null) return { isUntold: false, isOpen: () => false };
    const { isInHistory, isOwn, paths, state } = found;
    const mayBeUntold = isOwn && !isInHistory;
    return {
      isUntold:
        mayBeUntold && hasUnannouncedEnding(readNewestStep(paths, state, sealAt(plan)).state),
      isOpen: () => isOpen(found),
    };
  } catch (error) {
    const isOpen = (): boolean => {
      throw error;
    };
    return { isUntold: false, isOpen };
  }
}

function isOpen(found: FoundTask): boolean {
  const { standing, state, isInHistory, isOwn, paths } = found;
  // If the driver died after completing the task, a resume only announces the end.
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
