import type { RetryFacts } from '../../core/agent/attempt.ts';
import type { JsonObject } from '../files/json-fields.ts';
import { readRetry } from './stream-events.ts';

const MAX_KEPT = 50;

/**
 * Called for each wait before one of the agent's own retries. `refusals` counts the 401 and 403
 * among them since the model last spoke: one may be a token being renewed, two are hopeless.
 */
export type RetryListener = (retry: RetryFacts, refusals: number) => void;

interface RetryLog {
  readonly add: (event: JsonObject) => void;
  /** The API has answered, so retrying has ended. */
  readonly over: () => void;
  /** The last 50 retries. */
  readonly last: () => readonly RetryFacts[];
  /** Whether the API has not answered since the last retry. */
  readonly isRetrying: () => boolean;
}

/**
 * Follows the agent's own retries. Only an answer of the API ends them. What `claude` itself writes
 * after a retry (its interruption, the message about the failure, the failed result) does not:
 * otherwise an outage that met a time limit would look like a slow agent.
 */
export function createRetryLog(onRetry: RetryListener | undefined): RetryLog {
  const kept: RetryFacts[] = [];
  let refusals = 0;
  let retrying = false;
  return {
    add: (event) => {
      const retry = readRetry(event);
      kept.push(retry);
      if (kept.length > MAX_KEPT) kept.shift();
      if (retry.status === 401 || retry.status === 403) refusals += 1;
      retrying = true;
      onRetry?.(retry, refusals);
    },
    over: () => {
      refusals = 0;
      retrying = false;
    },
    last: () => [...kept],
    isRetrying: () => retrying,
  };
}
