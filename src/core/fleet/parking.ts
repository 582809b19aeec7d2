import type { LoopState } from '../machine/loop-state.ts';
import { type Approval, msBetween } from '../task/task-state.ts';
import type { Parking } from './fleet-task.ts';
import { WAIT_IN_PLACE_MS } from './lease.ts';

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
    const { kind, until } = task.wait;
    const inMs = msBetween(now, until);
    if (inMs <= WAIT_IN_PLACE_MS) return null;
    return { kind: 'wait', until, inMs, account: kind === 'usage-limit' };
  }
  if (step.kind !== 'approving' || isAnswered) return null;
  const approval = askedFor({ task });
  if (approval === null) return null;
  const until = facts.expiresAt ?? approval.expires_at;
  const inMs = msBetween(now, until);
  return inMs <= 0 ? null : { kind: 'approval', until, inMs };
}

/** Returns the approval that people are asked for: its request is written, and no decision is in the state. */
export function askedFor({ task: { approval } }: Pick<LoopState, 'task'>): Approval | null {
  if (approval === null || approval.there_before === null) return null;
  return approval.decision === null ? approval : null;
}
