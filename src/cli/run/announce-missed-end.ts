import type { PlannedResume } from '../../compose/resume/plan-resume.ts';
import { startRun } from '../../compose/run.ts';
import { promptPreview } from '../../effects/plan/task-facts.ts';
import { InsideLoopError, messageOf } from '../../errors.ts';
import { stopCode } from '../../exit-codes.ts';
import { endingNotAnnounced } from '../../report/notices.ts';
import { TaskAlreadyActiveError } from '../../task-errors.ts';
import { outputFlags, type ReadFlags } from '../flags/flags.ts';
import type { TaskFolders } from '../tasks/named-folders.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { say } from '../terminal/outlet.ts';
import { planAskedResume, type ResumeFlags } from './plan-resume.ts';
import { viewFor } from './start-run.ts';

/**
 * Announces how a task ended: writes the note and the event, and runs `--on-end`. Resolves to the exit code
 * if somebody stopped ralph meanwhile, so that nothing else is started, or else to null.
 */
async function tellUntold({ plan, resume }: PlannedResume): Promise<number | null> {
  const view = await viewFor(plan.settings, {
    agent: plan.policy.agent,
    asked: promptPreview(plan),
    task: { ...plan, needsTrust: false },
  });
  const { stoppedBy } = await endedByBugs((bugs) =>
    startRun({ plan, view, bugs, resume: { ...resume, announcesOnly: true } }),
  );
  return stopCode(stoppedBy);
}

/**
 * Call this before a resume: if the task's driver died before it announced the end, announces that with the
 * task's own settings. Resolves to an exit code if somebody stopped ralph meanwhile, or else to null.
 */
export async function announceBeforeResume(
  taskId: string,
  place: TaskFolders,
  flags: ResumeFlags,
): Promise<number | null> {
  const own = { ...outputFlags(flags), isTrusted: flags.isTrusted, hasReadConfig: true };
  const planned = await planAskedResume(taskId, place, own);
  return planned?.isUntold === true ? tellUntold(planned) : null;
}

/**
 * Call this before a new run takes the id: does what `announceBeforeResume` does, but prints a problem and lets
 * the new run start. Rejects if a live driver has the task, or inside the task's own loop.
 */
export async function announceBeforeNew(
  taskId: string,
  place: TaskFolders,
  flags: ReadFlags,
): Promise<number | null> {
  try {
    return await announceBeforeResume(taskId, place, { ...flags, isTrusted: false });
  } catch (error) {
    if (error instanceof TaskAlreadyActiveError || error instanceof InsideLoopError) throw error;
    say(endingNotAnnounced(taskId, messageOf(error)));
    return null;
  }
}
