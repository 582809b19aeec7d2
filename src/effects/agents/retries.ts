import type { RetryFacts } from '../../core/agent/attempt.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import type { ReaderListener } from './agent.ts';

const MAX_KEPT = 50;

/** After two refusals (HTTP 401 or 403) an attempt is hopeless. A single one may come while a token is renewed. */
const HOPELESS_REFUSALS = 2;

/**
 * Records the retries that an agent reports. Only an answer of the API ends them and resets the count of refusals.
 * Messages that the agent itself writes after a retry, about its interruption or failure, must not end them: otherwise
 * an outage that lasts until a time limit would look like a slow agent.
 */
export function createRetryLog(
  listener: Pick<ReaderListener, 'retry'>,
  signs: Pick<AgentSigns, 'hopeless' | 'retrying'>,
) {
  const kept: RetryFacts[] = [];
  let refusals = 0;
  let retrying = false;
  return {
    add: (retry: RetryFacts): void => {
      kept.push(retry);
      if (kept.length > MAX_KEPT) kept.shift();
      if (retry.status === 401 || retry.status === 403) refusals += 1;
      retrying = true;
      listener.retry(retry);
      if (refusals >= HOPELESS_REFUSALS) signs.hopeless('hopeless-retries');
      else signs.retrying(retry.delayMs);
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
