import { shownPath } from '../../core/snapshots/shown-path.ts';
import { firstFew } from '../../core/text/untrusted-text.ts';

/** Returns the first few paths in readable form. In `names`, each character stands for one byte. */
export function somePaths(names: readonly string[]): string {
  return firstFew(names, shownPath);
}

/** Says which of the files that the agent has left are missing in the task's result; null if none are. */
export function leftSentence(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `The result does not have ${somePaths(names)}: ralph leaves out untracked files that look like secrets, repositories inside the tree, files above --snapshot-limit and what git cannot take.`;
}
