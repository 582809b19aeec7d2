import type { RateLimitFacts } from './attempt.ts';
import { isLongOver, readResetTime } from './reset-time.ts';
import { sharedFailure } from './shared-wordings.ts';

/** A limit of the account's plan that blocks the account; `resetsAt` is an ISO instant, or null if none was given. */
interface UsageLimit {
  readonly resetsAt: string | null;
}

/** Matches a report with status 429 that mentions the plan's limit only to say that another limit was hit. */
const OTHER_LIMIT = /\bnot your usage limit\b/i;

/**
 * Returns the plan limit that an error report names, so that ralph can wait for its reset. Returns null for a
 * temporary 429 and for other errors. `text` must come from a report that says it is an error, never from an answer.
 * `at` is when the attempt ended; `localZone` applies to a time without a zone.
 */
export function readUsageLimit(
  text: string,
  status: number | null,
  rateLimit: RateLimitFacts | null,
  at: string,
  localZone: string,
): UsageLimit | null {
  const means = sharedFailure(text)?.means ?? null;
  // Only an event with the status `rejected` is about the limit that was hit.
  const rejecting = rateLimit?.status === 'rejected' ? rateLimit : null;
  const isToldByEvent =
    means === null && status === 429 && rejecting !== null && !OTHER_LIMIT.test(text);
  if (means !== 'usage-limited' && !isToldByEvent) return null;

  const fromEvent = rejecting?.resetsAt ?? null;
  // If the account pays for extra usage, the event's reset can be hours old. Then the text names the next one.
  if (fromEvent !== null && !isLongOver(fromEvent, at)) return { resetsAt: fromEvent };
  return { resetsAt: readResetTime(text, at, localZone) ?? fromEvent };
}
