import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { type CheckResult, failedChecks, judgeCheck } from '../../core/completion/check-result.ts';
import { storedPolicy } from '../../core/policy/policy-of.ts';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import {
  type LandingForm,
  type LandingRefusal,
  landingMessage,
} from '../../core/snapshots/landing.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import {
  type AskGit,
  CheckoutError,
  isBranch,
  listTrees,
} from '../../effects/branches/checkout.ts';
import { copyFiles } from '../../effects/branches/copy-files.ts';
import { gitIdentity, isKnown, RALPH } from '../../effects/branches/identity.ts';
import { type Landing, land } from '../../effects/branches/land.ts';
import { claimLanding } from '../../effects/branches/landing-claim.ts';
import { gitAsker, openRepository } from '../../effects/branches/open-repository.ts';
import { findTaskWork } from '../../effects/branches/task-work.ts';
import { isInside, realPath } from '../../effects/files/real-path.ts';
import { errorCode } from '../../effects/files/write-file.ts';
import { thisDriver } from '../../effects/lock/driver-identity.ts';
import { outerEnvironment } from '../../effects/plan/outer-environment.ts';
import { runShellCommand, type ShellOptions } from '../../effects/processes/shell-command.ts';
import { type SignalWatch, watchSignals } from '../../effects/processes/signals.ts';
import { provenFailures } from '../../effects/proof/proof-file.ts';
import type { Repository } from '../../effects/snapshots/repository.ts';
import { SnapshotError } from '../../effects/snapshots/snapshot-store.ts';
import type { TaskPaths } from '../../effects/state/task-folder.ts';
import { systemClock } from '../../effects/time/clock.ts';
import type { Seal } from '../../effects/trust/seal.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';
import { callGit } from '../../effects/workspace/git-command.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { runCheck } from '../checks.ts';
import { holdTask } from '../open-task.ts';
import { confinedTo } from '../sandbox/confined-to.ts';
import type { LaterSandbox } from '../sandbox/run-sandbox.ts';
import { laterSandbox } from '../sandbox/sandbox-of-run.ts';

export interface TaskToLand {
  readonly state: TaskState;
  readonly stored: StoredRun;
  /** Where an open task of this id lies, even if this one is in the history. */
  readonly paths: TaskPaths;
  /** Where it lies, in the history if it is completed. */
  readonly folder: string;
  readonly seal: Seal;
  readonly vault: string;
  /** The key that the user named; null for the default one. */
  readonly keyFile: string | null;
  /** The branch that the user named, or null. */
  readonly onto: string | null;
  readonly form: LandingForm;
  readonly env: NodeJS.ProcessEnv;
  /** Called once if another landing is under way. */
  readonly onWait: (pid: number | null) => void;
  readonly warn: (sentence: string) => void;
}

/** How the landing of a task ended. */
export interface TaskLanding extends Landing {
  /** The branch, without `refs/heads/`. */
  readonly onto: string;
}

/** What moves a branch has to finish. */
const TO_END_TIMEOUT_MS = 24 * 3_600_000;

/**
 * Lands a task. Rejects with `UsageError`, with `TaskAlreadyActiveError` if the task has a live driver, or with
 * `SandboxError` if its checks cannot run in the sandbox.
 * Whatever else goes wrong is in the result.
 */
export async function landTask(task: TaskToLand): Promise<TaskLanding> {
  const stops = watchSignals();
  try {
    const { state, stored, vault, paths, keyFile, env, warn } = task;
    const { stateDir } = paths;
    const runId = randomUUID();
    const sandbox = await laterSandbox({
      ...{ state, stored, vault, stateDir, keyFile, env, runId, warn },
    });
    try {
      await sandbox.require(startFolderOf(stored));
      return await landWatched(task, stops, { sandbox, runId });
    } finally {
      await sandbox.close();
    }
  } finally {
    stops.close();
  }
}

/** In what the checks of a landing run. */
interface CheckWorld {
  readonly sandbox: LaterSandbox;
  /** The value of `RALPH_RUN_ID` in their environment. */
  readonly runId: string;
}

