import type { BriefTask } from '../../../core/task/briefing.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** Round steps between the marks of an axis, in milliseconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 40_320].map(
  (minutes) => minutes * MINUTE_MS,
);

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

/** Returns the smallest round step, in milliseconds, that divides a period into at most `most` parts. */
export function stepOf({ from, to }: Period, most: number): number {
  const least = (to - from) / most;
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;
}

/** Returns the position of a moment (ms since 1970) within a period: 0 at its start, 1 at its end. */
export function positionIn({ from, to }: Period, ms: number): number {
  return Math.min(1, Math.max(0, (ms - from) / (to - from)));
}

/** Returns the marks of the axis, which lie at multiples of a round step, with their labels. */
export function marksOf(
  stretch: Period,
): readonly { readonly ms: number; readonly text: string }[] {
  const step = stepOf(stretch, 7);
  const marks: { ms: number; text: string }[] = [];
  for (let ms = Math.ceil(stretch.from / step) * step; ms <= stretch.to; ms += step) {
    marks.push({ ms, text: momentText(ms, stretch, step) });
  }
  return marks;
}

/** Formats a moment (ms since 1970) in UTC, as precisely as the step (ms) requires. */
export function momentText(ms: number, { from, to }: Period, step: number): string {
  const instant = new Date(ms).toISOString();
  const day = `${MONTHS[Number(instant.slice(5, 7)) - 1] ?? ''} ${Number(instant.slice(8, 10))}`;
  if (step >= DAY_MS) return day;
  const clock = instant.slice(11, 16);
  if (to - from <= DAY_MS) return clock;
  return clock === '00:00' ? day : `${day}, ${clock}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
