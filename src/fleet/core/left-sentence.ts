import { shownPath } from '../../core/snapshots/shown-path.ts';
import { firstFew } from '../../core/text/untrusted-text.ts';

/** Returns some of the paths as people read them. `names` have one character for each byte. */
export function somePaths(names: readonly string[]): string {
  return firstFew(names, shownPath);
}

/** Says what an agent has left that the result of its task does not have; null if nothing is missing. */
export function leftSentence(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `The result does not have ${somePaths(names)}: ralph leaves out untracked files that look like secrets, repositories inside the tree, files above --snapshot-limit and what git cannot take.`;
}
