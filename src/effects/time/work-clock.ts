import type { CutCause } from '../../core/agent/attempt.ts';
import { monotonicMs } from './monotonic.ts';
import { HELD_UP_MS, startPatientTimer } from './patient-timer.ts';

export interface WorkLimits {
  readonly iterationMs: number;
  /** The longest silence of the agent; null means no limit. */
  readonly idleMs: number | null;
  readonly taskMs: number;
}

export interface WorkClock {
  /** Restarts the idle limit; call it at each sign of life. */
  alive(): void;
  pause(maxMs: number): void;
  resume(): void;
  /** Returns how many milliseconds the clock has been paused so far. */
  pausedMs(): number;
  /** Returns how many milliseconds ralph itself was suspended. */
  heldUpMs(): number;
  stop(): void;
}

/** In Node, a longer timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The longest time between two checks. Only a late timer shows a suspension, of which up to one step is missed. */
const LONGEST_STEP_MS = 30_000;
const SHORTEST_STEP_MS = 1_000;
const STEPS = 10;
/** Time for the agent to write after a suspension, because a full pipe may have blocked it. */
const CATCH_UP_MS = 1_000;
/** How often the agent gets `CATCH_UP_MS` at most: a machine that is always late must not postpone a limit for ever. */
const MOST_CATCH_UPS = 10;

/**
 * Calls `onPassed` once, with the first limit that passes. No limit runs while the clock is paused,
 * because the agent waits to retry and cannot work. No limit runs while ralph is suspended either
 * (by Ctrl-Z or in a frozen container), because ralph cannot read the agent's answer then.
 */
export function startWorkClock(limits: WorkLimits, onPassed: (cause: CutCause) => void): WorkClock {
  const startedAtMs = monotonicMs();
  let pausedSinceMs: number | null = null;
  let pausedMs = 0;
  let heldUpMs = 0;
  let quietSinceMs = 0;
  let catchUps = 0;
  let catchUpUntilMs = 0;
  /** When the current timer should fire; a suspension shows as being later than this. */
  let dueMs = Infinity;
  let cancelTimer = (): void => {};
  let over = false;

  const workedMs = (): number => monotonicMs() - startedAtMs - pausedMs - heldUpMs;

  const startTimer = (callback: () => void, ms: number): void => {
    cancelTimer();
    cancelTimer = startPatientTimer(callback, Math.min(Math.ceil(ms), LONGEST_TIMER_MS));
  };

  const subtractHoldUp = (): void => {
    const nowMs = monotonicMs();
    const lateMs = nowMs - dueMs;
    if (lateMs <= HELD_UP_MS) return;
    heldUpMs += lateMs;
    dueMs = nowMs;
    catchUps += 1;
    if (catchUps <= MOST_CATCH_UPS) catchUpUntilMs = nowMs + CATCH_UP_MS;
  };

  const arm = (): void => {
    cancelTimer();
    if (over || pausedSinceMs !== null) return;
    subtractHoldUp();
    const worked = workedMs();
    const waits: readonly (readonly [CutCause, number])[] = [
      ['task-timeout', limits.taskMs - worked],
      ['iteration-timeout', limits.iterationMs - worked],
      ['idle-timeout', limits.idleMs === null ? Infinity : quietSinceMs + limits.idleMs - worked],
    ];
    const [cause, limitMs] = waits.reduce((first, other) => (other[1] < first[1] ? other : first));
    const waitMs = Math.max(limitMs, catchUpUntilMs - monotonicMs());
    if (waitMs <= 0) {
      over = true;
      dueMs = Infinity;
      onPassed(cause);
      return;
    }
    const stepMs = Math.min(Math.max(waitMs / STEPS, SHORTEST_STEP_MS), LONGEST_STEP_MS, waitMs);
    dueMs = monotonicMs() + Math.ceil(stepMs);
    startTimer(arm, stepMs);
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
    // The timer is not restarted: when it fires, `arm` computes how long the silence really was.
    alive() {
      subtractHoldUp();
      quietSinceMs = workedMs();
    },
    pause(maxMs) {
      if (over) return;
      resume();
      subtractHoldUp();
      dueMs = Infinity;
      pausedSinceMs = monotonicMs();
      startTimer(resume, maxMs);
    },
    resume,
    pausedMs: () =>
      Math.round(pausedMs + (pausedSinceMs === null ? 0 : monotonicMs() - pausedSinceMs)),
    heldUpMs: () => Math.round(heldUpMs),
    stop() {
      subtractHoldUp();
      over = true;
      dueMs = Infinity;
      cancelTimer();
    },
  };
}
