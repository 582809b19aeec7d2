import type { RetryFacts } from '../../core/agent/attempt.ts';

const MAX_KEPT = 50;

/**
 * Called when an agent waits before it repeats a request. `refusals` counts the HTTP statuses 401 and
 * 403 since the API last answered: one can mean that a token is being renewed.
 */
export type RetryListener = (retry: RetryFacts, refusals: number) => void;

/**
 * Records the retries that an agent reports. Only an answer of the API ends them. Messages that
 * the agent itself writes after a retry, about its interruption or failure, must not end them:
 * otherwise an outage that lasts until a time limit would look like a slow agent.
 */
export function createRetryLog(onRetry?: RetryListener) {
  const kept: RetryFacts[] = [];
  let refusals = 0;
  let retrying = false;
  return {
    add: (retry: RetryFacts): void => {
      kept.push(retry);
      if (kept.length > MAX_KEPT) kept.shift();
      if (retry.status === 401 || retry.status === 403) refusals += 1;
      retrying = true;
      onRetry?.(retry, refusals);
    },
    /** Call this when the API has answered, so that the retries have ended. */
    over: (): void => {
      refusals = 0;
      retrying = false;
    },
    last: (): readonly RetryFacts[] => [...kept],
    isRetrying: (): boolean => retrying,
  };
}
