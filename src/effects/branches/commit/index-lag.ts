import { existsSync } from 'node:fs';
import path from 'node:path';
import type { TreeEntry } from '../../../core/snapshots/undo-plan.ts';
import { safeJson } from '../../../core/text/safe-json.ts';
import { MB, tryReadText } from '../../files/bounded-read.ts';
import { objectsAt, parseObject, stringAt } from '../../files/json-fields.ts';
import { tryToRemove, writeFileAtomic } from '../../files/write-file.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import type { TreePath } from '../../git/tree-path.ts';

/** What the user's index lacks because it was locked at a commit: each path, with its old entry and the right one. */
export type IndexLag = ReadonlyMap<TreePath, { readonly was: TreeEntry; readonly to: TreeEntry }>;

export const NO_LAG: IndexLag = new Map();

/** Returns the lag that this process or an earlier one has noted; empty if none is noted. */
export function readLag(git: PrivateGit): IndexLag {
  const kept = parseObject(tryReadText(lagFile(git), 64 * MB) ?? '') ?? {};
  return new Map(
    objectsAt(kept, 'lag').flatMap((each) => {
      const name = stringAt(each, 'path');
      return name === null
        ? []
        : [[name, { was: stringAt(each, 'was'), to: stringAt(each, 'to') }]];
    }),
  );
}

/** Whether a lag is noted. */
export function hasLag(git: PrivateGit): boolean {
  return existsSync(lagFile(git));
}

/** Notes the lag for the next commit, even in another process. On a full disk the lag is lost. */
export async function keepLag(git: PrivateGit, lag: IndexLag): Promise<void> {
  if (lag.size === 0) {
    tryToRemove(lagFile(git));
    return;
  }
  const entries = [...lag].map(([name, entry]) => ({ path: name, ...entry }));
  await writeFileAtomic(lagFile(git), `${safeJson({ lag: entries })}\n`).catch(() => {});
}

function lagFile({ folder }: PrivateGit): string {
  return path.join(folder, 'index-lag.json');
}
