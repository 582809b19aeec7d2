import { parseDuration } from '../../core/settings/duration.ts';

/** Matches a time with its zone; seconds and their fractions may be missing. */
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?\s?(?:[Zz]|[+-]\d\d:?\d\d)$/;

/**
 * Reads the earliest time at which a task may be claimed. Returns an ISO instant in UTC for a time, milliseconds for a
 * duration from now, or null if the text is neither.
 */
export function readNotBefore(text: string): string | number | null {
  const trimmed = text.trim();
  const duration = parseDuration(trimmed);
  if (duration !== null) return duration;
  const [found, year = '', month = '', day = ''] = INSTANT.exec(trimmed) ?? [];
  if (found === undefined) return null;
  const iso = found
    .replace(/[Tt ]/, 'T')
    .replace(/\s/g, '')
    .replace(/z$/, 'Z')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  const at = new Date(iso);
  // `Date` takes a day such as February 30 for one of the next month, so the day is tested, too.
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return isStorable(at) && Number(day) <= lastDay ? at.toISOString() : null;
}

const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function isStorable(at: Date): boolean {
  return at.getTime() >= 0 && at.getTime() <= LATEST_MS;
}
