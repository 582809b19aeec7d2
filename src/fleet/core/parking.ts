import type { LoopState } from '../../core/machine/loop-state.ts';
import { WAIT_IN_PLACE_MS } from '../../core/supervisor/lease.ts';
import { type Approval, laterBy, msBetween } from '../../core/task/task-state.ts';
import type { Parking } from './fleet-task.ts';

interface ParkingFacts {
  /** The current instant; for an approval, it is by the database's clock, because the request expires by that clock. */
  readonly now: string;
  /** Whether the approval that the task waited for is answered, so that the task goes on. */
  readonly isAnswered: boolean;
  /** When the approval expires in the fleet. Each resume of the task renews this, but not the instant in its state. */
  readonly expiresAt?: string | null;
}

/** Returns what a task waits for if the wait is so long that its worker gives it up (parks it); null if it goes on. */
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

/** How long an account rests (its tasks are not claimed) if the reset of its limit is unknown, in milliseconds. */
const UNKNOWN_RESET_MS = 30 * 60_000;
/** The longest rest of an account, in milliseconds: no limit is longer than a week, whatever an agent reports. */
const LONGEST_REST_MS = 7 * 24 * 3_600_000;

/**
 * Returns the end of the rest of an account at its usage limit. `resetsAt` is when the service resets the limit; null
 * if that is unknown. That instant is returned as it is unless it is past, very near or more than a week away.
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

/** Returns the approval that people are being asked for: the request is written, and the state has no decision yet. */
export function askedFor({ task: { approval } }: Pick<LoopState, 'task'>): Approval | null {
  if (approval === null || approval.there_before === null) return null;
  return approval.decision === null ? approval : null;
}
