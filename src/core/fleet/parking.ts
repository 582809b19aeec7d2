import type { LoopState } from '../machine/loop-state.ts';
import { msBetween } from '../task/task-state.ts';
import type { Parking } from './fleet-task.ts';
import { WAIT_IN_PLACE_MS } from './lease.ts';

/** What is known of a task besides its state. */
interface ParkingFacts {
  /** ISO instant. */
  readonly now: string;
  /** Whether the approval that it waited for is answered or has expired: then it goes on. */
  readonly isAnswered: boolean;
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
  const { approval } = task;
  // Until then, the request is not written.
  if (approval === null || approval.there_before === null || approval.decision !== null)
    return null;
  const until = approval.expires_at;
  return { kind: 'approval', until, inMs: Math.max(0, msBetween(now, until)) };
}
