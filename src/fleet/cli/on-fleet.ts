import { setTimeout as pause } from 'node:timers/promises';
import { nearest } from '../../core/text/nearest.ts';
import { FleetAwayError, FleetError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { placeInFleet, shellQuote, worksOn } from '../../printed-command.ts';
import { TaskNotFoundError } from '../../task-errors.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import type { FleetQueue } from '../database/fleet-queue.ts';
import { type FleetToOpen, openFleet } from '../database/open-fleet.ts';
import { unreadableText } from '../report/fleet-words.ts';

/** The fleet on which a command works. */
export interface OpenFleet {
  readonly queue: FleetQueue;
  /** The words that a further command needs to work on the same fleet; empty if a variable names it. */
  readonly words: readonly string[];
}

/** Opens the fleet that `fleetNamed` returned, and closes it afterwards. Rejects as `openNamed` does. */
export async function onFleet<T>(
  url: string,
  options: { readonly fleet?: string },
  run: (fleet: OpenFleet) => Promise<T>,
): Promise<T> {
  const queue = await openNamed(url);
  try {
    const words = wordsFor(options.fleet);
    worksOn(placeInFleet('', words));
    return await run({ queue, words });
  } finally {
    await queue.close();
  }
}

/** Returns the words with which a further command works on the fleet of this flag; none if a variable names it. */
export function wordsFor(flag: string | undefined): readonly string[] {
  return flag === undefined ? [] : ['--fleet', shellQuote(withoutPassword(flag))];
}

function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    parsed.password = '';
    parsed.searchParams.delete('password');
    return parsed.href;
  } catch {
    // The text is no URL, so a password may be anywhere in it.
    return 'URL';
  }
}

/** Returns a task. Rejects with a `TaskNotFoundError` if the fleet does not have it. */
export async function requireTask(fleet: OpenFleet, taskId: string): Promise<FleetTaskFacts> {
  const facts = await fleet.queue.task(taskId);
  if (facts === null) throw await unknownFleetTask(fleet, taskId);
  return facts;
}

/** How many of the newest tasks are searched for an id similar to a wrong one. */
const SUGGESTED_FROM = 200;

/**
 * Returns the error for an id for which the fleet shows no task: its row cannot be read, or there is none. In the
 * second case the error names the id that was probably meant.
 */
export async function unknownFleetTask(
  { queue }: OpenFleet,
  taskId: string,
): Promise<TaskNotFoundError | FleetError> {
  const [row] = await queue.unreadable({ taskId });
  if (row !== undefined) return new FleetError(unreadableText(queue.name, row), EXIT_FAILED);
  const tasks = await queue.tasks({ limit: SUGGESTED_FROM, lean: true });
  const near = nearest(
    taskId,
    tasks.map(({ spec }) => spec.task_id),
  );
  const advice = near === null ? ' check the id and --fleet.' : ` did you mean ${near}?`;
  return new TaskNotFoundError(
    taskId,
    queue.name,
    `there is no task '${taskId}' in ${queue.name};${advice}`,
  );
}

/** How long a command waits for a database that does not answer, in milliseconds. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 1_000;

/** How long to wait for a database, and how long between two attempts, in milliseconds. */
export interface DatabaseWait {
  readonly patienceMs?: number;
  readonly retryMs?: number;
}

/**
 * Opens a fleet, and retries for 10 s while the database cannot be reached. Rejects with a `FleetError` or a
 * `FleetAwayError`.
 */
export async function openNamed(
  url: string,
  {
    open = openFleet,
    purpose = 'command',
    ...patience
  }: DatabaseWait & {
    readonly open?: typeof openFleet;
    readonly purpose?: FleetToOpen['purpose'];
  } = {},
): Promise<FleetQueue> {
  return whenReached(() => open({ url, env: process.env, purpose }), patience);
}

/** Repeats `attempt` for 10 s while the database cannot be reached, since it may just be starting. */
export async function whenReached<T>(
  attempt: () => Promise<T>,
  { patienceMs = PATIENCE_MS, retryMs = RETRY_MS }: DatabaseWait = {},
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isOver = performance.now() - startedAt >= patienceMs;
      if (!(error instanceof FleetAwayError) || isOver) throw error;
      await pause(retryMs);
    }
  }
}
