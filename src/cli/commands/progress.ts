import path from 'node:path';
import { type ProgressReport, progressReport } from '../../core/completion/progress-report.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { probeFolder } from '../../effects/files/folder-probe.ts';
import { leaveRequest } from '../../effects/state/requests.ts';
import { UsageError } from '../../errors.ts';
import { findOpenTask, notLive } from '../tasks/find-task.ts';
import { type FolderOptions, foldersOf, type TaskFolders } from '../tasks/named-folders.ts';

export interface ProgressOptions extends FolderOptions {
  /** A number as it was typed, not yet parsed; `done` is one, too. */
  readonly total?: string;
  readonly done?: string;
  readonly step?: string;
}

/** `ralph progress [ID]`: reports progress from a script. Inside a loop the id defaults to the task of the loop. */
export async function progress(
  id: string | undefined,
  options: ProgressOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const report = reportOf(options);
  const { taskId, place } = whereabouts(id, options, env);
  requireOutside(place.stateDir, report, env);
  const found = findOpenTask(taskId, place);
  const { paths, standing, state } = found;
  if (state.kept_by === 'library') {
    const { RalphService } = await import('../../service/ralph-service.ts');
    await new RalphService({ vault: place.vault, stateDir: place.stateDir }).updateProgress(
      taskId,
      { stepsTotal: report.total, stepsCompleted: report.done, currentStep: report.step },
    );
  } else {
    if (standing !== 'live') throw notLive(found);
    await leaveRequest(paths.folder, { kind: 'progress', report }, new Date().toISOString());
  }
  return 0;
}

/** Throws a `UsageError` inside the sandbox if the state is read-only there, and says how the agent reports instead. */
function requireOutside(
  stateDir: string,
  { total, done, step }: ProgressReport,
  env: NodeJS.ProcessEnv,
): void {
  if (env.RALPH_IN_SANDBOX !== '1' || probeFolder(stateDir).kind !== 'not-writable') return;
  throw new UsageError([
    `ralph progress cannot write the state of a task from inside the sandbox: say <progress done="${done}" total="${total}">${step}</progress> in the final message.`,
  ]);
}

function reportOf({ total, done, step = '' }: ProgressOptions): ProgressReport {
  const problems = [
    ...(isCount(total) ? [] : [expected('--total', 'from 1', total)]),
    ...(isCount(done) ? [] : [expected('--done', 'from 0', done)]),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  const report = progressReport(Number(done), Number(total), maskSecrets(step));
  if (report === null) {
    throw new UsageError([
      `--done expects a number no larger than --total, which must be at least 1; found ${done} of ${total}.`,
    ]);
  }
  return report;
}

function isCount(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,9}$/.test(text);
}

function expected(flag: string, from: string, found: string | undefined): string {
  const what = found === undefined ? 'found none' : `found '${found}'`;
  return `${flag} expects a whole number ${from}; ${what}.`;
}

/** Returns the task's id and folders. Inside a loop, the id and the folders default to those of the loop's own task. */
function whereabouts(
  id: string | undefined,
  options: FolderOptions,
  env: NodeJS.ProcessEnv,
): { readonly taskId: string; readonly place: TaskFolders } {
  const { RALPH_RUN_ID, RALPH_TASK_ID, RALPH_STATE_FILE } = env;
  const ownId = RALPH_RUN_ID ? RALPH_TASK_ID : undefined;
  const taskId = id ?? ownId;
  if (taskId === undefined) {
    throw new UsageError([
      'ralph progress expects the id of a task; you can omit it only inside a loop.',
    ]);
  }
  const place = foldersOf(options, env);
  const isPlaceGiven = options.vault !== undefined || options.stateDir !== undefined;
  if (isPlaceGiven || taskId !== ownId || !RALPH_STATE_FILE) return { taskId, place };
  return { taskId, place: { ...place, stateDir: path.dirname(RALPH_STATE_FILE) } };
}
