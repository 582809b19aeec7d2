import { randomUUID } from 'node:crypto';
import { BEAT_MS, isDriverAlive } from '../core/task/driver.ts';
import type { Driver, TaskState } from '../core/task/task-state.ts';
import { thisDriver, thisPlace } from '../effects/lock/driver-identity.ts';
import { claimTask, type TaskClaim } from '../effects/lock/task-lock.ts';
import { findRun, sweepRun } from '../effects/processes/end-process.ts';
import type { SignalWatch } from '../effects/processes/signals.ts';
import { foreignFiles } from '../effects/state/foreign-files.ts';
import { dropStaleRequests } from '../effects/state/requests.ts';
import { readNamedStep, type SavedStep } from '../effects/state/saved-step.ts';
import { readNewestStep, readStateFile, type StateFile } from '../effects/state/state-file.ts';
import {
  keepAside,
  retirePrevious,
  type TaskStore,
  takeBack,
} from '../effects/state/state-store.ts';
import type { TaskPaths } from '../effects/state/task-folder.ts';
import { systemClock } from '../effects/time/clock.ts';
import type { Seal } from '../effects/trust/seal.ts';
import {
  ApprovalPendingError,
  messageOf,
  StateCorruptedError,
  StateTooNewError,
  TaskAlreadyActiveError,
  TaskNotFoundError,
  UntrustedTaskError,
} from '../errors.ts';
import { leftoversNotEnded, leftoversOfDeadDriver, previousRetired } from '../report/messages.ts';

/** Shows one sentence to people. */
type Warn = (sentence: string) => void;

/** A task that only this process drives. */
export interface Hold {
  /** Renews the claim until it is released. Ends the run if another driver takes over. */
  keep(store: TaskStore, stops: SignalWatch): void;
  /** Whether another driver has taken over the task meanwhile. */
  isLost(): boolean;
  release(): void;
}

/**
 * Claims a task for this driver, or rejects with `TaskAlreadyActiveError`. If nothing can be written, the
 * run continues without a claim: the state cannot be stored there either, and that is reported.
 */
export async function holdTask(paths: TaskPaths, taskId: string, driver: Driver): Promise<Hold> {
  const result = await claimTask(paths.stateDir, taskId, driver, () =>
    thisPlace(systemClock.now()),
  );
  if (result.kind === 'taken') throw alreadyActive(taskId, result.by, readTask(paths));
  const claim = result.kind === 'held' ? result.claim : null;
  const other = liveDriver(readTask(paths));
  if (other !== null && other.run_id !== driver.run_id) {
    claim?.release();
    throw alreadyActive(taskId, other, readTask(paths));
  }
  return beating(claim, result.kind === 'unwritable' ? result.error : null);
}

function beating(claim: TaskClaim | null, problem: unknown): Hold {
  let timer: NodeJS.Timeout | undefined;
  let lost = false;
  return {
    keep(store, stops) {
      if (problem !== null) store.complain(problem);
      timer = setInterval(() => {
        if (claim !== null && !claim.isHeld()) {
          lost = true;
          store.silence();
          stops.request('request');
          clearInterval(timer);
          return;
        }
        const at = systemClock.now();
        claim?.renew();
        void store.beat(at);
      }, BEAT_MS).unref();
    },
    isLost: () => lost,
    release() {
      clearInterval(timer);
      claim?.release();
    },
  };
}

function alreadyActive(
  taskId: string,
  by: Driver | null,
  state: TaskState | null,
): TaskAlreadyActiveError {
  const who = by === null ? 'it is just starting' : `pid ${by.pid} on ${by.host}`;
  const where =
    state === null || liveDriver(state) === null
      ? ''
      : `, iteration ${state.current_iteration}/${state.max_iterations}`;
  return new TaskAlreadyActiveError(taskId, `${who}${where}`);
}

function readTask(paths: TaskPaths): TaskState | null {
  const file = tryRead(paths.stateFile);
  return file.kind === 'task' ? file.state : null;
}

function tryRead(stateFile: string, seal: Seal | null = null): StateFile {
  try {
    return readStateFile(stateFile, seal);
  } catch {
    return { kind: 'none' };
  }
}

function liveDriver(state: TaskState | null): Driver | null {
  const driver = state?.driver ?? null;
  return driver !== null && isDriverAlive(driver, thisPlace(systemClock.now())) ? driver : null;
}

