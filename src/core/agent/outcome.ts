import type { AttemptFacts } from './attempt.ts';
import { describeSign, type SignFound } from './sign.ts';

/** Causes of a failure that another attempt cannot fix. */
export type FatalCause =
  | 'agent-not-found'
  | 'not-logged-in'
  | 'no-credit'
  | 'refused-request'
  | 'slash-command'
  /** A hook of the user blocked the prompt. */
  | 'hook'
  | 'bad-option'
  | 'root-refused'
  /** The agent failed at its start several times, for an unknown cause. */
  | 'agent-error'
  | 'aborted';

/** Every way in which an attempt can end, as `classify` returns it. */
export type Outcome =
  | { readonly kind: 'answered' }
  /** The agent stopped at a limit of the agent itself. It worked, but its text cannot complete the task. */
  | { readonly kind: 'bounded'; readonly by: 'max-turns' | 'max-budget' }
  /** One of ralph's time limits passed. */
  | { readonly kind: 'timed-out'; readonly limit: 'iteration' | 'idle' | 'task' }
  /** The agent only repeated itself, or used more than it may, so ralph ended it. */
  | { readonly kind: 'cut'; readonly by: SignFound }
  /** A signal or a request to stop ended the agent; the iteration does not count. */
  | { readonly kind: 'stopped' }
  /** A temporary failure: the same iteration is tried again. */
  | { readonly kind: 'transient'; readonly status: number | null; readonly message: string }
  /** A plan limit of the account; `resetsAt` is an ISO instant, or null if none was given. */
  | { readonly kind: 'usage-limited'; readonly resetsAt: string | null; readonly message: string }
  /** The agent's own session is gone or too long: the same iteration starts with a new session. */
  | { readonly kind: 'session-gone'; readonly message: string }
  /** A failure that another attempt cannot fix: the task ends. */
  | {
      readonly kind: 'fatal';
      readonly cause: FatalCause;
      readonly message: string;
      /** Set if the prompt, with the session's history, was too long: a new session has more room. */
      readonly isTooLong?: true;
    }
  /** The agent failed before the model was asked, for an unknown cause. This says nothing about the task. */
  | { readonly kind: 'failed-start'; readonly message: string }
  /** Any other failure: the iteration fails and the loop continues. */
  | {
      readonly kind: 'errored';
      readonly message: string;
      /** Set if the service refused the content of the session. The session must not be resumed then. */
      readonly endsSession?: true;
    };

/** Outcomes that count as an iteration. */
export type CountedOutcome = Extract<
  Outcome,
  { kind: 'answered' | 'bounded' | 'timed-out' | 'cut' | 'errored' }
>;

/** Whether the outcome counts as an iteration. After any other one, the iteration is tried again or the task ends. */
export function isCounted(outcome: Outcome): outcome is CountedOutcome {
  return (
    outcome.kind === 'answered' ||
    outcome.kind === 'bounded' ||
    outcome.kind === 'timed-out' ||
    outcome.kind === 'cut' ||
    outcome.kind === 'errored'
  );
}

export function fatal(cause: FatalCause, message: string): Outcome {
  return { kind: 'fatal', cause, message };
}

export function errored(message: string): Outcome {
  return { kind: 'errored', message };
}

/**
 * Corrects an outcome by whether the model has worked in the attempt and whether the attempt resumed a session. A
 * request that is refused after work is refused for what the attempt has added to its session. One that is refused at
 * the start of a resumed session is refused for that session. A failure before any work says nothing about the task.
 * `facts.usage` must be that of the attempt alone.
 */
export function inContext(told: Outcome, facts: AttemptFacts, resumed: boolean): Outcome {
  const { worked, end, usage, sessionUsage } = facts;
  // codex ends like this, with an empty answer and without a token, if its account may use no more.
  const isUnasked = !worked && sessionUsage !== null && usage.input_tokens === 0;
  const outcome = told.kind === 'answered' && isUnasked ? errored(NEVER_ASKED) : told;
  const isRefused = outcome.kind === 'fatal' && outcome.cause === 'refused-request';
  const isUnknown = outcome.kind === 'errored' || (outcome.kind === 'session-gone' && !resumed);
  if (!(isRefused || isUnknown) || end.kind === 'cut') return outcome;
  const { message } = outcome;
  const isTooLong = isRefused && outcome.isTooLong === true;
  if (resumed && (isTooLong || !worked)) return { kind: 'session-gone', message };
  if (worked) return isRefused ? { kind: 'errored', message, endsSession: true } : errored(message);
  return isRefused ? outcome : { kind: 'failed-start', message };
}

const NEVER_ASKED = 'the agent gave an empty answer and used no token';

/** Returns the outcome of a request that was refused because the prompt, with the session's history, was too long. */
export function tooLong(message: string): Outcome {
  return { kind: 'fatal', cause: 'refused-request', message, isTooLong: true };
}

/** Returns a transient outcome. If no `status` is given, uses the status of the agent's last retry. */
export function transient(facts: AttemptFacts, message: string, status?: number): Outcome {
  return {
    kind: 'transient',
    status: status ?? facts.retries.at(-1)?.status ?? null,
    message: message === '' ? 'the agent reported a temporary error' : message,
  };
}

/** Describes an outcome to a person in one line. */
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
    case 'cut':
      return `cut by ralph: ${describeSign(outcome.by)}`;
    case 'stopped':
      return 'stopped';
    case 'transient':
    case 'usage-limited':
    case 'session-gone':
    case 'failed-start':
    case 'errored':
      return outcome.message;
    case 'fatal':
      return `${outcome.cause}: ${outcome.message}`;
  }
}
