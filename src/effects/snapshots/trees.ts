import type { TreeDifference, TreeEntry } from '../../core/snapshots/undo-plan.ts';
import type { PrivateGit } from './private-git.ts';

/** Compares two trees or commits; null if git fails, for example because one of them is gone. */
export async function compareTrees(
  git: PrivateGit,
  from: string,
  to: string,
): Promise<TreeDifference | null> {
  const { exitCode, output } = await git.run([
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    '--no-renames',
    from,
    to,
  ]);
  if (exitCode !== 0) return null;
  const difference = new Map<string, { from: TreeEntry; to: TreeEntry }>();
  const parts = output.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const found = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(parts[at] ?? '');
    const path = parts[at + 1];
    if (found === null || path === undefined) continue;
    const [, oldMode = '', newMode = '', oldId = '', newId = ''] = found;
    difference.set(path, { from: entryOf(oldMode, oldId), to: entryOf(newMode, newId) });
  }
  return difference;
}

function entryOf(mode: string, id: string): TreeEntry {
  return /^0+$/.test(mode) ? null : `${mode} ${id}`;
}