async function landWatched(
  task: TaskToLand,
  stops: SignalWatch,
  world: CheckWorld,
): Promise<TaskLanding> {
  const { form, onWait } = task;
  const env = outerEnvironment(task.env, task.stored);
  const ask = gitAsker(env, undefined, stops.signal);
  const { repository, branch, onto } = await placeOf(task, ask);
  const identity = form.kind === 'patch' ? RALPH : gitIdentity(env);
  if (!(await isKnown(identity, repository.commonDir, ask))) throw unknownAuthor();
  const refused = (why: LandingRefusal): TaskLanding => ({
    end: { kind: 'refused', why },
    stays: new Map(),
    onto,
  });
  const ended = await claimLanding(repository, stops.signal, onWait);
  if (ended === null) return refused({ kind: 'stopped' });
  const gitFolder = path.join(repository.commonDir, 'ralph', 'landing-git');
  try {
    // A killed landing may have left it.
    rmSync(gitFolder, { recursive: true, force: true });
    const tools = { repository, branch, onto, ask, identity, gitFolder };
    return { ...(await landClaimed(task, tools, stops, world)), onto };
  } catch (error) {
    const isExpected = error instanceof CheckoutError || error instanceof SnapshotError;
    if (!isExpected && errorCode(error) === '') throw error;
    return refused(
      stops.signal.aborted ? { kind: 'stopped' } : { kind: 'failed', why: messageOf(error) },
    );
  } finally {
    rmSync(gitFolder, { recursive: true, force: true });
    ended();
  }
}

interface LandPlace {
  readonly repository: Repository;
  /** The task's branch. */
  readonly branch: string;
  readonly onto: string;
}

interface LandTools extends LandPlace {
  readonly ask: AskGit;
  readonly identity: ReturnType<typeof gitIdentity>;
  readonly gitFolder: string;
}

async function landClaimed(
  task: TaskToLand,
  { repository, branch, onto, ask, identity, gitFolder }: LandTools,
  stops: SignalWatch,
  world: CheckWorld,
): Promise<Landing> {
  const { state, stored, form, paths } = task;
  const env = outerEnvironment(task.env, stored);
  const { settings } = stored;
  const tree = state.git.work_tree;
  const hold = await holdTask(paths, state.task_id, thisDriver(systemClock.now(), randomUUID()));
  const work = await findTaskWork({
    ...{ repository, ask, branch, tree, gitFolder, env },
    refs: state.git.snapshots,
    maxBytes: settings.snapshotLimit,
    excludedGlobs: settings.snapshotExclude,
  }).finally(() => hold.release());
  if ('kind' in work) return { end: { kind: 'refused', why: work }, stays: new Map() };
  const [main] = await listTrees({ repository, ask });
  return land({
    ...{ repository, ask, gitFolder, env, work, onto, form, identity },
    askToEnd: (cwd, args, extras) =>
      callGit({ ...extras, cwd, args, env, timeoutMs: TO_END_TIMEOUT_MS }),
    parent: tree === null ? `${main?.path ?? repository.root}.ralph` : path.dirname(tree.path),
    taskId: state.task_id,
    base: tree?.base ?? state.git_base,
    refs: state.git.snapshots,
    message: landingMessage(state.task_id, state.task_prompt),
    check: (scratch) => checkIn(scratch, task, { repository, ask, stops, ...world }),
    signal: stops.signal,
  });
}

/** Finds the repository and both branches. Rejects with a `UsageError` if one is unknown. */
async function placeOf(task: TaskToLand, ask: AskGit): Promise<LandPlace> {
  const { state, stored } = task;
  const { task_id: taskId } = state;
  const tree = state.git.work_tree;
  const folders = tree === null ? [startFolderOf(stored)] : [tree.origin, tree.path];
  const repository = await firstRepository(folders, ask);
  if (repository === null) {
    throw new UsageError([
      `ralph land expects a task that worked in a git repository; found none in ${folders[0]}.`,
    ]);
  }
  const branch = tree?.branch ?? (await ownBranch(state, repository, ask));
  if (branch === null) {
    throw new UsageError([
      `ralph land expects a task with a branch of its own; ${taskId} worked in your own work tree and its changes are there: commit them yourself, or start the next task with --worktree.`,
    ]);
  }
  const onto = task.onto ?? tree?.onto ?? null;
  if (onto === null) {
    throw new UsageError([
      `ralph land expects --onto BRANCH, since ${taskId} did not begin at a branch.`,
    ]);
  }
  if (onto === branch) {
    throw new UsageError([`--onto expects another branch than ${branch}, the task's own.`]);
  }
  if (!(await isBranch({ repository, ask }, onto))) {
    throw new UsageError([
      task.onto === null
        ? `ralph land expects --onto BRANCH, since ${onto}, the branch at which ${taskId} began, is gone.`
        : `--onto expects a branch; there is none called '${onto}'.`,
    ]);
  }
  return { repository, branch, onto };
}

