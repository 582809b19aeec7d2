/** The rule for task ids. They name files, so they must not lead out of their folder or look like a flag. */
export const TASK_ID_RULE =
  '1 to 128 characters of A-Z a-z 0-9 . _ -, not beginning with a dot or a dash, not ending in .json, and none of history, events, locks and lists';

/** Names that already mean something in the state folder. */
const RESERVED = new Set(['history', 'events', 'events.jsonl', 'locks', 'lists']);

export function isTaskId(text: string): boolean {
  return (
    /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text) &&
    !RESERVED.has(text) &&
    !text.endsWith('.json')
  );
}

/** Words that say little about a task, so they are left out of its id. */
const SMALL_WORDS = new Set(
  'an and are as at be but by can for from has have if in into is it its me my of on or our please so than that the their then there these this those to up was we will with you your'.split(
    ' ',
  ),
);

const NAMED_AT_MOST = 40;
/** In UTF-16 code units. Only the beginning of a prompt is read, since an id has its first words. */
const READ_AT_MOST = 2_000;

/**
 * The default id of `ralph run`: up to three words of the prompt and four random characters, such as
 * `make-failing-tests-1a2b`. The id becomes the name of a branch, so credentials in the prompt have to be masked
 * already, and a word with a digit or a sign is left out. `random` lies in [0, 1).
 */
export function namedTaskId(prompt: string, random: number): string {
  const words = prompt
    .slice(0, READ_AT_MOST)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/^[("'`*_]+|[)"'`*_.,:;!?]+$/g, ''))
    .filter((word) => /^[a-z]{2,12}$/.test(word) && !SMALL_WORDS.has(word))
    .slice(0, 3);
  const four = Math.floor(random * 36 ** 4)
    .toString(36)
    .padStart(4, '0');
  const id = (): string => [...words, four].join('-');
  while (id().length > NAMED_AT_MOST) words.pop();
  return words.length === 0 ? `task-${four}` : id();
}

/** The default id of a task that `ralph run` did not start: `YYYYMMDD_HHMMSS_<6 digits>`, UTC. `random`: in [0, 1). */
export function defaultTaskId(at: string, random: number): string {
  const digits = at.replace(/\D/g, '');
  const six = String(Math.floor(random * 1_000_000)).padStart(6, '0');
  return `${digits.slice(0, 8)}_${digits.slice(8, 14)}_${six}`;
}
