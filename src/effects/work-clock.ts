import type { CutCause } from '../core/attempt.ts';
import { monotonicMs } from './monotonic.ts';

export interface WorkLimits {
  readonly iterationMs: number;
  /** Longest silence; null: any. */
  readonly idleMs: number | null;
  readonly taskMs: number;
}

/** Counts the time in which the agent could work. */
export interface WorkClock {
  /** A sign of life: the idle limit begins anew. */
  alive(): void;
  /** The clock stands still, for at most `maxMs`. */
  pause(maxMs: number): void;
  resume(): void;
  /** Milliseconds it has stood still so far. */
  pausedMs(): number;
  stop(): void;
}

/** Node fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Calls `onPassed` once, with the first limit that passes. While it is paused no limit runs: the
 * agent waits in its own retries and could not work.
 */
export function startWorkClock(limits: WorkLimits, onPassed: (cause: CutCause) => void): WorkClock {
  const startedAtMs = monotonicMs();
  let pausedSinceMs: number | null = null;
  let pausedMs = 0;
  let quietSinceMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let over = false;

  const workedMs = (): number => monotonicMs() - startedAtMs - pausedMs;

  const arm = (): void => {
    clearTimeout(timer);
    if (over || pausedSinceMs !== null) return;
    const worked = workedMs();
    const waits: readonly (readonly [CutCause, number])[] = [
      ['task-timeout', limits.taskMs - worked],
      ['iteration-timeout', limits.iterationMs - worked],
      ['idle-timeout', limits.idleMs === null ? Infinity : quietSinceMs + limits.idleMs - worked],
    ];
    const [cause, waitMs] = waits.reduce((first, other) => (other[1] < first[1] ? other : first));
    if (waitMs <= 0) {
      over = true;
      onPassed(cause);
      return;
    }
    timer = setTimeout(arm, Math.min(Math.ceil(waitMs), LONGEST_TIMER_MS));
  };

  const resume = (): void => {
    if (pausedSinceMs === null) return;
    pausedMs += monotonicMs() - pausedSinceMs;
    pausedSinceMs = null;
    quietSinceMs = workedMs();
    arm();
  };

  arm();
  return {
    // Not armed anew: when the timer fires it sees how long the silence really was.
    alive() {
      quietSinceMs = workedMs();
    },
    pause(maxMs) {
      if (over) return;
      resume();
      pausedSinceMs = monotonicMs();
      clearTimeout(timer);
      timer = setTimeout(resume, Math.min(Math.ceil(maxMs), LONGEST_TIMER_MS));
    },
    resume,
    pausedMs: () =>
      Math.round(pausedMs + (pausedSinceMs === null ? 0 : monotonicMs() - pausedSinceMs)),
    stop() {
      over = true;
      clearTimeout(timer);
    },
  };
}
