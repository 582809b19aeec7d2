import { preview } from '../secrets/secrets.ts';
import type { Progress } from '../task/task-state.ts';
import { examplesIn, tagsIn } from './own-tags.ts';
import type { PromptText } from './promise.ts';

/** Progress that the agent reports. */
export interface ProgressReport {
  readonly done: number;
  readonly total: number;
  /** One line without control characters, at most 200 code units. */
  readonly step: string;
}

/** Matches a report. Its lengths are bounded, so that a message full of opening tags is read in linear time. */
const REPORT =
  /<progress((?:\s+[a-z]{1,20}\s*=\s*(?:"[^"<>]{0,40}"|'[^'<>]{0,40}')){1,5})\s*>((?:(?!<progress\b)[\s\S]){0,2000}?)<\/progress\s*>/g;
const ATTRIBUTE = /([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const LONGEST_STEP = 200;

/**
 * Returns the last valid `<progress done="2" total="5">step</progress>` of a final message; null without one. Reports
 * in code and HTML comments, and examples from ralph's `own` texts, do not count.
 */
export function readProgressReport(
  message: string,
  own: readonly PromptText[] = [],
): ProgressReport | null {
  const examples = examplesIn(own, (text) => readProgressReport(text));
  return (
    tagsIn(message, REPORT, ['in-code', 'in-a-comment'])
      .flatMap(([, attributes = '', step = '']) => readReport(attributes, step) ?? [])
      .findLast((report) => !examples.some((example) => isSameReport(example, report))) ?? null
  );
}

function isSameReport(one: ProgressReport | null, other: ProgressReport): boolean {
  return one?.done === other.done && one.total === other.total && one.step === other.step;
}

function readReport(attributes: string, step: string): ProgressReport | null {
  const values = new Map<string, number>();
  for (const [, name = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
    const value = (double ?? single ?? '').trim();
    // A repeated attribute is invalid.
    values.set(name, /^\d{1,9}$/.test(value) && !values.has(name) ? Number(value) : Number.NaN);
  }
  const done = values.get('done') ?? Number.NaN;
  const total = values.get('total') ?? Number.NaN;
  return progressReport(done, total, step);
}

/** Builds a report. Returns null unless the numbers are whole and 0 ≤ `done` ≤ `total`, `total` ≥ 1. */
export function progressReport(done: number, total: number, step: string): ProgressReport | null {
  const isGood = isCount(done) && isCount(total) && total >= 1 && done <= total;
  return isGood ? { done, total, step: preview(step, LONGEST_STEP) } : null;
}

/** Converts a report to the form in which the state stores it. */
export function progressOf({ done, total, step }: ProgressReport): Progress {
  return {
    steps_total: total,
    steps_completed: done,
    current_step: step,
    percentage: Math.round((1_000 * done) / total) / 10,
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value < 1_000_000_000;
}
