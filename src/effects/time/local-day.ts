/** A day of the machine's time zone, as ISO instants: from its midnight to the next. */
export interface LocalDay {
  readonly since: string;
  readonly until: string;
}

/** Returns the day of an ISO instant. It has 23 or 25 hours where the clocks change. */
export function localDay(instant: string): LocalDay {
  const date = new Date(instant);
  const midnight = (daysLater: number): string =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate() + daysLater).toISOString();
  return { since: midnight(0), until: midnight(1) };
}
