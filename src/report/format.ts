import type { LineChanges } from '../core/task/line-changes.ts';
import { oneLine } from '../core/text/untrusted-text.ts';

/** Formats milliseconds: `420ms`, `12s`, `4m 05s`, `1h 30m`, `2d 3h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return ms < 9_950 ? `${(ms / 1_000).toFixed(1)}s` : `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, 'm', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(hours, 'h', minutes % 60, 'm');
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** Formats an elapsed time, in milliseconds, to the second: `0s`, `59s`, `4m 05s`. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds}s` : formatDuration(seconds * 1_000);
}

/** Formats a remaining time, in milliseconds. It rounds up, so `0s` means that nothing is left. */
export function formatCountdown(ms: number): string {
  return formatClock(Math.ceil(ms / 1_000) * 1_000);
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  if (small === 0) return `${large}${largeUnit}`;
  return `${large}${largeUnit} ${String(small).padStart(2, '0')}${smallUnit}`;
}

/** Formats an ISO instant to the second: `2027-01-31T21:00:00Z`. */
export function formatInstant(instant: string): string {
  return instant.replace(/\.\d+Z$/, 'Z');
}

/** Formats US dollars: `$0.00`, `$0.0123`, `$12.30`. */
export function formatCost(usd: number): string {
  return `$${usd > 0 && usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** Formats a cost in US dollars that an agent told; `–` if it told none. */
export function toldCost(usd: number): string {
  return usd > 0 ? formatCost(usd) : '–';
}

/** Formats a number of bytes: `812 B`, `4.0 KB`, `17.2 MB` (powers of 1,024). */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let [size, unit] = [bytes / 1024, 'KB'];
  for (const larger of ['MB', 'GB', 'TB']) {
    if (size < 1023.95) break;
    [size, unit] = [size / 1024, larger];
  }
  return `${size.toFixed(1)} ${unit}`;
}

/** Formats line changes: `+12 -3`; a dash where they are unknown. */
export function formatLines(lines: LineChanges | null | undefined): string {
  if (!lines) return '–';
  const { added, removed } = lines;
  return `+${added} -${removed}`;
}

/** Names the headings of a plan whose checkboxes count, with a space before; empty if all checkboxes count. */
export function belowSections(sections: readonly string[]): string {
  const names = sections.map((each) => `'${oneLine(each, 100)}'`);
  return names.length === 0 ? '' : ` below ${names.join(' or ')}`;
}

/** Returns a number with its noun: `1 task`, `3 tasks`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns `HOST/DATABASE` from the name of a fleet (machines that share tasks), `fleet HOST/DATABASE`. */
export function fleetPlace(fleet: string): string {
  return fleet.replace(/^fleet /, '');
}
