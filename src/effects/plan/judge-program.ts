import { statSync } from 'node:fs';
import path from 'node:path';
import type { SourcedSettings } from '../../core/settings/setting-source.ts';
import { shellWords } from '../../core/settings/shell-words.ts';
import { realPath } from '../files/real-path.ts';
import { findGitAbove } from '../git/find-git-above.ts';

/**
 * Returns why the command of a judge cannot be used, as a sentence; null if it can. What it names in the work tree is
 * the worker's to rewrite, and would judge its own work.
 */
export function judgeInTree(
  { settings, sources }: SourcedSettings,
  startDir: string,
  cwd: string,
): string | null {
  const root = findGitAbove(cwd);
  const { judgeCommand } = settings;
  if (root === null || judgeCommand === null) return null;
  const inTree = (shellWords(judgeCommand) ?? []).find((word) =>
    [startDir, cwd].some((folder) => isFileIn(root, path.resolve(folder, word))),
  );
  if (inTree === undefined) return null;
  return `${sources.judgeCommand.where} expects a program outside of the work tree, since the worker could rewrite it; found ${inTree}.`;
}

function isFileIn(root: string, file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && realPath(file).startsWith(`${root}${path.sep}`);
}
