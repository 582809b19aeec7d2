import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn } from '../../src/effects/git/git.ts';
import { openPrivateGit } from '../../src/effects/git/private-git.ts';
import { findRepository } from '../../src/effects/git/repository.ts';
import { NO_SNAPSHOT_IDS } from '../../src/effects/snapshots/snapshot-ids.ts';

const timeoutMs = 60_000;

/** Opens a repository of the bench: its private git, refs for this process, and what changes its files. */
export async function openTimedTree(root: string) {
  const { env } = process;
  const repository = await findRepository(root, gitIn(root, { env, timeoutMs }));
  if (repository === null) throw new Error(`There is no repository in ${root}.`);
  const folder = mkdtempSync(join(root, '..', 'own-git-'));
  const folders = readdirSync(root).filter((name) => name.startsWith('folder-'));
  return {
    git: openPrivateGit({ folder, repository, env, timeoutMs }),
    ids: { ...NO_SNAPSHOT_IDS, refs: `refs/ralph/bench-${process.pid}` },
    /** Changes so many files, other ones in each run. */
    change(run: number, changes: number): void {
      for (let change = 0; change < changes; change += 1) {
        const place = folders[(run * 7 + change * 31) % folders.length] ?? '';
        const name = readdirSync(join(root, place))[change] ?? '';
        writeFileSync(join(root, place, name), `Changed in run ${run}, ${process.pid}.\n`);
      }
    },
  };
}
