import { monotonicMs } from '../../effects/time/monotonic.ts';
import { LegFailed } from './leg-failed.ts';
import { backOff, pauseFor } from './repeat.ts';

/** What went wrong at the origin; `why` is a sentence. */
type Trouble =
  | { readonly kind: 'no-repository' | 'no-ref'; readonly why: string }
  | { readonly kind: 'away' | 'refused' | 'not-kept'; readonly why: string };

type WithoutTrouble<End> = Exclude<End, { readonly kind: Trouble['kind'] }>;

/**
 * Calls the origin again and again while it is away or refuses. Rejects with a `LegFailed` when it has taken too
 * long, at once if `isImpatient`, and if the repository or the ref is not there; and with the reason of the signal
 * when the claim is lost.
 */
export type Patience = <End extends { readonly kind: string }>(
  call: () => Promise<End>,
  isImpatient?: boolean,
) => Promise<WithoutTrouble<End>>;

/** Creates a patience of `ms` milliseconds for each call. After `stop`, nothing is tried a second time. */
export function createPatience(ms: number, dropped: AbortSignal, stop: AbortSignal): Patience {
  const over = AbortSignal.any([dropped, stop]);
  return async (call, isImpatient = false) => {
    const sinceMs = monotonicMs();
    const pauses = backOff();
    for (;;) {
      dropped.throwIfAborted();
      const end = await call();
      if (!isTrouble(end)) return end as WithoutTrouble<typeof end>;
      if (end.kind === 'no-repository' || end.kind === 'no-ref') {
        throw new LegFailed('failed:repository', end.why);
      }
      over.throwIfAborted();
      if (isImpatient || monotonicMs() - sinceMs >= ms) {
        throw new LegFailed('failed:origin', end.why, !isImpatient);
      }
      await pauseFor(pauses.next(), over);
      over.throwIfAborted();
    }
  };
}

function isTrouble(end: { readonly kind: string }): end is Trouble {
  return ['no-repository', 'no-ref', 'away', 'refused', 'not-kept'].includes(end.kind);
}
