const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A thousand years; longer durations exceed the range of dates. */
const LONGEST_MS = 365_000 * 86_400_000;

/** Reads a duration such as `500ms`, `1h30m` or `0`. Returns milliseconds, or null if the text is none. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '0') return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(trimmed)) return null;
  let total = 0;
  for (const [, amount = '', unit = ''] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNIT_MS[unit] ?? Number.NaN);
  }
  return total <= LONGEST_MS ? Math.round(total) : null;
}

/** Writes milliseconds as a duration that `parseDuration` reads: `90s`, `30m`, `1h30m`. */
export function writeDuration(ms: number): string {
  if (ms === 0) return '0';
  let left = ms;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = UNIT_MS[unit] ?? 1;
    const amount = Math.floor(left / size);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * size;
  }
  return text;
}
