import type { LoopState } from '../../core/machine/loop-state.ts';
import { WAIT_IN_PLACE_MS } from '../../core/supervisor/lease.ts';
import { type Approval, laterBy, msBetween } from '../../core/task/task-state.ts';
import type { Parking } from './fleet-task.ts';

/** What is known of a task besides its state. */
interface ParkingFacts {
  /** ISO instant; for an approval by the database's clock, by which the leg is woken when it expires. */
  readonly now: string;
  /** Whether the approval that it waited for is answered: then it goes on. */
  readonly isAnswered: boolean;
  /** When the approval expires, as the fleet has it: each resume renews the state's own instant. */
  readonly expiresAt?: string | null;
}

/** Returns what a task waits for so long that its leg ends; null if the leg goes on. */
export function parkingOf({ step, task }: LoopState, facts: ParkingFacts): Parking | null {
  const { now, isAnswered } = facts;
  if (step.kind === 'waiting' && task.wait !== null) {
    const { kind, until, is_guess = false } = task.wait;
    if (is_guess) return { kind: 'wait', ...restUntil(null, now), account: true };
    const inMs = msBetween(now, until);
    if (inMs <= WAIT_IN_PLACE_MS) return null;
    if (kind === 'usage-limit') return { kind: 'wait', ...restUntil(until, now), account: true };
    return { kind: 'wait', until, inMs, account: false };
  }
  if (step.kind !== 'approving' || isAnswered) return null;
  const approval = askedFor({ task });
  if (approval === null) return null;
  const until = facts.expiresAt ?? approval.expires_at;
  const inMs = msBetween(now, until);
  return inMs <= 0 ? null : { kind: 'approval', until, inMs };
}

/** How long an account rests whose limit has no known reset, in milliseconds. */
const UNKNOWN_RESET_MS = 30 * 60_000;
/** No limit is longer than a week, whatever an agent reports. Milliseconds. */
const LONGEST_REST_MS = 7 * 24 * 3_600_000;

/**
 * Returns until when an account rests that is at its limit; `resetsAt` is when the service resets it, null if that is not
 * known. A reset is an instant of the service, and stays that whatever the clock of this host says.
 */
export function restUntil(
  resetsAt: string | null,
  now: string,
): { readonly until: string; readonly inMs?: number } {
  const rest = (inMs: number) => ({ until: laterBy(now, inMs), inMs });
  const leftMs = resetsAt === null ? 0 : msBetween(now, resetsAt);
  if (resetsAt === null || leftMs <= 0) return rest(UNKNOWN_RESET_MS);
  if (leftMs < WAIT_IN_PLACE_MS) return rest(WAIT_IN_PLACE_MS);
  return leftMs > LONGEST_REST_MS ? rest(LONGEST_REST_MS) : { until: resetsAt };
}

/** Returns the approval that people are asked for: its request is written, and no decision is in the state. */
export function askedFor({ task: { approval } }: Pick<LoopState, 'task'>): Approval | null {
  if (approval === null || approval.there_before === null) return null;
  return approval.decision === null ? approval : null;
}
