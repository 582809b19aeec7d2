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

/**
 * Creates a ref under the first free name, and returns the name; a ref that is there is never moved once the task has
 * begun. Rejects with a `GitError`.
 */
export async function createRef(
  { git, ids }: RefPlace,
  names: Iterable<string>,
  commit: string,
): Promise<string> {
  // Before that, a driver that was killed may have left one.
  const mayReplace = ids.isFromStart && ids.all.length === 0;
  for (const name of names) {
    if (ids.all.some((each) => each.name === name)) continue;
    await ids.add({ name, commit });
    const ref = `${ids.refs}/${name}`;
    removeLock(git, ref);
    const making = makeRef(git.users, ref, commit, { mayReplace });
    const made = await making.catch((error: unknown) => ({ error }));
    if (made === true) return name;
    // An id without a ref does no harm: the next driver makes the ref.
    await ids.remove(new Set([name])).catch(() => {});
    if (made !== false) throw made.error;
  }
  throw new GitError('no name was free');
}

/**
 * Makes the refs of snapshots that are gone, so that git keeps their commits. Returns a sentence for each ref that
 * somebody else has moved or removed; the snapshots are not read from them.
 */
export async function putRefsRight(
  git: PrivateGit,
  { refs, all }: Pick<SnapshotIds, 'refs' | 'all'>,
): Promise<readonly string[]> {
  const listed = await orNull(listRefs(git.users, [`${refs}/`]));
  if (listed === null) return [];
  // A ref that leads to another one is nobody's snapshot.
  const there = new Map(listed.map(({ name, id, symbolic }) => [name, symbolic === '' ? id : '']));
  const sentences: string[] = [];
  const newest = all.findLast(({ name }) => readSnapshotName(name) !== null)?.name;
  for (const { name, commit } of all) {
    const ref = `${refs}/${name}`;
    const now = there.get(ref);
    if (now === commit) continue;
    // The last driver may have been killed before it made the newest one.
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

/** Removes what a killed git has left; only for a ref of this task, whose only driver this is. */
function removeLock({ repository }: PrivateGit, ref: string): void {
  rmSync(path.join(repository.commonDir, `${ref}.lock`), { force: true });
}
