/*
 * Reads when a plan limit (of what an account may use) resets. The report usually gives a wall-clock time,
 * mostly without a day and hardly ever with a year, so the instant depends on the time zone and on the
 * time of the report.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How far in the past a reset may be: `resets 3pm`, reported at 3:00:20pm, means today's 3pm and not tomorrow's. */
const RESET_GRACE_MS = 10 * MINUTE_MS;

/** How far in the past a date without a year may be. If it is further back, the date in the next year is meant. */
const DATE_GRACE_MS = DAY_MS;

/** No plan limit of claude is longer than a week, so a time since 1970 that is further ahead is not a reset. */
const LONGEST_AHEAD_MS = 8 * DAY_MS;

/** Older versions of claude give the reset after a pipe, in seconds or milliseconds since 1970. */
const EPOCH = /\|\s*(\d{13}|\d{10})(?!\d)/;

/**
 * Matches `resets 3pm (Europe/London)`, `reset at 9am`, `resets 15:00`, `resets Jul 15 at 12am (…)`,
 * `resets Oct 5, 3pm (UTC)`, `resets Jan 1, 2100, 1pm (UTC)` and
 * `try again at Nov 24th, 2026 11:20 AM`. A time without a zone must end the sentence, or `or` must follow:
 * `resets 3pm tomorrow` and `resets 3pm PST` do not match.
 */
const SAID = new RegExp(
  [
    String.raw`\b(?:resets?:?\s+(?:(?:at|on)\s+)?|try\s+again\s+(?:at|on)\s+)`,
    String.raw`(?:(?<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?`,
    String.raw`(?:,?\s+(?<year>2\d{3}))?(?:,\s*|\s+at\s+|\s+))?`,
    String.raw`(?<hour>\d{1,2})(?::(?<minute>\d{2}))?(?:\s*(?<half>[ap])\.?m\b\.?)?`,
    String.raw`(?:\s*\((?<zone>[^()]{1,64})\)|\s+(?<bareZone>(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d{2})?)?|[a-z_]+\/[\w+/-]+)(?![\w/+-])`,
    String.raw`|(?=\s*(?:$|[.;·∙•|/]|or\b)))`,
  ].join(''),
  'i',
);

/**
 * Matches `regain access on 2027-01-01 at 00:00 UTC`, `resets at 2027-01-01T00:00:00Z` and
 * `reset at 2027-01-01 08:00:00 +0800`, but no date before a time of day that it cannot read.
 */
const SAID_DATE = new RegExp(
  [
    String.raw`\b(?:regain access|resets?|try again)(?: on| at)? (?<date>\d{4}-\d\d-\d\d)`,
    String.raw`(?:(?:T| | at )(?<clock>\d\d:\d\d)(?::\d\d(?:\.\d+)?)? ?(?<zone>UTC|GMT|Z|[+-]\d\d:?\d\d)?`,
    String.raw`|(?!(?:T| | at )\d))(?![\w+-]|:\d)`,
  ].join(''),
  'i',
);

/** Matches `try again in 2 days 17 hours 14 minutes`, `wait 43 minutes for …`, `will reset after 5h3m`. */
const SAID_SPAN =
  /\b(?:(?:try again|retry|resets?) (?:in|after)|wait(?: for)?) ((?:\d+(?:\.\d+)? ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|ms|m|seconds?|secs?|s)(?![a-z])(?:,? (?:and )?)?)+)/i;
const SPAN_PART = /(\d+(?:\.\d+)?) ?(d|h|ms|m|s)/gi;
const UNIT_MS: Readonly<Record<string, number>> = {
  d: DAY_MS,
  h: 60 * MINUTE_MS,
  m: MINUTE_MS,
  s: 1_000,
  ms: 1,
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Matches names that mean a single time zone. Other abbreviations can mean several zones, and the runtime
 * picks one of them: `BST` becomes Bangladesh.
 */
const ZONE_NAME =
  /^(?:(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d{2})?)?|[CEMW]ET|[A-Z]{3}\d[A-Z]{3}|[\w+-]+(?:\/[\w+-]+)+)$/i;

/**
 * Returns the instant (ISO 8601) at which the limit in `text` resets, or null if `text` names no reset.
 * `at` is the time of the report; `localZone` applies to a time without a zone.
 */
export function readResetTime(text: string, at: string, localZone: string): string | null {
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return null;
  const resetMs =
    epochIn(text, atMs) ??
    dateIn(text, localZone) ??
    spanIn(text, atMs) ??
    wallTimeIn(text, atMs, localZone);
  return resetMs === null ? null : new Date(resetMs).toISOString();
}

/** Whether a reset is too long before `at`, the time of a report, for the report to mean it. Both are ISO instants. */
export function isLongOver(resetsAt: string, at: string): boolean {
  return Date.parse(resetsAt) < Date.parse(at) - RESET_GRACE_MS;
}

function epochIn(text: string, atMs: number): number | null {
  const digits = EPOCH.exec(text)?.[1];
  if (digits === undefined) return null;
  const ms = Number(digits) * (digits.length === 13 ? 1 : 1_000);
  return ms > atMs + LONGEST_AHEAD_MS ? null : ms;
}

/** The longest span that counts as a reset. A date without a year can be about as far ahead. */
const LONGEST_SPAN_MS = 366 * DAY_MS;

function spanIn(text: string, atMs: number): number | null {
  const said = SAID_SPAN.exec(text)?.[1];
  if (said === undefined) return null;
  let spanMs = 0;
  for (const [, count, unit = ''] of said.matchAll(SPAN_PART)) {
    spanMs += Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0);
  }
  return spanMs > LONGEST_SPAN_MS ? null : atMs + Math.round(spanMs);
}

