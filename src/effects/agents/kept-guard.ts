import { fileURLToPath } from 'node:url';
import { type Guard, startGuard } from '../processes/guard.ts';
import type { Lease } from '../processes/lease.ts';
import type { ProcessIdentity } from '../processes/process-table.ts';

/** Path of the bundled guard program. */
export const GUARD_PROGRAM = fileURLToPath(new URL('guard-program.js', import.meta.url));

interface KeptGuardOptions {
  readonly runId: string;
  /** Path of the bundled guard program. */
  readonly guardProgram: string;
  /** The lease, a time limit of a worker's claim to the task; set only in a fleet (machines that share tasks). */
  readonly lease?: Lease | undefined;
  readonly warn: (sentence: string) => void;
}

/**
 * Starts and replaces the guard of a run, the process that ends the agent if ralph is killed. It starts with the first
 * agent, or in a fleet with the run, since a check command may run first. In a fleet, another worker may claim a killed
 * worker's task, so a guard that has ended is replaced, but only once per attempt, in case no guard can stay alive.
 */
export function keepGuard({ runId, guardProgram, lease, warn }: KeptGuardOptions) {
  let guard: Guard | null = null;
  let isLost = false;
  let mayReplace = false;
  let noted: readonly ProcessIdentity[] = [];
  const start = (): void => {
    isLost = false;
    guard = startGuard({
      runId,
      programPath: guardProgram,
      lease,
      onProblem(why) {
        if (mayReplace) {
          mayReplace = false;
          start();
          guard?.note(noted);
          return;
        }
        warn(`There is no guard (${why}): end the agent yourself if ralph is killed.`);
        isLost = lease !== undefined;
      },
    });
  };
  if (lease !== undefined) start();
  return {
    /** Returns the guard, which is started if necessary. */
    inForce(): Pick<Guard, 'pid' | 'note'> {
      if (guard === null || isLost) start();
      mayReplace = lease !== undefined;
      return {
        pid: guard?.pid ?? null,
        note(processes) {
          if (processes.length > 0) noted = processes;
          guard?.note(processes);
        },
      };
    },
    /** Returns the guard's pid in a list; empty if there is no guard. */
    pids: (): readonly number[] => (guard?.pid == null ? [] : [guard.pid]),
    /** Ends the guard. Call this last, when no process of the run needs it any more. */
    dismiss: (): void => guard?.farewell(),
  };
}

/** Waits until the lease is fresh enough to start an agent, or until a stop. Rejects if the worker's claim is lost. */
export async function leaseIsFresh(lease: Lease | undefined, stopped: AbortSignal): Promise<void> {
  if (lease === undefined || stopped.aborted) return;
  const over = new AbortController();
  const stop = new Promise<void>((resolve) => {
    stopped.addEventListener('abort', () => resolve(), { signal: over.signal });
  });
  await Promise.race([lease.fresh(), stop]).finally(() => over.abort());
}
