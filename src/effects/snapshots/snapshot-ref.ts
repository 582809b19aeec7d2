import { rmSync } from 'node:fs';
import path from 'node:path';
import type { PrivateGit } from './private-git.ts';
import { NameTakenError, reasonOf, SnapshotError } from './snapshot-error.ts';

/** Where the refs of a task's snapshots are. */
export interface RefPlace {
  readonly git: PrivateGit;
  /** For example `refs/ralph/fix-login`. */
  readonly refs: string;
  /**
   * Called before the first ref is created. Without it the refs are this task's, and what a killed git
   * of its own left locked there is removed; with it they may be those of another task that is running.
   */
  readonly claiming?: ((ref: string, commit: string) => Promise<void>) | undefined;
}

/**
 * Creates a ref under the first free name, and returns it; a ref that is there is never moved. Rejects with a
 * `NameTakenError` if every name is taken, or a `SnapshotError`.
 */
export async function createRef(
  { git, refs, claiming }: RefPlace,
  names: Iterable<string>,
  commit: string,
): Promise<string> {
  for (const name of names) {
    const ref = `${refs}/${name}`;
    if (claiming === undefined) {
      // Of this task, whose only driver this is.
      rmSync(path.join(git.repository.commonDir, `${ref}.lock`), { force: true });
    } else {
      await claiming(ref, commit);
    }
    const { exitCode, complaint } = await git.onRepository([
      '-c',
      `core.filesRefLockTimeout=${LOCK_TIMEOUT_MS}`,
      'update-ref',
      ref,
      commit,
      NO_COMMIT,
    ]);
    if (exitCode === 0) return ref;
    const isTaken = claiming === undefined ? /already exists/ : /already exists|File exists/;
    // Somebody may have made a ref below it, and then git takes none of this name.
    const isFolder = complaint.includes(`'${ref}/`);
    if (!isTaken.test(complaint) && !isFolder)
      throw new SnapshotError(reasonOf(['update-ref'], complaint));
  }
  throw new NameTakenError('no name was free');
}

/** As the old value of a ref, it means that the ref must not be there. */
const NO_COMMIT = '';

/** No lock is waited for longer. */
const LOCK_TIMEOUT_MS = 2_000;