async function firstRepository(
  folders: readonly string[],
  ask: AskGit,
): Promise<Repository | null> {
  for (const folder of folders) {
    const opened = await openRepository(folder, ask);
    if (opened.kind === 'repository') return opened.repository;
  }
  return null;
}

/**
 * The branch that `--commit` made for a task without a work tree of its own; null if there is none. An earlier
 * task of the same id may have left one, too: the task's own has commits since it began.
 */
async function ownBranch(
  { task_id, git_base, started_at }: TaskState,
  repository: Repository,
  ask: AskGit,
): Promise<string | null> {
  const ids = new Set([task_id, task_id.replaceAll('.', '%2E')]);
  const patterns = ['ralph/', 'ralph-'].flatMap((start) =>
    [...ids].flatMap((id) => [`refs/heads/${start}${id}`, `refs/heads/${start}${id}-*`]),
  );
  const listed = await ask(repository.commonDir, [
    ...['for-each-ref', '--sort=-version:refname', '--format=%(refname)', ...patterns],
  ]);
  const since = Math.floor(Date.parse(started_at) / 1000);
  for (const ref of listed.output.split('\n').filter((line) => line !== '')) {
    const { exitCode, output } = await ask(repository.commonDir, [
      ...['rev-list', '--max-count=1', `--since=${since}`, '--extended-regexp'],
      ...[`--grep=^Ralph-Task: ${task_id.replaceAll('.', '\\.')}$`, ref],
      ...(git_base === null ? [] : ['--not', git_base]),
    ]);
    const name = Buffer.from(ref, 'latin1').toString().slice('refs/heads/'.length);
    if (exitCode === 0 && output !== '') return name;
  }
  return null;
}

function startFolderOf({ startDir, settings }: StoredRun): string {
  return path.resolve(startDir, settings.cwd ?? '.');
}

function unknownAuthor(): UsageError {
  return new UsageError([
    'ralph land commits in your name, and git knows none: git config --global user.name "NAME" and git config --global user.email ADDRESS set it.',
  ]);
}

interface CheckTools extends CheckWorld {
  readonly repository: Repository;
  readonly ask: AskGit;
  readonly stops: SignalWatch;
}

/** Runs `--copy`, `--setup` and all checks as the task had them; null if all is green. */
async function checkIn(
  scratch: string,
  { state, stored, vault, paths, folder, seal, env }: TaskToLand,
  { repository: { root }, ask, stops, sandbox, runId }: CheckTools,
): Promise<LandingRefusal | null> {
  const { setup, copy } = stored.settings;
  const policy = storedPolicy(state, stored);
  const from = startFolderOf(stored);
  const below = realPath(from);
  const tree = [root, state.git.work_tree?.path ?? root]
    .map(realPath)
    .find((each) => each === below || isInside(each, below));
  const cwd = tree === undefined ? scratch : path.join(scratch, path.relative(tree, below));
  const isOwn = ownFiles(vault, paths.stateDir);
  await copyFiles({ from, to: cwd, root: scratch, globs: copy, ask, isOwn });
  const hasCommands = setup !== null || policy.verify.length > 0;
  const inside = hasCommands ? await sandbox.open(cwd) : null;
  const options = (): ShellOptions => ({
    cwd,
    env: { ...env, RALPH_TASK_ID: state.task_id, RALPH_RUN_ID: runId },
    timeoutMs: policy.iterationTimeoutMs,
    stops,
    ...confinedTo(inside),
  });
  if (setup !== null) {
    const result = await runShellCommand(setup, '', options());
    if (result.exitCode !== 0) return { kind: 'setup-failed', result };
  }
  // What failed at the start may fail here, too, if the task was completed in spite of it.
  const known = provenFailures(folder, seal, state);
  const results: CheckResult[] = [];
  for (const check of policy.verify) {
    results.push(judgeCheck(await runCheck(check, options()), known, policy));
  }
  const failed = failedChecks(results);
  return failed.length === 0 ? null : { kind: 'checks-failed', failed };
}
