import { startRun } from '../compose.ts';
import { withoutControls } from '../core/material.ts';
import { InsideOwnLoopError, messageOf, TaskAlreadyActiveError } from '../errors.ts';
import { endNotTold } from '../report/messages.ts';
import { endedByBugs } from './bugs.ts';
import { type PlannedResume, planResume } from './commands/resume.ts';
import { viewFor } from './commands/run.ts';
import type { Place } from './place.ts';
import { outputFlags, type ReadFlags } from './settings/flags.ts';

/** Tells how a task ended whose driver died before it had: the note, the event, `--on-end`. */
export async function tellUntold({ plan, resume }: PlannedResume): Promise<void> {
  const view = await viewFor(plan.settings, {
    agent: plan.policy.agent,
    task: { ...plan, needsTrust: false },
  });
  await endedByBugs((bugs) =>
    startRun({ plan, view, bugs, resume: { ...resume, tellsOnly: true } }),
  );
}

/**
 * The same before a new run takes the id. What keeps it from being told is said, and does not keep the new
 * run from starting. Rejects only where a living driver has the task.
 */
export async function tellBeforeNew(taskId: string, place: Place, flags: ReadFlags): Promise<void> {
  try {
    const planned = await planResume(taskId, place, { ...outputFlags(flags), isTrusted: false });
    if (planned?.isUntold === true) await tellUntold(planned);
  } catch (error) {
    if (error instanceof TaskAlreadyActiveError || error instanceof InsideOwnLoopError) throw error;
    process.stderr.write(`ralph: ${endNotTold(taskId, withoutControls(messageOf(error)))}\n`);
  }
}
