import { NOTHING_SEEN, type Sightings } from '../../src/core/completion/sightings.ts';
import type { Policy } from '../../src/core/task/policy.ts';
import { answered, errorReport, refusedTool } from './attempt-facts.ts';
import { loopInHand, type Turn } from './loop-in-hand.ts';

/*
 * What the tests of the loop hand to it most often: attempts of the agent, and what is seen after them.
 */

export const TAG = '<promise>DONE</promise>';
export const DONE = answered(`All good.\n${TAG}`);
export const WORK = answered('I did a part of it.');
export const REFUSED = answered(TAG, { refused: [refusedTool('Bash', 'npm test')] });

export const OVERLOADED = errorReport('API Error: 529 Overloaded.', 529);
export const LIMITED = errorReport("You've hit your limit · resets 3pm (UTC)", 429);
export const NO_LOGIN = errorReport('Not logged in · Please run /login');
export const GONE = errorReport('No conversation found with session ID: session-1');

/** For a policy that watches `out/*.md`. */
export const MATCHED: Sightings = { ...NOTHING_SEEN, watchMatches: ['out/a.md'] };

export type Loop = ReturnType<typeof loopInHand>;

/** A loop whose first attempt is running. */
export function running(changes: Partial<Policy> = {}, taskTimeoutMs?: number): Loop {
  const loop = loopInHand(changes, taskTimeoutMs);
  loop.start();
  return loop;
}

/** A running loop without a delay between its iterations. */
export function nonstop(changes: Partial<Policy> = {}, taskTimeoutMs?: number): Loop {
  return running({ delayMs: 0, ...changes }, taskTimeoutMs);
}

/** Status, step and actions after a turn, as one line. */
export function summary({ state, actions }: Turn): string {
  return `${state.task.status}, ${state.step.kind}: ${actions.join(' ')}`;
}
