import { FleetAwayError } from '../../errors.ts';
import { backOff, pauseFor } from './repeat.ts';

/** Calls the fleet again and again while it is away. Rejects when the claim is lost meanwhile. */
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
