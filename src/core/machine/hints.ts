import { clip } from '../text/untrusted-text.ts';

/** Words that came in while the loop ran. */
export interface Hint {
  readonly text: string;
  /** They came by `ralph tell` from this user, rather than as a file from whoever can write one. */
  readonly isProven: boolean;
}

/** The longest hint, in bytes of UTF-8: `ralph tell` refuses a longer one, and no more is read of a file. */
export const HINT_MAX_BYTES = 64 * 1024;

/** What is kept of hints until a prompt is built, in UTF-16 code units: they are saved with each state. */
const KEPT_CHARS = 1024 * 1024;

/** What a prompt tells of the hints. */
export interface ToldHints {
  /** In the order in which they came. */
  readonly told: readonly Hint[];
  /** How many UTF-16 code units of them are left out. */
  readonly leftOut: number;
}

/** The newest of the hints that wait to be told, the others dropped: no prompt has room for those. */
export function waitingHints(hints: readonly Hint[]): readonly Hint[] {
  const { told, leftOut } = newestHints(hints, KEPT_CHARS);
  return leftOut === 0 ? hints : told;
}

/**
 * The newest hints that have room in so many UTF-16 code units. One that has not is told as far as it
 * goes, and none that came before it.
 */
export function newestHints(hints: readonly Hint[], room: number): ToldHints {
  const told: Hint[] = [];
  let left = room;
  for (const hint of hints.toReversed()) {
    if (left <= 0) break;
    told.unshift({ ...hint, text: clip(hint.text, left) });
    left -= hint.text.length;
  }
  const all = hints.reduce((sum, { text }) => sum + text.length, 0);
  return { told, leftOut: Math.max(0, all - room) };
}
