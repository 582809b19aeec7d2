import { randomUUID } from 'node:crypto';
import { HEARTBEAT_MS, isDriverAlive } from '../core/task/driver.ts';
import type { Driver, TaskState } from '../core/task/task-state.ts';
import { thisDriver, thisPlace } from '../effects/lock/driver-identity.ts';
import { claimTask, type TaskClaim } from '../effects/lock/task-lock.ts';
import { leftoversOfRun } from '../effects/processes/end-process.ts';
import type { SignalWatch } from '../effects/processes/signals.ts';
import { archivePrevious, restoreUnannounced, setAside } from '../effects/state/earlier-run.ts';
import { foreignFiles } from '../effects/state/foreign-files.ts';
import { dropStaleRequests } from '../effects/state/requests.ts';
import { readNamedStep, type SavedStep } from '../effects/state/saved-step.ts';
import {
  readNewestStep,
  readStateFile,
  type StateFile,
  tryReadStateFile,
} from '../effects/state/state-file.ts';
import type { TaskStore } from '../effects/state/state-store.ts';
import type { TaskPaths } from '../effects/state/task-folder.ts';
import { systemClock } from '../effects/time/clock.ts';
import type { Seal } from '../effects/trust/seal.ts';
import { messageOf, StateTooNewError } from '../errors.ts';
import { commandHere } from '../printed-command.ts';
import {
  leftoversNotEnded,
  leftoversOfDeadDriver,
  previousRunArchived,
} from '../report/notices.ts';
import {
  ApprovalPendingError,
  StateCorruptedError,
  TaskAlreadyActiveError,
  TaskNotFoundError,
  UntrustedTaskError,
} from '../task-errors.ts';

type Warn = (sentence: string) => void;

/** This process's claim on a task, which keeps other processes from running it. */
export interface Hold {
  /** Renews the claim until `release` is called. Stops the run if another process has taken over the task. */
  keep(store: TaskStore, stops: SignalWatch): void;
  /** Whether another process has taken over the task. */
  isLost(): boolean;
  release(): void;
}

/**
 * Claims a task for `driver`, this process. Rejects with `TaskAlreadyActiveError` if another live process has it. If
 * the claim cannot be written, the run continues without one; `keep` then warns that the state cannot be saved.
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
  return withHeartbeat(claim, result.kind === 'unwritable' ? result.error : null);
}

function withHeartbeat(claim: TaskClaim | null, problem: unknown): Hold {
  let timer: NodeJS.Timeout | undefined;
  let lost = false;
  return {
    keep(store, stops) {
      if (problem !== null) store.complain(problem);
      timer = setInterval(() => {
        if (claim !== null && !claim.isHeld()) {
          lost = true;
          store.mute();
          stops.request('request');
          clearInterval(timer);
          return;
        }
        claim?.renew();
        // The time is read last: the steps before take time, which must not count as a standstill of the machine.
        void store.heartbeat(systemClock.now());
      }, HEARTBEAT_MS).unref();
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
  const file = tryReadStateFile(paths.stateFile);
  return file.kind === 'task' ? file.state : null;
}

function liveDriver(state: TaskState | null): Driver | null {
  const driver = state?.driver ?? null;
  return driver !== null && isDriverAlive(driver, thisPlace(systemClock.now())) ? driver : null;
}

/** Makes room for a new task. Rejects with `ApprovalPendingError` if the id's earlier task waits for a person. */
export async function retireEarlierTask(
  paths: TaskPaths,
  taskId: string,
  seal: Seal,
  warn: Warn,
): Promise<void> {
  const file = tryReadStateFile(paths.stateFile, seal);
  if (file.kind === 'task' && file.state.status === 'paused_awaiting_approval') {
    throw new ApprovalPendingError(taskId, 'answer it, and resume', [
      `to allow it: ${commandHere('approve', taskId)}`,
      `to refuse it: ${commandHere('reject', taskId)}`,
      `then: ${commandHere('resume', taskId)}`,
    ]);
  }
  // A forged state must not be able to end another task's processes.
  if (file.kind === 'task' && file.isOwn) await endLeftovers(file.state.driver, false, warn);
  dropStaleRequests(paths.folder);
  const needsTrust = file.kind === 'task' && doubtOf(paths, file, seal) !== null;
  try {
    if (archivePrevious(paths)) warn(previousRunArchived(taskId, needsTrust));
  } catch (error) {
    if (error instanceof StateTooNewError) throw error;
    // Failing to archive an older task must not prevent a new one from running.
    warn(`An earlier run could not be put into the history: ${messageOf(error)}`);
  }
}

