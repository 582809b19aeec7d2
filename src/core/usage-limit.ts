import type { RateLimitFacts } from './attempt.ts';

/** A plan limit that holds the account up; `resetsAt` is an ISO instant, null where none was said. */
export interface UsageLimit {
  readonly resetsAt: string | null;
}

/** The wordings in which `claude` reports a plan limit, always at the start of an error report. */
const PLAN_LIMIT =
  /^(you've (hit|reached) your .*\blimit|claude (ai )?usage limit reached|you're out of (extra )?usage|(5-hour|weekly|session|opus|sonnet|usage) limit reached)/i;

/**
 * Tells a plan limit (wait for its reset) from a passing 429 (try again soon).
 * `text` must come from a report that says it is an error, never from an answer.
 */
export function readUsageLimit(
  text: string,
  status: number | null,
  rateLimit: RateLimitFacts | null,
): UsageLimit | null {
  if (status !== null && status !== 429) return null;
  if (PLAN_LIMIT.test(text)) return { resetsAt: rateLimit?.resetsAt ?? epochIn(text) };
  if (status === 429 && rateLimit?.status === 'rejected') return { resetsAt: rateLimit.resetsAt };
  return null;
}

/** Older versions append the reset as epoch seconds: `…reached|1736899200`. */
function epochIn(text: string): string | null {
  const seconds = /\|(\d{9,11})\b/.exec(text)?.[1];
  return seconds === undefined ? null : new Date(Number(seconds) * 1000).toISOString();
}
