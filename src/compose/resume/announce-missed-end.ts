import path from 'node:path';
import type { StopCause } from '../../core/machine/loop-state.ts';
import { hasUnannouncedEnding } from '../../core/task/task-state.ts';
import { requirePlan } from '../../effects/plan/run-plan.ts';
import { readStoredPrompt, requireStoredRun } from '../../effects/plan/stored-settings.ts';
import type { SignalWatch } from '../../effects/processes/signals.ts';
import { readNewestStep, readStateFile } from '../../effects/state/state-file.ts';
import { taskPaths } from '../../effects/state/task-folder.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { messageOf } from '../../errors.ts';
import { endingNotAnnounced } from '../../report/notices.ts';
import { TaskAlreadyActiveError } from '../../task-errors.ts';
import type { RunOptions } from '../held-run.ts';
import { startRun } from '../run.ts';

/**
 * Announces how the earlier task with the id of `run` ended, if its process died before it could. Rejects only if a
 * live process runs that task. Resolves to the cause if ralph was stopped meanwhile, else to null.
 */
export async function announceMissedEnd(
  run: Pick<RunOptions, 'plan' | 'view' | 'bugs'>,
  { stops, isTrusted = false }: { stops?: () => SignalWatch; isTrusted?: boolean } = {},
): Promise<StopCause | null> {
  const { taskId } = run.plan;
  try {
    const seal = sealAt(run.plan);
    const paths = taskPaths(run.plan.stateDir, taskId);
    const file = readStateFile(paths.stateFile, seal);
    if (file.kind !== 'task' || !(file.isOwn || isTrusted)) return null;
    const { state } = file.isOwn ? readNewestStep(paths, file.state, seal) : file;
    if (!hasUnannouncedEnding(state)) return null;
    const stored = requireStoredRun(paths.folder, file.state);
    const { vault, stateDir, keyFile, env } = run.plan;
    const plan = await requirePlan({
      ...stored,
      settings: { ...stored.settings, taskId, vault, stateDir, keyFile },
      bad: new Set(),
      env,
      keptPrompt: readStoredPrompt(paths.folder, file.state),
      newTaskId: () => taskId,
      workTree: state.git.work_tree,
    });
    const resume = {
      previousTimeoutMs: stored.settings.timeout,
      previousCwd: path.resolve(stored.startDir, stored.settings.cwd ?? '.'),
      isTrusted,
      announcesOnly: true,
    };
    const more = stops === undefined ? {} : { stops: stops() };
    return (await startRun({ ...run, plan, resume, ...more })).stoppedBy;
  } catch (error) {
    if (error instanceof TaskAlreadyActiveError) throw error;
    run.view.notice(endingNotAnnounced(taskId, messageOf(error)));
    return null;
  }
}
