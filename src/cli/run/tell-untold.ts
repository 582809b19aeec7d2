import { startRun } from '../../compose/run.ts';
import { InsideOwnLoopError, messageOf, TaskAlreadyActiveError } from '../../errors.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import { endNotTold } from '../../report/messages.ts';
import { outputFlags, type ReadFlags } from '../flags/flags.ts';
import type { Place } from '../tasks/place.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { say } from '../terminal/outlet.ts';
import { type PlannedResume, planResume, type ResumeFlags } from './plan-resume.ts';
import { viewFor } from './start-run.ts';

/**
 * Announces how a task ended if its driver died before it could: writes the note and the event, and runs
 * `--on-end`. Resolves to the exit code if somebody stopped ralph meanwhile: then nothing else is started.
 */
async function tellUntold({ plan, resume }: PlannedResume): Promise<number | null> {
  const view = await viewFor(plan.settings, {
    agent: plan.policy.agent,
    task: { ...plan, needsTrust: false },
  });
  const { stoppedBy } = await endedByBugs((bugs) =>
    startRun({ plan, view, bugs, resume: { ...resume, tellsOnly: true } }),
  );
  return stoppedBy === null ? null : exitCodeFor('stopped', `stopped:${stoppedBy}`);
}

/** The same for a task that is about to be resumed, by its own settings: those of the resume come after. */
export async function tellBeforeResume(
  taskId: string,
  place: Place,
  flags: ResumeFlags,
): Promise<number | null> {
  const own = { ...outputFlags(flags), isTrusted: flags.isTrusted };
  const planned = await planResume(taskId, place, own);
  return planned?.isUntold === true ? tellUntold(planned) : null;
}

/**
 * The same before a new run takes the id. A problem with it is printed, and does not keep the new run from
 * starting. Rejects only if a living driver has the task.
 */
export async function tellBeforeNew(
  taskId: string,
  place: Place,
  flags: ReadFlags,
): Promise<number | null> {
  try {
    return await tellBeforeResume(taskId, place, { ...flags, isTrusted: false });
  } catch (error) {
    if (error instanceof TaskAlreadyActiveError || error instanceof InsideOwnLoopError) throw error;
    say(endNotTold(taskId, messageOf(error)));
    return null;
  }
}
