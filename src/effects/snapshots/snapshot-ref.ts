import { rmSync } from 'node:fs';
import path from 'node:path';
import { readSnapshotName } from '../../core/snapshots/snapshot-names.ts';
import { GitError, orNull } from '../git/git-error.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { listRefs, makeRef } from '../git/questions/refs.ts';
import type { SnapshotIds } from './snapshot-ids.ts';

/** Where the refs of a task's snapshots are. */
export interface RefPlace {
  readonly git: PrivateGit;
  readonly ids: SnapshotIds;
}

/** Creates a ref under the first free name and returns the name. Moves no snapshot's ref. Rejects with a `GitError`. */
export async function createRef(
  { git, ids }: RefPlace,
  names: Iterable<string>,
  commit: string,
): Promise<string> {
  // Before the first snapshot, a ref can only be one that a killed process of this task left.
  const mayReplace = ids.isFromStart && ids.all.length === 0;
  for (const name of names) {
    if (ids.all.some((each) => each.name === name)) continue;
    await ids.add({ name, commit });
    const ref = `${ids.refs}/${name}`;
    removeLock(git, ref);
    const making = makeRef(git.users, ref, commit, { mayReplace });
    const made = await making.catch((error: unknown) => ({ error }));
    if (made === true) return name;
    // Should this fail, no harm is done: the next process that runs the task makes the ref.
    await ids.remove(new Set([name])).catch(() => {});
    if (made !== false) throw made.error;
  }
  throw new GitError('no name was free');
}

/**
 * Makes missing refs of snapshots again, so that git keeps their commits. Returns a sentence for each ref that somebody
 * else has moved or removed; the snapshots themselves do not depend on the refs.
 */
export async function putRefsRight(
  git: PrivateGit,
  { refs, all }: Pick<SnapshotIds, 'refs' | 'all'>,
): Promise<readonly string[]> {
  const listed = await orNull(listRefs(git.users, [`${refs}/`]));
  if (listed === null) return [];
  // A symbolic ref, which stands for another ref, is not a snapshot of ralph's.
  const there = new Map(listed.map(({ name, id, symbolic }) => [name, symbolic === '' ? id : '']));
  const sentences: string[] = [];
  const newest = all.findLast(({ name }) => readSnapshotName(name) !== null)?.name;
  for (const { name, commit } of all) {
    const ref = `${refs}/${name}`;
    const now = there.get(ref);
    if (now === commit) continue;
    // The ref of the newest snapshot may be missing only because ralph was killed before it made the ref.
    const made = now === undefined && (await makeAgain(git, ref, commit));
    if (now === undefined && made && name === newest) continue;
    sentences.push(
      `${ref} ${now === undefined ? 'was gone' : 'names another commit'}: ralph keeps to the snapshot that it took itself.`,
    );
  }
  return sentences;
}

async function makeAgain(git: PrivateGit, ref: string, commit: string): Promise<boolean> {
  removeLock(git, ref);
  return makeRef(git.users, ref, commit).catch(() => false);
}

/** Removes the lock that a killed git has left. Only for a ref of this task, which no other process writes. */
function removeLock({ repository }: PrivateGit, ref: string): void {
  rmSync(path.join(repository.commonDir, `${ref}.lock`), { force: true });
}
