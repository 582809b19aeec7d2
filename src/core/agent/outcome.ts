/** Every way an attempt can end, as `classify` names it. A new ending is a new member here. */

/** Causes that no further attempt can mend. */
export type FatalCause =
  | 'agent-not-found'
  | 'not-logged-in'
  | 'no-credit'
  | 'refused-request'
  | 'slash-command'
  | 'bad-option'
  | 'root-refused'
  | 'aborted';

export type Outcome =
  /** The agent gave its answer. */
  | { readonly kind: 'answered' }
  /** The agent's own bound cut it: it worked, but its words complete nothing. */
  | { readonly kind: 'bounded'; readonly by: 'max-turns' | 'max-budget' }
  /** A time limit of ralph's passed. */
  | { readonly kind: 'timed-out'; readonly limit: 'iteration' | 'idle' | 'task' }
  /** A signal or a request to stop ended it; the iteration does not count. */
  | { readonly kind: 'stopped' }
  /** A passing fault: the same iteration is tried again. */
  | { readonly kind: 'transient'; readonly status: number | null; readonly message: string }
  /** A plan limit of the account; `resetsAt` is an ISO instant, null where none was given. */
  | { readonly kind: 'usage-limited'; readonly resetsAt: string | null; readonly message: string }
  /** The agent's own session is gone or too long: the same iteration begins afresh. */
  | { readonly kind: 'session-gone'; readonly message: string }
  /** Nothing will get better by trying again. */
  | { readonly kind: 'fatal'; readonly cause: FatalCause; readonly message: string }
  /** Any other failure: a failed iteration, and the loop goes on. */
  | { readonly kind: 'errored'; readonly message: string };

/** Outcomes after which an iteration counts. */
export type CountedOutcome = Extract<
  Outcome,
  { kind: 'answered' | 'bounded' | 'timed-out' | 'errored' }
>;

/** Whether the iteration counts: the agent was allowed to answer, or used up its chance. */
export function isCounted(outcome: Outcome): outcome is CountedOutcome {
  return (
    outcome.kind === 'answered' ||
    outcome.kind === 'bounded' ||
    outcome.kind === 'timed-out' ||
    outcome.kind === 'errored'
  );
}

/** One line for people: what came of it. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'answered':
      return 'answered';
    case 'bounded':
      return outcome.by === 'max-turns'
        ? 'cut by its own turn limit'
        : 'cut by its own budget limit';
    case 'timed-out':
      return outcome.limit === 'idle'
        ? 'silent for too long'
        : `timed out (${outcome.limit} limit)`;
    case 'stopped':
      return 'stopped';
    case 'transient':
    case 'usage-limited':
    case 'session-gone':
    case 'errored':
      return outcome.message;
    case 'fatal':
      return `${outcome.cause}: ${outcome.message}`;
  }
}
