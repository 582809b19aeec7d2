import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { type LandingRefusal, landingMessage } from '../../core/snapshots/landing.ts';
import { GUARD_PROGRAM, keepGuard } from '../../effects/agents/kept-guard.ts';
import { listTrees, removeCheckout } from '../../effects/branches/checkout.ts';
import { type Landing, land } from '../../effects/branches/land.ts';
import { claimLanding } from '../../effects/branches/landing-claim.ts';
import { findTaskWork, type TaskWork } from '../../effects/branches/task-work.ts';
import { unsavedWork } from '../../effects/branches/unsaved-work.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { errorCode } from '../../effects/files/write-file.ts';
import { type Git, gitAt, gitIn, withGitSettings } from '../../effects/git/git.ts';
import { GitError, gitRefusal } from '../../effects/git/git-error.ts';
import { createPatience } from '../../effects/git/git-locks.ts';
import { gitIdentity, isKnown, RALPH, unknownAuthor } from '../../effects/git/identity.ts';
import { gitWith } from '../../effects/git/open-repository.ts';
import { deleteRef } from '../../effects/git/questions/refs.ts';
import { refOf } from '../../effects/git/repository.ts';
import { thisDriver } from '../../effects/lock/driver-identity.ts';
import { outerEnvironment } from '../../effects/plan/outer-environment.ts';
import { type SignalWatch, watchSignals } from '../../effects/processes/signals.ts';
import { openSnapshotIds } from '../../effects/snapshots/snapshot-ids.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { holdTask } from '../open-task.ts';
import { laterSandbox } from '../sandbox/sandbox-of-run.ts';
import { type CheckWorld, checkIn } from './check-landing.ts';
import { type LandPlace, placeOf } from './landing-place.ts';
import { startFolderOf } from './task-repository.ts';
import type { TaskToLand } from './task-to-land.ts';

/** How the landing of a task, which brings its work to a branch, ended. */
export interface TaskLanding extends Landing {
  /** The branch onto which the task landed, without `refs/heads/`. */
  readonly onto: string;
}

/** The limit for git calls that move a branch: it is long because they must not be cut off. */
const TO_END_TIMEOUT_MS = 24 * 3_600_000;

/** Lands a task. Rejects with `UsageError`, `TaskAlreadyActiveError` or `SandboxError`; resolves to other failures. */
export async function landTask(task: TaskToLand): Promise<TaskLanding> {
  const stops = watchSignals();
  try {
    const { state, stored, vault, paths, keyFile, env, warn } = task;
    const { stateDir } = paths;
    const runId = randomUUID();
    const sandbox = await laterSandbox({
      ...{ state, stored, vault, stateDir, keyFile, env, runId, warn },
    });
    const kept = keepGuard({ runId, guardProgram: GUARD_PROGRAM, warn });
    try {
      await sandbox.require(startFolderOf(stored));
      return await landWatched(task, stops, { sandbox, runId, guard: kept.inForce });
    } finally {
      kept.dismiss();
      await sandbox.close();
    }
  } finally {
    stops.close();
  }
}

async function landWatched(
  task: TaskToLand,
  stops: SignalWatch,
  world: CheckWorld,
): Promise<TaskLanding> {
  const { form, onWait } = task;
  const env = outerEnvironment(task.env, task.stored);
  const git = gitWith(env, undefined, stops.signal);
  const { repository, branch, onto } = await placeOf(task, git);
  const identity = form.kind === 'patch' ? RALPH : gitIdentity(env);
  if (!(await isKnown(withGitSettings(gitAt(git, repository.commonDir), identity)))) {
    throw new UsageError([unknownAuthor('ralph land')]);
  }
  const refused = (why: LandingRefusal): TaskLanding => ({
    end: { kind: 'refused', why },
    stays: new Map(),
    elsewhere: new Map(),
    onto,
  });
  const ended = await claimLanding(repository, stops.signal, onWait);
  if (ended === null) return refused({ kind: 'stopped' });
  const gitFolder = path.join(repository.commonDir, 'ralph', 'landing-git');
  try {
    // A landing that was killed may have left this folder.
    rmSync(gitFolder, { recursive: true, force: true });
    const tools = { repository, branch, onto, git, identity, gitFolder };
    return { ...(await landClaimed(task, tools, stops, world)), onto };
  } catch (error) {
    if (!(error instanceof GitError) && errorCode(error) === '') throw error;
    return refused(
      stops.signal.aborted ? { kind: 'stopped' } : { kind: 'failed', why: messageOf(error) },
    );
  } finally {
    rmSync(gitFolder, { recursive: true, force: true });
    ended();
  }
}

interface LandTools extends LandPlace {
  readonly git: Git;
  readonly identity: ReturnType<typeof gitIdentity>;
  readonly gitFolder: string;
}

async function landClaimed(
  task: TaskToLand,
  { repository, branch, onto, git, identity, gitFolder }: LandTools,
  stops: SignalWatch,
  world: CheckWorld,
): Promise<Landing> {
  const { state, stored, form, paths } = task;
  const env = outerEnvironment(task.env, stored);
  const { settings } = stored;
  const tree = state.git.work_tree;
  const ids = openSnapshotIds({ folder: task.folder, seal: task.seal, task: state });
  const find = async (): Promise<TaskWork | LandingRefusal> => {
    const hold = await holdTask(paths, state.task_id, thisDriver(systemClock.now(), randomUUID()));
    return findTaskWork({
      ...{ repository, git, branch, tree, gitFolder, env, taskId: state.task_id },
      ids: ids.all,
      maxBytes: settings.snapshotLimit,
      excludedGlobs: settings.snapshotExclude,
    }).finally(() => hold.release());
  };
  const work = await find();
  if ('kind' in work) {
    return { end: { kind: 'refused', why: work }, stays: new Map(), elsewhere: new Map() };
  }
  const [main] = await listTrees({ repository, git });
  const landing = await land({
    ...{ repository, git, gitFolder, env, work, onto, form, identity },
    apart: apartIn(task),
    gitToEnd: gitIn(repository.commonDir, { env, timeoutMs: TO_END_TIMEOUT_MS }),
    parent: tree === null ? `${main?.path ?? repository.root}.ralph` : path.dirname(tree.path),
    taskId: state.task_id,
    base: tree?.base ?? state.git_base,
    ...{ refs: state.git.snapshots, ids },
    branches: state.git.branches ?? [],
    message: landingMessage(state.task_id, state.task_prompt),
    check: (scratch) => checkIn(scratch, task, { repository, git, stops, ...world }),
    patience: createPatience(),
    signal: stops.signal,
  });
  const isWhole = landing.end.kind !== 'refused' && landing.stays.size === 0;
  if (task.removesTree && tree !== null && isWhole && !settings.keepBackground) {
    const now = await find();
    // The task's work tree is removed only if nothing was written into it since the landing: that would be lost.
    const isLanded = !('kind' in now) && now.tip === work.tip && now.kept === work.kept;
    const place = { repository, git, path: tree.path };
    if (isLanded && (await unsavedWork(place, branch, { isLanded })) === null) {
      await removeCheckout(place);
      const here = gitAt(git, repository.commonDir);
      await gitRefusal(deleteRef(here, refOf(branch), tree.base));
    }
  }
  return landing;
}

/** Returns the path of `apart`, a file that does not land, relative to the repository's root; null if it is outside. */
function apartIn({ apart, state }: TaskToLand): string | null {
  const origin = state.git.work_tree?.origin;
  if (apart === null || origin === undefined) return null;
  const name = path.relative(realPath(origin), realPath(apart));
  return name.startsWith('..') || path.isAbsolute(name) ? null : name;
}
