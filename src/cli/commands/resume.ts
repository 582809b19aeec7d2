import { tryReadStateFile } from '../../effects/state/state-file.ts';
import { openTaskIds, taskPaths } from '../../effects/state/task-folder.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { fleetNamed } from '../../fleet/cli/which-fleet.ts';
import { completedByAnother } from '../../report/notices.ts';
import { readResumeFlags } from '../flags/resume-flags.ts';
import { announceEarlierEnd } from '../run/announce-missed-end.ts';
import { planAskedResume, type ResumeFlags } from '../run/plan-resume.ts';
import { runPlan } from '../run/start-run.ts';
import { existingTask, standingOf } from '../tasks/find-task.ts';
import { foldersGiven, foldersNamed, type TaskFolders } from '../tasks/named-folders.ts';
import { steeredTask } from '../tasks/named-task.ts';
import { personAt } from '../terminal/ask-person.ts';
import { say } from '../terminal/outlet.ts';

/** `ralph resume [ID]`: resumes a task that is not completed and that no process is running. */
export async function runResume(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const { store, ...flags } = readResumeFlags(argv);
  if (flags.wantsHelp) return help();
  const fleet = fleetNamed({ ...store, ...foldersGiven(flags.layer) }, process.env);
  if (fleet !== null) {
    const { resumeOnFleet } = await import('../../fleet/cli/resume.ts');
    return resumeOnFleet(fleet, store, flags);
  }
  const place = foldersNamed(flags.layer);
  // With an id, the flags' problems are reported later, with those of the task. Without an id, there may be no task.
  if (flags.taskId === null && flags.problems.length > 0) throw new UsageError(flags.problems);
  const taskId =
    flags.taskId === null
      ? onlyCandidate(place, flags.isTrusted)
      : steeredTask(flags.taskId, place);
  // A background run starts from the words of `again` and cannot ask which task is meant, so they need the whole id.
  const again = ['resume', ...argv.map((word) => (word === flags.taskId ? taskId : word))];
  return resumeTask(taskId, place, flags, again);
}

/**
 * Resumes a task; the flags override its stored settings. `again` is the command line that does so in the background.
 * Resolves to the exit code.
 */
export async function resumeTask(
  taskId: string,
  place: TaskFolders,
  flags: ResumeFlags,
  again: readonly string[],
): Promise<number> {
  // With `--json` the caller is a program, so nobody would answer whether the configuration may be trusted.
  const ask = flags.layer.json === undefined ? personAt(process.env) : null;
  const planned = await planAskedResume(taskId, place, flags, { ask });
  if (planned === null) return tellCompleted(taskId, place);
  if (planned.takenOver !== null) say(planned.takenOver);
  if (planned.isUntold && !planned.plan.settings.dryRun) {
    const stopped = await announceEarlierEnd(planned.plan, flags.isTrusted);
    if (stopped !== null) return stopped;
  }
  return runPlan({ ...planned, notices: [], again });
}

function tellCompleted(taskId: string, place: TaskFolders): number {
  if (!existingTask(taskId, place).isOwn) {
    const { problem } = sealAt(place);
    say(completedByAnother(taskId, problem));
    return EXIT_FAILED;
  }
  say(`${taskId} is already completed; there is nothing to resume`);
  return 0;
}

/**
 * Returns the id of the only task that can be resumed. If there are several, throws an error that lists them. Tasks
 * that somebody else wrote count only with `--trust`, or if the user has no task of their own.
 */
function onlyCandidate(place: TaskFolders, isTrusted: boolean): string {
  const seal = sealAt(place);
  const open = openTaskIds(place.stateDir).flatMap((taskId) => {
    const file = tryReadStateFile(taskPaths(place.stateDir, taskId).stateFile, seal);
    if (file.kind !== 'task') return [];
    const isOver = ['live', 'completed'].includes(standingOf(file.state));
    return isOver ? [] : [{ taskId, isOwn: file.isOwn }];
  });
  const own = open.filter(({ isOwn }) => isOwn);
  const candidates = (isTrusted || own.length === 0 ? open : own).map(({ taskId }) => taskId);
  const [only, ...others] = candidates;
  if (only === undefined) {
    throw new UsageError([
      `nothing to resume in ${place.stateDir}; look with ralph status, or name another --vault.`,
    ]);
  }
  if (others.length > 0) {
    throw new UsageError([
      `ralph resume expects the id of a task, since there are several to resume: ${candidates.join(', ')}.`,
    ]);
  }
  return only;
}
