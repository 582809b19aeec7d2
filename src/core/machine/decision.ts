import type { StatusAndReason } from '../task/endings.ts';
import type { Policy } from '../task/policy.ts';
import type { Approval, Wait } from '../task/task-state.ts';
import type { Announcement } from './action.ts';
import type { EventBody } from './events.ts';
import type { CountedAnswer, Ending, LoopState, Step } from './loop-state.ts';

/** The instant of an event, and the policy (the task's settings) by which the current step decides. */
export interface Moment {
  readonly at: string;
  readonly policy: Policy;
}

/** What a step has decided. `apply` builds the next state and the actions from it. */
export type Decision =
  | End
  /** Announces the ending of an ended task, because the ralph process that ran it died before announcing it. */
  | { readonly kind: 'announce-end' }
  /**
   * Starts the agent. `next`: in the next iteration. `same`, `updated`: again in this iteration, with the same prompt
   * or with one that contains the newest hints. `dayHasRoom`: the budget of the day was checked just before, and is
   * not spent.
   */
  | {
      readonly kind: 'start';
      readonly prompt: 'next' | 'same' | 'updated';
      readonly dayHasRoom?: true;
    }
  | { readonly kind: 'wait'; readonly wait: Wait }
  /** Asks the agent whether it is done, since its answer left that in doubt. */
  | { readonly kind: 'ask-back'; readonly answer: CountedAnswer; readonly question: string }
  /** Enters one of the steps below, or repeats it in a resumed task. */
  | Extract<
      Step,
      {
        kind:
          | 'counting-day'
          | 'measuring'
          | 'looking'
          | 'verifying'
          | 'examining'
          | 'settling'
          | 'following';
      }
    >
  | { readonly kind: 'request-approval'; readonly approval: Approval }
  | { readonly kind: 'await-approval'; readonly approval: Approval };

/** Ends the loop. */
export type End = { readonly kind: 'end' } & HowItEnded;

export type HowItEnded = StatusAndReason &
  Partial<Pick<Ending, 'evidence' | 'error' | 'until' | 'accepting' | 'judge'>>;

/** How a step handles an event. */
export interface Decided {
  /** The state with the facts of the event. `state.step` is still the old step. */
  readonly state: LoopState;
  /** What is announced before the decision is carried out. */
  readonly announced?: readonly Announcement[];
  /** What follows; null if nothing does. */
  readonly decision: Decision | null;
}

/** Ignores an event that does not belong to the current step. */
export function strayed(state: LoopState): Decided {
  return { state, decision: null };
}

export function publish(body: EventBody): Announcement {
  return { kind: 'publish', body };
}
