import { shownPath } from '../../core/snapshots/shown-path.ts';

const NAMED_AT_MOST = 5;

/** Returns some of the paths as people read them. `names` have one character for each byte. */
export function somePaths(names: readonly string[]): string {
  const shown = names.slice(0, NAMED_AT_MOST).map((name) => shownPath(name));
  const more = names.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

/** Says what an agent has left that the result of its task does not have; null if nothing is missing. */
export function leftSentence(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `The result does not have ${somePaths(names)}: ralph leaves out untracked files that look like secrets, repositories inside the tree, files above --snapshot-limit and what git cannot take.`;
}
