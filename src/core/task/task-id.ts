/** The rule for task ids. They name files, so they must neither leave their folder nor look like a flag. */
export const TASK_ID_RULE =
  '1 to 128 characters of A-Z a-z 0-9 . _ -, not beginning with a dot or a dash, not ending in .json, and none of history, events and locks';

/** Names that already mean something in the state folder. */
const RESERVED = new Set(['history', 'events', 'events.jsonl', 'locks']);

export function isTaskId(text: string): boolean {
  return (
    /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text) &&
    !RESERVED.has(text) &&
    !text.endsWith('.json')
  );
}

/** The default id, `YYYYMMDD_HHMMSS_<6 digits>`, in UTC. `random` lies in [0, 1). */
export function defaultTaskId(at: string, random: number): string {
  const digits = at.replace(/\D/g, '');
  const six = String(Math.floor(random * 1_000_000)).padStart(6, '0');
  return `${digits.slice(0, 8)}_${digits.slice(8, 14)}_${six}`;
}
