import type { RateLimitFacts } from './attempt.ts';
import { isLongOver, readResetTime } from './reset-time.ts';

/** A plan limit that holds the account up. */
export interface UsageLimit {
  /** ISO instant; null where none was said. */
  readonly resetsAt: string | null;
  /** Where the instant is from: the agent's own event, the words of its report, or nowhere. */
  readonly source: 'event' | 'text' | 'none';
}

/** The wordings in which `claude` reports a plan limit, always at the start of an error report. */
const PLAN_LIMIT =
  /^(you['’]ve (hit|reached) your ([^\s·∙•|.,;:]+ ){0,4}limit\b|claude (ai )?usage limit reached|you['’]re out of (extra )?usage|(5[- ]hour|weekly|session|opus|sonnet|usage) limit reached)/i;

/** A 429 that names the plan's limit only to say that it is another one. */
const OTHER_LIMIT = /\bnot your usage limit\b/i;

/**
 * Tells a plan limit (wait for its reset) from a passing 429 (try again soon).
 * `text` must come from a report that says it is an error, never from an answer. `at` is when the
 * attempt ended; `localZone` is where a time without a zone is meant.
 */
export function readUsageLimit(
  text: string,
  status: number | null,
  rateLimit: RateLimitFacts | null,
  at: string,
  localZone: string,
): UsageLimit | null {
  if (status !== null && status !== 429) return null;
  // An event that allows the account to work tells of another limit than the one that was hit.
  const rejecting = rateLimit?.status === 'rejected' ? rateLimit : null;
  const isToldByEvent = status === 429 && rejecting !== null && !OTHER_LIMIT.test(text);
  if (!PLAN_LIMIT.test(text) && !isToldByEvent) return null;

  const fromEvent = rejecting?.resetsAt ?? null;
  // Who works on by extra usage had the event hours ago, and is told of the next reset in words.
  if (fromEvent !== null && !isLongOver(fromEvent, at)) {
    return { resetsAt: fromEvent, source: 'event' };
  }
  const fromText = readResetTime(text, at, localZone);
  if (fromText !== null) return { resetsAt: fromText, source: 'text' };
  return { resetsAt: fromEvent, source: fromEvent === null ? 'none' : 'event' };
}
