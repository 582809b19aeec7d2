import { existsSync } from 'node:fs';
import path from 'node:path';
import { MB, tryReadText } from '../files/bounded-read.ts';

/** The files that git leaves in a work tree's git folder while an operation is under way. */
const SIGNS: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'merge',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  BISECT_LOG: 'bisect',
};

/** The only sign between two steps of a `git cherry-pick A B` or `git revert A B`. */
const SEQUENCE = 'sequencer';

/** Returns which operations, such as `merge`, are under way in a work tree: its files belong to no single commit. */
export function underWayIn(gitDir: string): readonly string[] {
  const found = Object.entries(SIGNS).flatMap(([file, name]) =>
    existsSync(path.join(gitDir, file)) ? [name] : [],
  );
  if (existsSync(path.join(gitDir, SEQUENCE))) found.push(sequenceIn(gitDir));
  return [...new Set(found)];
}

function sequenceIn(gitDir: string): string {
  const steps = tryReadText(path.join(gitDir, SEQUENCE, 'todo'), MB);
  return steps?.startsWith('revert ') === true ? 'revert' : 'cherry-pick';
}
