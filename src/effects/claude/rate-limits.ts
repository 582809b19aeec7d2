import type { RateLimitFacts } from '../../core/agent/attempt.ts';
import { remember } from '../../core/agent/bounded-map.ts';

/** More kinds of rate limit than any account has. Without this bound, faulty reports could fill the RAM. */
const REMEMBERED_TYPES = 32;

/** Stores the newest report on each kind of rate limit (five hours, seven days, …). */
export function createRateLimits() {
  const newest = new Map<string | null, RateLimitFacts>();
  return {
    add: (limit: RateLimitFacts): void => {
      // `remember` keeps the order of the reports, so `read` returns the newest of equally urgent ones.
      remember(newest, limit.type, limit, REMEMBERED_TYPES);
    },
    /** Returns the most urgent of the newest reports; null if there are no reports. */
    read: (): RateLimitFacts | null => {
      let pressing: RateLimitFacts | null = null;
      for (const limit of newest.values()) {
        if (pressing === null || !pressesMore(pressing, limit)) pressing = limit;
      }
      return pressing;
    },
  };
}

function pressesMore(a: RateLimitFacts, b: RateLimitFacts): boolean {
  const difference = urgency(a.status) - urgency(b.status);
  return difference === 0 ? (a.utilization ?? 0) > (b.utilization ?? 0) : difference > 0;
}

function urgency(status: string): number {
  if (status === 'rejected') return 2;
  return status.includes('warning') ? 1 : 0;
}