function dateIn(text: string, localZone: string): number | null {
  const said = SAID_DATE.exec(text)?.groups;
  if (said === undefined) return null;
  const wallMs = Date.parse(`${said.date}T${said.clock ?? '00:00'}Z`);
  const [, hours, minutes] = /^([+-]\d\d):?(\d\d)$/.exec(said.zone ?? '') ?? [];
  const zone = hours === undefined ? 'UTC' : `UTC${hours}:${minutes}`;
  const offsetAt = offsetsOf(said.zone === undefined ? localZone : zone);
  if (Number.isNaN(wallMs) || offsetAt === null) return null;
  return instantsOf(wallMs, offsetAt)[0] ?? null;
}

function wallTimeIn(text: string, atMs: number, localZone: string): number | null {
  const said = SAID.exec(text)?.groups;
  if (said === undefined) return null;
  const zoneName = said.zone?.trim() ?? said.bareZone;
  if (zoneName !== undefined && !ZONE_NAME.test(zoneName)) return null;
  const clockMs = clockOf(said.hour, said.minute, said.half);
  const offsetAt = offsetsOf(zoneName ?? localZone);
  if (clockMs === null || offsetAt === null) return null;

  const firstOf = (dates: readonly (number | null)[], graceMs: number): number | null => {
    for (const date of dates) {
      const instants = date === null ? [] : instantsOf(date + clockMs, offsetAt);
      // When clocks go back, a time occurs twice. Once the first has passed, the second is meant.
      const next = instants.find((ms) => ms >= atMs - RESET_GRACE_MS) ?? instants.at(-1);
      if (next !== undefined && next >= atMs - graceMs) return next;
    }
    return null;
  };

  const today = new Date(atMs);
  const year = today.getUTCFullYear();
  if (said.month === undefined) {
    // Tries the days around the UTC day: the zone can be a day behind or ahead, and midnight can be near.
    const dates = [-1, 0, 1, 2].map((days) =>
      Date.UTC(year, today.getUTCMonth(), today.getUTCDate() + days),
    );
    return firstOf(dates, RESET_GRACE_MS);
  }
  const month = MONTHS.indexOf(said.month.toLowerCase());
  const day = Number(said.day);
  if (said.year !== undefined) {
    return firstOf([dateOf(Number(said.year), month, day)], Number.POSITIVE_INFINITY);
  }
  const years = [year - 1, year, year + 1];
  return firstOf(
    years.map((inYear) => dateOf(inYear, month, day)),
    DATE_GRACE_MS,
  );
}

function dateOf(year: number, month: number, day: number): number | null {
  const date = Date.UTC(year, month, day);
  return new Date(date).getUTCDate() === day ? date : null;
}

/** Returns milliseconds since midnight, or null if this is not a time of day. */
function clockOf(
  hourSaid: string | undefined,
  minuteSaid: string | undefined,
  half: string | undefined,
): number | null {
  // A bare number is not a time of day.
  if (minuteSaid === undefined && half === undefined) return null;
  const hour = Number(hourSaid);
  const minute = Number(minuteSaid ?? 0);
  if (minute > 59) return null;
  if (half === undefined) return hour > 23 ? null : (hour * 60 + minute) * MINUTE_MS;
  if (hour < 1 || hour > 12) return null;
  // 12am is midnight and 12pm is noon.
  const hourOfDay = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return (hourOfDay * 60 + minute) * MINUTE_MS;
}

/** Returns how far a zone's clocks are ahead of UTC at an instant, in milliseconds. */
type OffsetAt = (ms: number) => number;

/** Matches `GMT-3` and `UTC+5:30`. The sign applies to the minutes, too. */
const FIXED_OFFSET = /^(?:UTC|GMT)([+-])(\d{1,2})(?::(\d{2}))?$/i;

/** Returns the offsets of a time zone, or null if the zone is unknown. */
function offsetsOf(zone: string): OffsetAt | null {
  const [, sign, hours, minutes = '0'] = FIXED_OFFSET.exec(zone) ?? [];
  if (sign !== undefined) {
    const aheadMs = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
    return Number(hours) > 14 ? null : () => (sign === '-' ? -aheadMs : aheadMs);
  }
  const format = formatIn(zone);
  if (format === null) return null;
  return (ms) => {
    const fields = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const field = (name: Intl.DateTimeFormatPartTypes): number => Number(fields.get(name));
    const wall = Date.UTC(
      field('year'),
      field('month') - 1,
      field('day'),
      field('hour'),
      field('minute'),
      field('second'),
    );
    return wall - Math.floor(ms / 1_000) * 1_000;
  };
}

function formatIn(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
}

/**
 * Returns the instants, in order, at which a zone's clocks show `wallMs`, a time given as if in UTC. There are two
 * if the clocks are set back over this time. If they skip it, returns the instant that it would be without the skip.
 */
function instantsOf(wallMs: number, offsetAt: OffsetAt): readonly number[] {
  // No zone is a full day away from UTC, so these two offsets are from before and after any clock change nearby.
  const before = wallMs - offsetAt(wallMs - DAY_MS);
  const after = wallMs - offsetAt(wallMs + DAY_MS);
  const shown = [...new Set([before, after])].filter((ms) => ms + offsetAt(ms) === wallMs);
  return shown.length === 0 ? [before] : shown.sort((a, b) => a - b);
}