/** Moves a task whose end nobody announced back out of the history; removes a dead process's claim. Never rejects. */
export async function clearUp(paths: TaskPaths, taskId: string): Promise<void> {
  const driver = thisDriver(systemClock.now(), randomUUID());
  const hold = await holdTask(paths, taskId, driver).catch(() => null);
  if (hold === null) return;
  try {
    restoreUnannounced(paths);
  } catch {
    // The commands find the task in the history, too, so this failure does no harm.
  } finally {
    hold.release();
  }
}

/** A task that is being resumed. */
export interface AdoptedTask {
  readonly task: TaskState;
  /** What the last run stored beside the state, such as what the loop remembers; null if that is lost. */
  readonly step: Omit<SavedStep, 'task'> | null;
}

/** Reads a task's newest step for a resume, and ends leftover processes. `isTrusted`: accepts another user's task. */
export async function adopt(
  paths: TaskPaths,
  taskId: string,
  seal: Seal,
  isTrusted: boolean,
  warn: Warn,
): Promise<AdoptedTask> {
  const file = readOpenTask(paths, taskId, seal);
  if (file === null) throw new TaskNotFoundError(taskId, paths.stateDir);
  const why = doubtOf(paths, file, seal);
  if (why !== null && !isTrusted) throw new UntrustedTaskError(taskId, paths.stateDir, why, []);
  await endLeftovers(file.state.driver, why !== null, warn);
  dropStaleRequests(paths.folder);
  if (why === null) {
    const { state, step } = readNewestStep(paths, file.state, seal);
    return { task: state, step };
  }
  return { task: file.state, step: readNamedStep(paths.folder, file.state) };
}

/** Reads the state of an open task; null if it has none. Throws `StateTooNewError` or `StateCorruptedError`. */
export function readOpenTask(paths: TaskPaths, taskId: string, seal: Seal): OpenTask | null {
  const file = readStateFile(paths.stateFile, seal);
  if (file.kind === 'too-new') throw new StateTooNewError(paths.stateFile, file.version);
  if (file.kind === 'corrupt') {
    const aside = setAside(paths.stateFile, file.modifiedAt);
    throw new StateCorruptedError(taskId, aside, 'not a ralph state file; it was renamed to this');
  }
  return file.kind === 'task' ? file : null;
}

type OpenTask = Extract<StateFile, { kind: 'task' }>;

/** Returns why a task is not trusted, as a phrase after its name; null if this user's ralph has sealed its files. */
export function doubtOf(paths: TaskPaths, file: OpenTask, seal: Seal): string | null {
  if (seal.problem !== null) {
    return `cannot be told from a forged one (${seal.problem.replace(/\.$/, '')})`;
  }
  if (!file.isOwn) return 'was not written by you here';
  const [changed] = foreignFiles(paths.folder, file.state, seal);
  return changed === undefined ? null : `was changed by somebody else (${changed})`;
}

/** Ends processes that an earlier run left. If the state may be a copy, only warns: the original task may need them. */
async function endLeftovers(driver: Driver | null, isCopy: boolean, warn: Warn): Promise<void> {
  const { pids, end } = leftoversOfRun(driver?.run_id ?? '');
  if (pids.length === 0) return;
  if (!isCopy) await end();
  warn(isCopy ? leftoversNotEnded(pids) : leftoversOfDeadDriver(pids.length));
}
