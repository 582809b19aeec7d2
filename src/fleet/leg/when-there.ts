import { FleetAwayError } from '../../errors.ts';
import { backOff, pauseFor } from './repeat.ts';

/** Repeats a call of the fleet while the fleet is away. Rejects with the reason of `dropped` once that aborts. */
export async function whenThere<T>(dropped: AbortSignal, call: () => Promise<T>): Promise<T> {
  const pauses = backOff();
  for (;;) {
    dropped.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof FleetAwayError)) throw error;
      await pauseFor(pauses.next(), dropped);
    }
  }
}
