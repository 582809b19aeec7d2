import { askedText, oneLine } from '../text/untrusted-text.ts';
import { type Here, isDriverAlive } from './driver.ts';
import {
  type Driver,
  hasUnannouncedEnding,
  lastWorkAt,
  msBetween,
  type Status,
  type TaskState,
  type Wait,
} from './task-state.ts';

/** The state shown for a task: its status, or what is wrong with it. */
export type ShownState = Status | 'interrupted' | 'corrupt' | 'newer ralph' | 'unreadable';

/** A task as `ralph status` shows it. A field is null if the file is not a readable state. */
export interface ShownTask {
  readonly taskId: string;
  readonly state: ShownState;
  readonly status: Status | null;
  readonly iteration: number | null;
  readonly maxIterations: number | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly elapsedMs: number | null;
  readonly costUsd: number | null;
  /** What the task asks for, on one line. */
  readonly asked: string | null;
  /** The agent's last words on one line; null if it has said nothing yet. */
  readonly last: string | null;
  readonly wait: Wait | null;
  readonly driver: Driver | null;
  /** The process that runs the task, `pid 123` or `pid 123 on host`; null if none does. */
  readonly runBy: string | null;
  readonly exitReason: string | null;
  /** Whether the last run of the task had a sandbox. */
  readonly sandbox: 'on' | 'off' | null;
  readonly stateFile: string;
  readonly logDir: string;
  /** Whether the task's state is in the history folder; otherwise the task is open. */
  readonly archived: boolean;
  /** Whether the state file has this user's seal (a keyed checksum that ralph wrote); false if that is unknown. */
  readonly isOwn: boolean;
}

export type ShownPlaces = Pick<ShownTask, 'taskId' | 'stateFile' | 'logDir' | 'archived' | 'isOwn'>;

const LAST_CHARS = 200;
const HOST_CHARS = 60;

/** Shows a task whose state could be read. */
export function showTask(task: TaskState, places: ShownPlaces, here: Here): ShownTask {
  const state = shownState(task, here);
  const { driver } = task;
  const isDriven = hasLiveDriver(task, here);
  return {
    ...places,
    taskId: oneLine(task.task_id, 128),
    state,
    status: task.status,
    iteration: task.current_iteration,
    maxIterations: task.max_iterations,
    startedAt: task.started_at,
    finishedAt: task.finished_at,
    elapsedMs: Math.max(0, msBetween(task.started_at, isDriven ? here.at : lastWorkAt(task))),
    costUsd: task.usage.cost_usd,
    asked: oneLine(askedText(task.task_prompt), LAST_CHARS),
    last: lastWords(task),
    wait: isLive(state) ? task.wait : null,
    driver,
    runBy: isDriven && driver !== null ? runBy(driver, here) : null,
    exitReason: task.exit_reason,
    sandbox: task.sandbox?.is ?? 'off',
  };
}

/** Shows a task whose state file cannot be read. */
export function showBroken(
  state: 'corrupt' | 'newer ralph' | 'unreadable',
  places: ShownPlaces,
): ShownTask {
  return {
    ...places,
    state,
    status: null,
    iteration: null,
    maxIterations: null,
    startedAt: null,
    finishedAt: null,
    elapsedMs: null,
    costUsd: null,
    asked: null,
    last: null,
    wait: null,
    driver: null,
    runBy: null,
    exitReason: null,
    sandbox: null,
  };
}

/**
 * Returns the status, or `interrupted` if the driver (the process that runs the task) died before it announced an
 * ending. A live task needs no driver if it waits for an approval, or if a program stores it through ralph's library.
 */
export function shownState(task: TaskState, here: Here): ShownState {
  const { status, driver } = task;
  if (hasUnannouncedEnding(task) && status !== 'paused_awaiting_approval') {
    return driver === null || isDriverAlive(driver, here) ? status : 'interrupted';
  }
  if (!isLive(task.status) || hasLiveDriver(task, here)) return task.status;
  const isOwnWay = task.status === 'paused_awaiting_approval' || task.kept_by === 'library';
  return task.driver === null && isOwnWay ? task.status : 'interrupted';
}

/** Whether the task is live and a live driver works on it. */
export function hasLiveDriver({ status, driver }: TaskState, here: Here): boolean {
  return isLive(status) && driver !== null && isDriverAlive(driver, here);
}

/** Whether a task in this state is running, about to start, or waiting for an approval. */
export function isLive(state: ShownState): boolean {
  return state === 'running' || state === 'pending' || state === 'paused_awaiting_approval';
}

/** Sorts running and waiting tasks first, then other open ones, then those in the history; the newest of each first. */
export function inShownOrder<T extends ShownTask>(tasks: readonly T[]): readonly T[] {
  const rank = (task: ShownTask): number => (isLive(task.state) ? 0 : task.archived ? 2 : 1);
  const newest = (task: ShownTask): string => task.finishedAt ?? task.startedAt ?? '';
  return tasks.toSorted(
    (one, other) => rank(one) - rank(other) || compare(newest(other), newest(one)),
  );
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function lastWords(task: TaskState): string | null {
  const words = task.progress?.current_step || task.iterations.at(-1)?.output_preview || '';
  const line = oneLine(words, LAST_CHARS);
  return line === '' ? null : line;
}

function runBy(driver: Driver, here: Here): string {
  const isHere = driver.host === here.host && driver.boot_id === here.bootId;
  return isHere ? `pid ${driver.pid}` : `pid ${driver.pid} on ${oneLine(driver.host, HOST_CHARS)}`;
}
