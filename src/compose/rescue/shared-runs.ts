import path from 'node:path';
import { hasRoom } from '../../core/task/day-budget.ts';
import { takeLock } from '../../effects/lock/wait-for-lock.ts';
import { createDayCounter } from '../../effects/logs/day-spending.ts';
import { combinedStop, watchSignals } from '../../effects/processes/signals.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { messageOf } from '../../errors.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { RunEnd } from '../../loop/stop.ts';
import type { NoRoom } from '../../rescue/ports.ts';
import type { RunOptions } from '../held-run.ts';
import { startRun } from '../run.ts';
import { workTreeHolds } from '../work-tree-hold.ts';

/** A run of one of several tasks, ready to start. */
export type PlannedTask = Pick<RunOptions, 'plan' | 'view' | 'announcements' | 'resume' | 'said'>;

/** The limits of all tasks together. */
export interface RunBounds {
  /** US dollars for all tasks of a day together; null: no limit. A task may have its own lower limit. */
  readonly maxCostPerDay: number | null;
  /** Calls `run` with a signal that aborts on an error in ralph's own code that nothing catches. */
  readonly endedByBugs: <T>(run: (bugs: AbortSignal) => Promise<T>) => Promise<T>;
}

/** Runs several tasks in one process. The tasks share the handling of signals, locked work trees and a daily budget. */
export interface SharedRuns {
  readonly stops: StopRequests & { close(): void };
  /** Runs a task to its end, unless the daily budget is spent. Rejects as `startRun` does. */
  run(task: PlannedTask): Promise<{ readonly kind: 'ended'; readonly end: RunEnd } | NoRoom>;
}

/** Starts watching signals for the tasks of this process; `stops.close` stops watching. */
export function sharedRuns(
  stateDir: string,
  warn: (sentence: string) => void,
  { maxCostPerDay, endedByBugs }: RunBounds,
): SharedRuns {
  const stops = watchSignals();
  const workTrees = workTreeHolds();
  const countDay = createDayCounter(path.join(stateDir, 'events.jsonl'), warn);
  return {
    stops,
    async run(task) {
      const { maxCostPerDay: own } = task.plan.policy;
      const spends = task.resume?.announcesOnly !== true;
      if (spends && (own !== null || maxCostPerDay !== null)) {
        const day = countDay(systemClock.now());
        const isSpent = (maxUsd: number | null): boolean =>
          maxUsd !== null && !hasRoom(day, maxUsd);
        const isForAll = isSpent(maxCostPerDay);
        if (isForAll || isSpent(own)) return { kind: 'no-room', until: day.until, isForAll };
      }
      const end = await endedByBugs((bugs) =>
        startRun({ ...task, bugs, workTrees, stops: combinedStop(stops) }),
      );
      return { kind: 'ended', end };
    },
  };
}

/** Locks a name in the state folder for this process; null if another has it. Rejects if no lock can be stored. */
export async function holdName(
  stateDir: string,
  name: string,
): Promise<{ release(): void } | null> {
  const lock = await takeLock(stateDir, name).catch((error: unknown) => {
    throw new Error(`no claim can be written to ${stateDir} (${messageOf(error)})`);
  });
  return lock.kind === 'held' ? lock : null;
}
