import { plainText } from '../markdown/phrase.ts';
import { maskNonProse, whyMasked } from '../markdown/prose.ts';
import { preview } from '../secrets/secrets.ts';
import type { Progress } from '../task/task-state.ts';

/** The progress that the agent reports. */
export interface ProgressReport {
  readonly done: number;
  readonly total: number;
  /** One line without control characters, at most 200 code units. */
  readonly step: string;
}

/** Lengths are bounded, so that a message full of opening tags is read in linear time. */
const REPORT =
  /<progress((?:\s+[a-z]{1,20}\s*=\s*(?:"[^"<>]{0,40}"|'[^'<>]{0,40}')){1,5})\s*>((?:(?!<progress\b)[\s\S]){0,2000}?)<\/progress\s*>/g;
const ATTRIBUTE = /([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const LONGEST_STEP = 200;

/**
 * Returns the last valid `<progress done="2" total="5">step</progress>` of a final message, or null if there
 * is none. Ignores reports in code or in a comment: the agent only shows them.
 */
export function readProgressReport(message: string): ProgressReport | null {
  // Most messages contain no report, and this check is cheaper than masking.
  if (!message.includes('</progress')) return null;
  const text = plainText(message);
  const prose = maskNonProse(text);
  let last: ProgressReport | null = null;
  for (const match of text.matchAll(REPORT)) {
    const [all, attributes = '', step = ''] = match;
    if (isShown(prose, match.index) || isShown(prose, match.index + all.length - 1)) continue;
    last = readReport(attributes, step) ?? last;
  }
  return last;
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

function isShown(prose: string, index: number): boolean {
  const why = whyMasked(prose, index);
  return why === 'in-code' || why === 'in-a-comment';
}
