import { writeDuration } from '../../core/settings/duration.ts';
import { monotonicMs } from '../../effects/time/monotonic.ts';
import { LegFailed } from './leg-failed.ts';
import { backOff, pauseFor } from './repeat.ts';
import { WorkerSick } from './worker-sick.ts';

/** A failure at the origin (the task's repository) or in the work tree; `why` is a sentence. */
type Trouble =
  | { readonly kind: 'no-repository' | 'no-ref'; readonly why: string }
  | { readonly kind: 'away' | 'refused'; readonly why: string }
  | { readonly kind: 'not-kept'; readonly why: string; readonly isFull: boolean };

type WithoutTrouble<End> = Exclude<End, { readonly kind: Trouble['kind'] }>;

/**
 * How far a task has come:
 * - `first-contact`: its repository was never reached. If it does not exist or may not be read, the task ends at once.
 *   At a later stage the same counts as an outage: a token may have been replaced, or a limit reached.
 * - `tree`: the work tree is being made.
 * - `first-push`: no agent has run yet. An origin that refuses ends the task at once.
 * - `work`: the work tree holds work that is stored nowhere else.
 */
export type Stage = 'first-contact' | 'tree' | 'first-push' | 'work';

/**
 * Repeats a call while the origin is away or refuses, and a few times if the work tree cannot be saved. Rejects with a
 * `LegFailed` if this takes too long or cannot succeed, with `WorkerSick` if the disk is full, and with
 * the signal's reason if the run (the leg) is dropped or stopped. After a stop there is still one try, for what the run
 * has left.
 */
export type LegPatience = <End extends { readonly kind: string }>(
  stage: Stage,
  call: () => Promise<End>,
) => Promise<WithoutTrouble<End>>;

interface PatienceOptions {
  readonly ms: number;
  readonly dropped: AbortSignal;
  /** Aborts when the leg is dropped or stopped. */
  readonly over: AbortSignal;
  /** Tells a person, once for each call, that it is repeated. */
  readonly tell: (sentence: string) => void;
}

/** After this many failures to save the work tree as a snapshot, its repository counts as broken. */
const KEEPS_AT_MOST = 3;

/** Creates the function that repeats the calls of one leg. */
export function createLegPatience({ ms, dropped, over, tell }: PatienceOptions): LegPatience {
  return async (stage, call) => {
    const sinceMs = monotonicMs();
    const pauses = backOff();
    for (let tries = 1; ; tries += 1) {
      dropped.throwIfAborted();
      const end = await call().catch((error) => {
        // A git that the signal has killed may fail in any way, so its error says nothing.
        over.throwIfAborted();
        throw error;
      });
      if (!isTrouble(end)) return end as WithoutTrouble<typeof end>;
      refuseLostRepository(end, stage);
      over.throwIfAborted();
      if (end.kind === 'not-kept') {
        if (end.isFull) throw new WorkerSick(end.why);
        if (tries >= KEEPS_AT_MOST) throw new LegFailed('failed:repository', end.why, true);
      } else {
        const isRefused = end.kind === 'refused' && stage === 'first-push';
        if (isRefused || monotonicMs() - sinceMs >= ms) {
          throw new LegFailed('failed:origin', end.why, stage === 'work');
        }
        if (tries === 1) tell(`${end.why} Trying again for up to ${writeDuration(ms)}.`);
      }
      await pauseFor(pauses.next(), over);
      over.throwIfAborted();
    }
  };
}

function refuseLostRepository({ kind, why }: Trouble, stage: Stage): void {
  if (kind === 'no-ref' || (kind === 'no-repository' && stage === 'first-contact')) {
    throw new LegFailed('failed:repository', why);
  }
}

function isTrouble(end: { readonly kind: string }): end is Trouble {
  return ['no-repository', 'no-ref', 'away', 'refused', 'not-kept'].includes(end.kind);
}
