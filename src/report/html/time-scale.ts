import type { BriefTask } from '../../core/briefing.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** Steps between marks that people count in, in milliseconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 40_320].map(
  (minutes) => minutes * MINUTE_MS,
);

/** A stretch of time, in milliseconds since 1970. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The time in which an agent worked, from the first iteration to the last; null where none did. */
export function workedStretch(tasks: readonly BriefTask[], notBefore: string): Stretch | null {
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
  // One that began before the span shows its part within it.
  const start = Math.max(from, Date.parse(notBefore));
  return { from: start, to: Math.max(to, start + MINUTE_MS) };
}

/** The least step people count in that cuts a stretch into at most `most` parts. */
export function stepOf({ from, to }: Stretch, most: number): number {
  const least = (to - from) / most;
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;
}

/** Where a moment lies in a stretch: 0 to 1. */
export function placeIn({ from, to }: Stretch, ms: number): number {
  return Math.min(1, Math.max(0, (ms - from) / (to - from)));
}

/** The moments to mark, on whole steps, with what to write there. */
export function marksOf(
  stretch: Stretch,
): readonly { readonly ms: number; readonly text: string }[] {
  const step = stepOf(stretch, 7);
  const marks: { ms: number; text: string }[] = [];
  for (let ms = Math.ceil(stretch.from / step) * step; ms <= stretch.to; ms += step) {
    marks.push({ ms, text: momentText(ms, stretch, step) });
  }
  return marks;
}

/** A moment in UTC, as finely as a step needs it. */
export function momentText(ms: number, { from, to }: Stretch, step: number): string {
  const instant = new Date(ms).toISOString();
  const day = `${MONTHS[Number(instant.slice(5, 7)) - 1] ?? ''} ${Number(instant.slice(8, 10))}`;
  if (step >= DAY_MS) return day;
  const clock = instant.slice(11, 16);
  if (to - from <= DAY_MS) return clock;
  return clock === '00:00' ? day : `${day}, ${clock}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
