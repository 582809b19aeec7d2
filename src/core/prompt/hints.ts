import { clip } from '../text/untrusted-text.ts';

/** A note to the agent from outside that arrived while the loop ran. */
export interface Hint {
  readonly text: string;
  /** Whether this user sent the note by `ralph tell`. If not, it is from a file that others can write. */
  readonly isProven: boolean;
}

/** The longest hint, in UTF-8 bytes. `ralph tell` refuses a longer one; of a longer hint file, the rest is not read. */
export const HINT_MAX_BYTES = 64 * 1024;

/** How many UTF-16 code units of waiting hints are stored. There is a limit because each saved state has the hints. */
const KEPT_CHARS = 1024 * 1024;

/** The hints that a prompt contains. */
export interface PromptHints {
  /** The hints in the order of their arrival. */
  readonly told: readonly Hint[];
  /** How many UTF-16 code units are left out. */
  readonly leftOut: number;
}

/** Drops the oldest waiting hints, and shortens the next one, if all hints together are too large to be stored. */
export function waitingHints(hints: readonly Hint[]): readonly Hint[] {
  const { told, leftOut } = newestHints(hints, KEPT_CHARS);
  return leftOut === 0 ? hints : told;
}

/** Returns the newest hints that fit into `room` UTF-16 code units. The newest that does not fit is shortened. */
export function newestHints(hints: readonly Hint[], room: number): PromptHints {
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
