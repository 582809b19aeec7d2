import { randomUUID } from 'node:crypto';
import { BEAT_MS, isDriverAlive } from '../core/task/driver.ts';
import type { Driver, TaskState } from '../core/task/task-state.ts';
import { thisDriver, thisPlace } from '../effects/lock/driver-identity.ts';
import { claimTask, type TaskClaim } from '../effects/lock/task-lock.ts';
import type { SignalWatch } from '../effects/processes/signals.ts';
import { findRun, sweepRun } from '../effects/processes/sweep-run.ts';
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

/** Tells people something, one sentence. */
type Warn = (sentence: string) => void;

/** A task that this process drives, and nobody else. */
export interface Hold {
  /** Renews the claim until it is released; another driver's taking over ends the run. */
  keep(store: TaskStore, stops: SignalWatch): void;
  /** Whether another driver has taken the task over meanwhile. */
  isLost(): boolean;
  release(): void;
}

/**
 * Takes a task for this driver, or rejects with `TaskAlreadyActiveError`. Where nothing can be written
 * the run goes on without a claim: the state cannot be kept there either, and that is said.
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

/** Makes room for a new task: what a dead driver left running is ended, its state put away. */
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
  // Whoever forges a state must not be able to have another task's processes ended.
  if (file.kind === 'task' && file.isOwn) await endLeftovers(file.state.driver, warn);
  dropStaleRequests(paths.folder);
  const needsTrust = file.kind === 'task' && doubtOf(paths, file, seal) !== null;
  try {
    if (retirePrevious(paths)) warn(previousRetired(taskId, needsTrust));
  } catch (error) {
    if (error instanceof StateTooNewError) throw error;
    // An older task that cannot be put away must not keep a new one from running.
    warn(`An earlier run could not be put into the history: ${messageOf(error)}`);
  }
}

/**
 * Before a task is gone on with: one that was completed by a driver that died before it could say so
 * is taken back from the history, and dead claims on it are removed. Never rejects.
 */
export async function clearUp(paths: TaskPaths, taskId: string): Promise<void> {
  const driver = thisDriver(systemClock.now(), randomUUID());
  const hold = await holdTask(paths, taskId, driver).catch(() => null);
  if (hold === null) return;
  try {
    takeBack(paths);
  } catch {
    // It is found where it lies.
  } finally {
    hold.release();
  }
}

/** A task that is taken up, and what its last driver knew beyond the state; null where that is lost. */
export interface TakenUp {
  readonly task: TaskState;
  readonly step: Omit<SavedStep, 'task'> | null;
}

/** By what a task is believed: its own sums, or a person who has looked at it. */
export interface Belief {
  readonly seal: Seal;
  readonly isTrusted: boolean;
}

/**
 * The newest step of a task that is to be gone on with, what its dead driver left running ended. Rejects
 * with `TaskNotFoundError`, `StateTooNewError`, `UntrustedTaskError`, or `StateCorruptedError` for one that
 * is kept aside.
 */
export async function takeUp(
  paths: TaskPaths,
  taskId: string,
  { seal, isTrusted }: Belief,
  warn: Warn,
): Promise<TakenUp> {
  const file = readStateFile(paths.stateFile, seal);
  if (file.kind === 'none') throw new TaskNotFoundError(taskId, paths.stateDir);
  if (file.kind === 'too-new') throw new StateTooNewError(paths.stateFile, file.version);
  if (file.kind === 'corrupt') {
    const aside = keepAside(paths.stateFile, file.modifiedAt);
    throw new StateCorruptedError(taskId, aside, 'not a ralph state file; it was renamed to this');
  }
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
 * Why a task that was read with a seal is not believed, to follow its name; null where this user's ralph
 * has written it whole.
 */
export function doubtOf(
  paths: TaskPaths,
  file: Extract<StateFile, { kind: 'task' }>,
  seal: Seal,
): string | null {
  if (seal.problem !== null) {
    return `cannot be told from a forged one (${seal.problem.replace(/\.$/, '')})`;
  }
  if (!file.isOwn) return 'was not written by you here';
  const [changed] = foreignFiles(paths.folder, file.state, seal);
  return changed === undefined ? null : `was changed by another hand (${changed})`;
}

/** The state may be a copy, and name the run of the task that it was copied from: nothing of that is ended. */
function warnOfLeftovers(driver: Driver | null, warn: Warn): void {
  const pids = driver === null ? [] : findRun(driver.run_id);
  if (pids.length > 0) warn(leftoversNotEnded(pids));
}

async function endLeftovers(driver: Driver | null, warn: Warn): Promise<void> {
  if (driver === null) return;
  const count = await sweepRun(driver.run_id);
  if (count > 0) warn(leftoversOfDeadDriver(count));
}
