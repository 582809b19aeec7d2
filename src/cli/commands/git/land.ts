import { existsSync } from 'node:fs';
import path from 'node:path';
import { HINT_MAX_BYTES } from '../../../core/prompt/hints.ts';
import { maskSecrets } from '../../../core/secrets/secrets.ts';
import {
  canTaskFix,
  type LandingForm,
  type LandingRefusal,
  landingChecks,
} from '../../../core/snapshots/landing.ts';
import { shownPath } from '../../../core/snapshots/shown-path.ts';
import { clip } from '../../../core/text/untrusted-text.ts';
import { isOfRun, requireStoredRun } from '../../../effects/plan/stored-settings.ts';
import { foreignFiles } from '../../../effects/state/foreign-files.ts';
import { leaveRequest } from '../../../effects/state/requests.ts';
import { taskPaths } from '../../../effects/state/task-folder.ts';
import { sealAt } from '../../../effects/trust/seal.ts';
import { UsageError } from '../../../errors.ts';
import { EXIT_FAILED } from '../../../exit-codes.ts';
import { commandHere } from '../../../printed-command.ts';
import {
  type LandingFacts,
  landingHint,
  landingText,
  staysText,
} from '../../../report/screens/land.ts';
import { UntrustedTaskError } from '../../../task-errors.ts';
import { readResumeFlags } from '../../flags/resume-flags.ts';
import { existingTask, type FoundTask, refuseInsideOwnLoop } from '../../tasks/find-task.ts';
import {
  type FolderOptions,
  foldersOf,
  startFolder,
  type TaskFolders,
} from '../../tasks/named-folders.ts';
import { steeredTask } from '../../tasks/named-task.ts';
import { personAt } from '../../terminal/ask-person.ts';
import { say } from '../../terminal/outlet.ts';
import { resumeTask } from '../resume.ts';

export interface LandOptions extends FolderOptions {
  readonly onto?: string;
  readonly merge?: boolean;
  readonly patch?: string;
  readonly continueTask?: boolean;
  readonly yes?: boolean;
}

/** `ralph land ID`: brings the work of a task into a branch, if the task's checks pass on the merged files. */
export async function landCommand(word: string, options: LandOptions): Promise<number> {
  const form = formOf(options);
  const place = foldersOf(options);
  const taskId = steeredTask(word, place);
  const found = existingTask(taskId, place);
  const paths = taskPaths(place.stateDir, taskId);
  refuseInsideOwnLoop('land', taskId, paths.stateFile, process.env);
  refuseForeign(found, place);
  if (!isOfRun(found.state)) {
    throw new UsageError([
      `ralph land expects a task of ralph run; another program keeps ${taskId}, and its work is where that program put it.`,
    ]);
  }
  const stored = requireStoredRun(found.paths.folder, found.state);
  if (!mayLand(taskId, found, options)) return EXIT_FAILED;
  const { landTask } = await import('../../../compose/git-commands/land.ts');
  const { end, stays, elsewhere, onto } = await landTask({
    ...{ state: found.state, stored, paths, form, vault: place.vault },
    ...{ folder: found.paths.folder, seal: sealAt(place) },
    ...{ onto: options.onto ?? null, apart: null, removesTree: false },
    env: process.env,
    keyFile: place.keyFile,
    warn: say,
    onWait: (pid) =>
      say(`waiting for another landing in this repository${pid === null ? '' : ` (pid ${pid})`}`),
  });
  const checks = landingChecks(found.state, stored.settings).length;
  const file = form.kind === 'patch' ? form.file : null;
  const facts = { taskId, onto, checks, file, elsewhere };
  say(maskSecrets(landingText(end, facts)));
  const left = staysText(new Map([...stays].map(([name, why]) => [shownPath(name), why])));
  if (left !== null) say(left);
  if (end.kind !== 'refused') return 0;
  return options.continueTask === true
    ? continueTask(found, end.why, facts, place, options)
    : EXIT_FAILED;
}

function formOf({ merge = false, patch }: LandOptions): LandingForm {
  if (patch === undefined) return { kind: merge ? 'merge' : 'squash' };
  if (merge) throw new UsageError(['ralph land expects one of --merge and --patch; found both.']);
  const file = path.resolve(startFolder(), patch);
  if (existsSync(file)) {
    throw new UsageError([`--patch expects a new file; ${file} exists. Name another one.`]);
  }
  if (!existsSync(path.dirname(file))) {
    throw new UsageError([
      `--patch expects a file in an existing folder; there is none at ${path.dirname(file)}.`,
    ]);
  }
  return { kind: 'patch', file };
}

/** Throws an `UntrustedTaskError` unless seals (checksums) show that this user's ralph wrote the task and commands. */
function refuseForeign({ state, paths, isOwn }: FoundTask, place: TaskFolders): void {
  const seal = sealAt(place);
  const [changed] = isOwn ? foreignFiles(paths.folder, state, seal) : [];
  if (isOwn && changed === undefined) return;
  const why =
    seal.problem !== null
      ? `cannot be told from a forged one (${seal.problem.replace(/\.$/, '')})`
      : changed === undefined
        ? 'was not written by you here'
        : `was changed by somebody else (${changed})`;
  throw new UntrustedTaskError(state.task_id, place.stateDir, why, []);
}

/** Whether a task may land; asks a person if it is not completed. Throws a `UsageError` if nobody can be asked. */
function mayLand(taskId: string, { standing }: FoundTask, { yes }: LandOptions): boolean {
  // A live task is refused later, when its process is found to hold the task.
  if (standing === 'completed' || standing === 'live' || yes === true) return true;
  const ask = personAt(process.env);
  if (ask !== null) return ask(`ralph: ${taskId} is not completed (${standing}). Land it? [y/N] `);
  throw new UsageError([
    `ralph land expects a task that is completed; ${taskId} is ${standing}. With --yes it lands all the same.`,
  ]);
}

/** Resumes a task and tells its agent why the work did not land. Never resolves to 0, since nothing has landed. */
async function continueTask(
  { state, standing }: FoundTask,
  why: LandingRefusal,
  facts: LandingFacts,
  place: TaskFolders,
  options: LandOptions,
): Promise<number> {
  const { taskId } = facts;
  if (!canTaskFix(why)) {
    say(`${taskId} does not continue, since it could do nothing about that`);
    return EXIT_FAILED;
  }
  const paths = taskPaths(place.stateDir, taskId);
  const seal = sealAt(place, true);
  if (standing === 'completed') {
    const { reopenTask } = await import('../../../compose/git-commands/reopen.ts');
    const hindrance = await reopenTask(paths, state, { seal, vault: place.vault });
    if (hindrance !== null) {
      say(`${taskId} is completed and cannot be opened again: ${hindrance}`);
      return EXIT_FAILED;
    }
  }
  const text = clip(maskSecrets(landingHint(why, facts)), HINT_MAX_BYTES / 4);
  await leaveRequest(paths.folder, { kind: 'tell', text }, new Date().toISOString(), seal);
  const flags = (['vault', 'stateDir', 'keyFile'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name.replace(/[A-Z]/, '-$&').toLowerCase()}`, value];
  });
  const argv = [taskId, ...flags];
  const exitCode = await resumeTask(taskId, place, readResumeFlags(argv), ['resume', ...argv]);
  if (exitCode === 0) say(`${taskId} has continued; to try again: ${commandHere('land', taskId)}`);
  return exitCode === 0 ? EXIT_FAILED : exitCode;
}