/** Cleans up after a crashed driver: ends its processes and archives its state. */
export async function makeRoom(
  paths: TaskPaths,
  taskId: string,
  seal: Seal,
  warn: Warn,
): Promise<void> {
  const file = tryRead(paths.stateFile, seal);
  if (file.kind === 'task' && file.state.status === 'paused_awaiting_approval') {
    const answer = `ralph approve ${taskId} or ralph reject ${taskId} answers it, and ralph resume ${taskId} goes on`;
    throw new ApprovalPendingError(taskId, answer);
  }
  // A forged state must not be able to end another task's processes.
  if (file.kind === 'task' && file.isOwn) await endLeftovers(file.state.driver, warn);
  dropStaleRequests(paths.folder);
  const needsTrust = file.kind === 'task' && doubtOf(paths, file, seal) !== null;
  try {
    if (retirePrevious(paths)) warn(previousRetired(taskId, needsTrust));
  } catch (error) {
    if (error instanceof StateTooNewError) throw error;
    // Failing to archive an older task must not prevent a new one from running.
    warn(`An earlier run could not be put into the history: ${messageOf(error)}`);
  }
}

/**
 * Prepares the resume of a task: restores it from the history if its driver died after completing it but
 * before announcing that, and removes dead claims on it. Never rejects.
 */
export async function clearUp(paths: TaskPaths, taskId: string): Promise<void> {
  const driver = thisDriver(systemClock.now(), randomUUID());
  const hold = await holdTask(paths, taskId, driver).catch(() => null);
  if (hold === null) return;
  try {
    takeBack(paths);
  } catch {
    // The task is found in the history, too.
  } finally {
    hold.release();
  }
}

/** A task that is resumed, and what its last driver knew beyond the state; null if that is lost. */
export interface TakenUp {
  readonly task: TaskState;
  readonly step: Omit<SavedStep, 'task'> | null;
}

/** Why a task is trusted: its own checksums, or a person who has reviewed it. */
export interface Belief {
  readonly seal: Seal;
  readonly isTrusted: boolean;
}

/**
 * Reads the newest step of a task to resume and ends the processes that its dead driver left running.
 * Rejects with `TaskNotFoundError`, `StateTooNewError`, `UntrustedTaskError`, or `StateCorruptedError` if
 * the state is corrupt and was therefore set aside.
 */
export async function takeUp(
  paths: TaskPaths,
  taskId: string,
  { seal, isTrusted }: Belief,
  warn: Warn,
): Promise<TakenUp> {
  const file = readOpenTask(paths, taskId, seal);
  if (file === null) throw new TaskNotFoundError(taskId, paths.stateDir);
  const why = doubtOf(paths, file, seal);
  if (why !== null && !isTrusted) throw new UntrustedTaskError(taskId, paths.stateDir, why, []);
  if (why === null) await endLeftovers(file.state.driver, warn);
  else warnOfLeftovers(file.state.driver, warn);
  dropStaleRequests(paths.folder);
  if (why === null) {
    const { state, step } = readNewestStep(paths, file.state, seal);
    return { task: state, step };
  }
  return { task: file.state, step: readNamedStep(paths.folder, file.state) };
}

/**
 * Reads the state of an open task; returns null if there is none. Throws `StateTooNewError`, or
 * `StateCorruptedError` if the state is corrupt and was therefore set aside.
 */
export function readOpenTask(paths: TaskPaths, taskId: string, seal: Seal): OpenTask | null {
  const file = readStateFile(paths.stateFile, seal);
  if (file.kind === 'too-new') throw new StateTooNewError(paths.stateFile, file.version);
  if (file.kind === 'corrupt') {
    const aside = keepAside(paths.stateFile, file.modifiedAt);
    throw new StateCorruptedError(taskId, aside, 'not a ralph state file; it was renamed to this');
  }
  return file.kind === 'task' ? file : null;
}

type OpenTask = Extract<StateFile, { kind: 'task' }>;

/**
 * Returns why a task that was read with a seal is not trusted, as a phrase to follow its name, or null if
 * this user's ralph has written all of it.
 */
export function doubtOf(paths: TaskPaths, file: OpenTask, seal: Seal): string | null {
  if (seal.problem !== null) {
    return `cannot be told from a forged one (${seal.problem.replace(/\.$/, '')})`;
  }
  if (!file.isOwn) return 'was not written by you here';
  const [changed] = foreignFiles(paths.folder, file.state, seal);
  return changed === undefined ? null : `was changed by another hand (${changed})`;
}

/** Ends nothing: the state may be a copy, which names the run of the task it was copied from. */
function warnOfLeftovers(driver: Driver | null, warn: Warn): void {
  const pids = driver === null ? [] : findRun(driver.run_id);
  if (pids.length > 0) warn(leftoversNotEnded(pids));
}

async function endLeftovers(driver: Driver | null, warn: Warn): Promise<void> {
  if (driver === null) return;
  const count = await sweepRun(driver.run_id);
  if (count > 0) warn(leftoversOfDeadDriver(count));
}
