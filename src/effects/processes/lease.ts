import { START_WITHIN } from '../../core/supervisor/lease.ts';
import { type ClockReading, msSince } from '../time/clock-reading.ts';

/** How long a worker of a fleet may go on after its last beat (a sign of life) that reached the shared database. */
export interface Lease {
  readonly ms: number;
  /**
   * Milliseconds since the last beat that reached the database was sent, by the wall clock or the monotonic clock,
   * whichever shows more: the monotonic clock stands still while the machine sleeps.
   */
  ageMs(): number;
  /** Calls the listener with the age in ms of each beat that reaches the database. Returns a function to end this. */
  onBeat(listener: (ageMs: number) => void): () => void;
  /** Resolves once the last beat is recent enough to start an agent. Rejects if the claim to the task is lost. */
  fresh(): Promise<void>;
}

export interface ClaimLease extends Lease {
  /** Notes that a beat which was sent at this moment has reached the database. */
  beaten(sentAt: ClockReading): void;
}

/** Creates the lease of a claim that was asked for at `claimedAt`. `dropped` aborts when the claim is lost. */
export function createClaimLease(
  ms: number,
  claimedAt: ClockReading,
  dropped: AbortSignal,
): ClaimLease {
  let last = claimedAt;
  const listeners = new Set<(ageMs: number) => void>();
  const ageMs = (): number => msSince(last);
  const onBeat = (listener: (ageMs: number) => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    ms,
    ageMs,
    onBeat,
    beaten(sentAt) {
      last = sentAt;
      for (const listener of listeners) listener(ageMs());
    },
    fresh() {
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          if (!dropped.aborted && ageMs() >= ms * START_WITHIN) return;
          forget();
          dropped.removeEventListener('abort', settle);
          if (dropped.aborted) reject(dropped.reason);
          else resolve();
        };
        const forget = onBeat(settle);
        dropped.addEventListener('abort', settle);
        settle();
      });
    },
  };
}
