import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `work` every `everyMs` milliseconds until the signal aborts, but never twice at once. Resolves once the last
 * call has ended. If a call rejects, `onError` gets the reason, and the calls go on.
 */
export async function repeat(
  everyMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      onError(error);
    }
    await pauseFor(everyMs, signal);
  }
}

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Waits for the work. If the signal aborts first, rejects with its reason. */
export async function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
  });
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

/** The shortest and the longest pause after a failure, in milliseconds. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Returns pauses that double from one second up to thirty, and are short again after `worked`. */
export function backOff(): { next(): number; worked(): void } {
  let ms = SHORTEST_MS;
  return {
    next() {
      const now = ms;
      ms = Math.min(ms * 2, LONGEST_MS);
      return now;
    },
    worked() {
      ms = SHORTEST_MS;
    },
  };
}
