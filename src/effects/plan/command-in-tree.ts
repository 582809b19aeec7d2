import { statSync } from 'node:fs';
import path from 'node:path';
import { shellWords } from '../../core/settings/shell-words.ts';
import { realPath } from '../files/real-path.ts';
import { findGitAbove } from '../git/find-git-above.ts';

/**
 * Returns the first word of a command that names a file of the work tree; null if none does. Such a file is the agent's
 * to rewrite, and what decides about its work, or is told of it, must not be its own.
 */
export function commandInTree(command: string, startDir: string, cwd: string): string | null {
  const root = findGitAbove(cwd);
  if (root === null) return null;
  const inTree = (shellWords(command) ?? []).find((word) =>
    [startDir, cwd].some((folder) => isFileIn(root, path.resolve(folder, word))),
  );
  return inTree ?? null;
}

function isFileIn(root: string, file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && realPath(file).startsWith(`${root}${path.sep}`);
}
