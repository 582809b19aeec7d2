import type { StatusAndReason } from '../task/endings.ts';
import type { Policy } from '../task/policy.ts';
import type { Approval, Wait } from '../task/task-state.ts';
import type { EventBody } from './events.ts';
import type { Answer, Ending, LoopState, Step, Telling } from './loop-state.ts';

/** The instant of an event, and the policy by which its step decides. */
export interface Moment {
  readonly at: string;
  readonly policy: Policy;
}

/** What comes next. `apply` makes the next state and the actions of it. */
export type Decision =
  | End
  /** Announces the ending again, because the driver died before announcing it. */
  | { readonly kind: 'announce-end' }
  /**
   * Starts the agent: in the `next` iteration, or again in this one with the `same` prompt, or with one that
   * is `updated` by the hints that have arrived since.
   */
  | { readonly kind: 'start'; readonly prompt: 'next' | 'same' | 'updated' }
  | { readonly kind: 'wait'; readonly wait: Wait }
  /** Asks the agent about its answer. */
  | { readonly kind: 'ask-back'; readonly answer: Answer; readonly question: string }
  /** Takes this step, or repeats it. */
  | Extract<Step, { kind: 'looking' | 'verifying' | 'following' }>
  /** Writes a request for a person. */
  | { readonly kind: 'request-approval'; readonly approval: Approval }
  /** Waits for the person's answer. */
  | { readonly kind: 'await-approval'; readonly approval: Approval };

/** Ends the loop. */
export type End = { readonly kind: 'end' } & HowItEnded;

export type HowItEnded = StatusAndReason & Partial<Pick<Ending, 'evidence' | 'error' | 'until'>>;

/** What a step has made of an event. */
export interface Decided {
  /** With the facts that the event brought. Its step is still the old one. */
  readonly state: LoopState;
  /** What is announced before the decision is carried out. */
  readonly announced?: readonly Telling[];
  /** Null if there is nothing to do. */
  readonly decision: Decision | null;
}

/** An event that does not belong to the current step changes nothing. */
export function strayed(state: LoopState): Decided {
  return { state, decision: null };
}

export function publish(body: EventBody): Telling {
  return { kind: 'publish', body };
}
