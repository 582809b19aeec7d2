import { fileURLToPath } from 'node:url';
import { type Guard, startGuard } from '../processes/guard.ts';
import type { Lease } from '../processes/lease.ts';

/** Path of the bundled guard program. */
export const GUARD_PROGRAM = fileURLToPath(new URL('guard-program.js', import.meta.url));

interface KeptGuardOptions {
  readonly runId: string;
  /** Path of the bundled guard program. */
  readonly guardProgram: string;
  /** Set in a fleet. */
  readonly lease?: Lease | undefined;
  readonly warn: (sentence: string) => void;
}

/** The guard of a run. */
interface KeptGuard {
  /** Returns the guard, and starts it if it is not there yet. */
  inForce(): Guard;
  /** Returns its pid in a list, which is empty if there is no guard. */
  pids(): readonly number[];
  /** Ends it. Call this last, when no process of the run needs it any more. */
  dismiss(): void;
}

/**
 * Keeps the guard of a run. It is started with the first agent; in a fleet at once, since a check may come before
 * that, and again if it has ended, since another worker may claim the task.
 */
export function keepGuard({ runId, guardProgram, lease, warn }: KeptGuardOptions): KeptGuard {
  let guard: Guard | null = null;
  let isLost = false;
  const inForce = (): Guard => {
    if (guard !== null && !isLost) return guard;
    isLost = false;
    guard = startGuard({
      runId,
      programPath: guardProgram,
      lease,
      onProblem(why) {
        warn(`There is no guard (${why}): end the agent yourself if ralph is killed.`);
        isLost = lease !== undefined;
      },
    });
    return guard;
  };
  if (lease !== undefined) inForce();
  return {
    inForce,
    pids: () => (guard?.pid == null ? [] : [guard.pid]),
    dismiss: () => guard?.farewell(),
  };
}

/** Waits until an agent may be started. A stop ends the wait, and then no agent starts. Rejects as `Lease.fresh` does. */
export async function leaseIsFresh(lease: Lease | undefined, stopped: AbortSignal): Promise<void> {
  if (lease === undefined || stopped.aborted) return;
  const over = new AbortController();
  const stop = new Promise<void>((resolve) => {
    stopped.addEventListener('abort', () => resolve(), { signal: over.signal });
  });
  await Promise.race([lease.fresh(), stop]).finally(() => over.abort());
}
