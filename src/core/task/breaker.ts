import { clip, withoutControls } from '../text/untrusted-text.ts';
import { type BreakerState, NO_BREAKER } from './task-state.ts';

/*
 * The circuit breaker: stops a loop that gets nowhere before it uses up its limits.
 *
 *   closed ──┬── no-progress-limit iterations without progress ──► open: no-progress
 *      ▲     └── same-error-limit iterations, the same error ────► open: same-error
 *      └── an iteration with progress sets both counts to 0
 */

interface BreakerNews {
  /** Whether there was progress; null if nothing could measure it. */
  readonly progress: boolean | null;
  /** The error of a failed iteration, before it is normalised; null if the iteration succeeded. */
  readonly error: string | null;
}

/**
 * Returns the counters of the breaker after one more iteration.
 *
 * - Progress resets all counters, even if the iteration failed: the next error starts at 1.
 * - If progress cannot be measured, `no_progress` stays as it is.
 * - A successful iteration without progress does not clear the error: alternating failures and idle
 *   iterations count as stuck, too. But if progress cannot be measured, a success does clear the error,
 *   since it is then the only sign of progress.
 */
export function afterIteration(
  breaker: BreakerState,
  { progress, error }: BreakerNews,
): BreakerState {
  if (progress === true) return NO_BREAKER;
  const no_progress = breaker.no_progress + (progress === false ? 1 : 0);
  if (error === null) {
    return progress === null ? { ...NO_BREAKER, no_progress } : { ...breaker, no_progress };
  }
  const last_error = normalisedError(error);
  const same_error = last_error === breaker.last_error ? breaker.same_error + 1 : 1;
  return { no_progress, same_error, last_error };
}

/** The number of iterations after which the breaker opens; 0 turns a limit off. */
interface BreakerLimits {
  readonly noProgressLimit: number;
  readonly sameErrorLimit: number;
}

/** Why the breaker opened, after how many iterations, and the flag that turns this limit off. */
interface BreakerVerdict {
  readonly reason: 'no-progress' | 'same-error';
  readonly count: number;
  readonly flag: '--no-progress-limit' | '--same-error-limit';
}

/** Returns why the breaker is open; null if it is closed. The error limit comes first, as it explains more. */
export function breakerVerdict(
  { no_progress, same_error }: BreakerState,
  { noProgressLimit, sameErrorLimit }: BreakerLimits,
): BreakerVerdict | null {
  if (sameErrorLimit > 0 && same_error >= sameErrorLimit) {
    return { reason: 'same-error', count: same_error, flag: '--same-error-limit' };
  }
  if (noProgressLimit > 0 && no_progress >= noProgressLimit) {
    return { reason: 'no-progress', count: no_progress, flag: '--no-progress-limit' };
  }
  return null;
}

/** How much of an error is read, and how much of its normalised form is stored. In UTF-16 code units. */
const READ_AT_MOST = 4_000;
const KEPT_AT_MOST = 300;

const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';
const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*';

/** Patterns for what differs between two reports of the same error, and their replacements, in order. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  // A quoted path can contain spaces.
  [/(["'`])(?:~|\.{0,2})\/[^"'`\n]*\1/g, '<path>'],
  [/(["'`])[A-Za-z]:\\[^"'`\n]*\1/g, '<path>'],
  [/\bfile:\/\/[^\s"'`<>()]+/g, '<path>'],
  // The host says which service failed; the part of a URL after it varies with the request.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/"'`<>()]+)[^\s"'`<>()]*/gi, '$1'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>'],
  // Absolute paths, and paths that begin with `./`, `../` or `~/`.
  [/(?<![\w/.:~\\-])(?:~|\.{1,2})?\/[^\s"'`()<>,;:]+/g, '<path>'],
  [/(?<!\w)[A-Za-z]:\\[^\s"'`()<>,;:]+/g, '<path>'],
  // Other relative paths. They need two slashes or a file extension, since `and/or` and
  // `application/json` are not paths.
  [/(?<![\w@./-])[\w@.-]+(?:\/[\w@.-]+){2,}/g, '<path>'],
  [/(?<![\w@./-])[\w.-]+\/[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}(?![\w/])/g, '<path>'],
  [
    /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?(?!\w)/g,
    '#',
  ],
  [new RegExp(`\\b(?:${DAY},? +)?${MONTH}\\.? +\\d{1,2}\\b(?:,? +\\d{4}\\b)?`, 'gi'), '#'],
  [new RegExp(`\\b(?:${DAY},? +)?\\d{1,2} +${MONTH}\\b(?: +\\d{4}\\b)?`, 'gi'), '#'],
  [/\b\d{1,2}(?::\d\d){0,2}(?:[.,]\d+)? ?[ap]m\b/gi, '#'],
  // Ids with a prefix: `req_011CSHoEe`, `toolu_01A…`.
  [/\b[a-z]{2,12}[_-](?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{8,}/g, '<id>'],
  [/\b0x[0-9a-f]+\b/gi, '<id>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi, '<id>'],
  [/\b(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{20,}/g, '<id>'],
  // Numbers, except after capital letters: TS2345 is a name, but `worker3` and `12.5 s` vary.
  [
    /(?<![A-Z]|[A-Z][\d_]{1,9})\d+(?:[.,:]\d+)*(?: ?(?:ns|[µu]s|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|[kMG]?i?B)\b)?/g,
    '#',
  ],
  [/#(?:\s*[-,:/ ]\s*#)+/g, '#'],
];

/**
 * Removes what varies from an error: paths, numbers, times, hashes and ids. Quoted words stay,
 * since they say what the error is about (`command 'jq' not found`), and so do codes such as TS2345 and
 * EPIPE. Returns at most 300 code units, and never throws.
 */
export function normalisedError(message: string): string {
  let text = withoutControls(message.slice(0, READ_AT_MOST));
  for (const [pattern, standIn] of VARYING) text = text.replace(pattern, standIn);
  return clip(text.replace(/\s+/g, ' ').trim(), KEPT_AT_MOST);
}
