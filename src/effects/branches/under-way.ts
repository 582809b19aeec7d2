import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Repository } from '../snapshots/repository.ts';

/** The files that git has while something is under way. */
const SIGNS = {
  MERGE_HEAD: 'a merge',
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  BISECT_LOG: 'a bisect',
} as const;

/** Returns what is under way in a work tree, for example `a merge`; null if nothing is. */
export function operationIn({ gitDir }: Repository): string | null {
  const found = Object.entries(SIGNS).find(([name]) => existsSync(path.join(gitDir, name)));
  return found?.[1] ?? null;
}
