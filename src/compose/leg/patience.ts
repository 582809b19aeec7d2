import { writeDuration } from '../../core/settings/duration.ts';
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
 * long, at once if `isImpatient`, and if the repository or the ref is not there; and with the reason of the signal when
 * the leg is dropped or stopped. A leg that a person has stopped still gets one try, for what its run has left.
 */
export type Patience = <End extends { readonly kind: string }>(
  call: () => Promise<End>,
  isImpatient?: boolean,
) => Promise<WithoutTrouble<End>>;

interface PatienceOptions {
  /** How long a call is tried again, in milliseconds. */
  readonly ms: number;
  readonly dropped: AbortSignal;
  /** Aborts when the leg is dropped or stopped. */
  readonly over: AbortSignal;
  /** Tells a person once for each call that it is tried again. */
  readonly tell: (sentence: string) => void;
}

/** Creates the patience of one leg. */
export function createPatience({ ms, dropped, over, tell }: PatienceOptions): Patience {
  return async (call, isImpatient = false) => {
    const sinceMs = monotonicMs();
    const pauses = backOff();
    for (let tries = 1; ; tries += 1) {
      dropped.throwIfAborted();
      const end = await call().catch((error) => {
        // Git that was ended by the signal fails in many ways.
        over.throwIfAborted();
        throw error;
      });
      if (!isTrouble(end)) return end as WithoutTrouble<typeof end>;
      if (end.kind === 'no-repository' || end.kind === 'no-ref') {
        throw new LegFailed('failed:repository', end.why);
      }
      over.throwIfAborted();
      if (isImpatient || monotonicMs() - sinceMs >= ms) {
        throw new LegFailed('failed:origin', end.why, !isImpatient);
      }
      if (tries === 1) tell(`${end.why} Trying again for up to ${writeDuration(ms)}.`);
      await pauseFor(pauses.next(), over);
      over.throwIfAborted();
    }
  };
}

function isTrouble(end: { readonly kind: string }): end is Trouble {
  return ['no-repository', 'no-ref', 'away', 'refused', 'not-kept'].includes(end.kind);
}
