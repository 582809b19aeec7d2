import type { BriefTask } from '../../../core/task/briefing.ts';

const MINUTE_MS = 60_000;

/** A period of time, in milliseconds since 1970. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Returns the period from the first iteration to the end of the last, or null if there was no iteration. */
export function workedPeriod(tasks: readonly BriefTask[], notBefore: string): Period | null {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { iterations } of tasks) {
    for (const { started_at, duration_ms } of iterations) {
      const start = Date.parse(started_at);
      from = Math.min(from, start);
      to = Math.max(to, start + duration_ms);
    }
  }
  if (from > to) return null;
  // An iteration may have begun before the period that the briefing covers.
  const start = Math.max(from, Date.parse(notBefore));
  return { from: start, to: Math.max(to, start + MINUTE_MS) };
}

/** Returns the position of a moment (ms since 1970) within a period: 0 at its start, 1 at its end. */
export function positionIn({ from, to }: Period, ms: number): number {
  return Math.min(1, Math.max(0, (ms - from) / (to - from)));
}
