import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { START, snapshotRefs } from '../../../core/snapshots/snapshot-names.ts';
import { writeFileAtomic } from '../../files/write-file.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import type { Head } from '../../git/repository.ts';
import { NameTakenError } from '../snapshot-ref.ts';
import {
  createSnapshotStore,
  type KeptTree,
  type SnapshotRequest,
  type SnapshotStore,
} from '../snapshot-store.ts';

/*
 * Ids of tasks come again, in other vaults and in later runs. A run owns the refs below
 * `refs/ralph/<id>`, `<id>@2` … once it has created the ref `0` there, which only one can:
 *
 *   first prefix without refs ──► note the attempt ──► create `0` ──► it is this run's
 *            ▲                                            │
 *            └────────────── another was faster ──────────┘
 *
 * The note, in the task's own folder, tells a later process that a `0` is this task's although no
 * state says so, and that a lock of it is a dead git's.
 */

export interface ClaimRequest extends Omit<SnapshotRequest, 'refs' | 'newest' | 'claiming'> {
  readonly taskId: string;
  /** Writes the message of the first snapshot. */
  readonly about: (head: Head) => string;
}

/** The refs of a new run, and its first snapshot. */
export interface ClaimedRefs {
  /** For example `refs/ralph/fix-login`. */
  readonly refs: string;
  readonly store: SnapshotStore;
  readonly kept: KeptTree;
}

/**
 * Takes the first snapshot of a new run, under refs that no other run has. Rejects as the store does.
 */
export async function claimRefs({ taskId, about, ...request }: ClaimRequest): Promise<ClaimedRefs> {
  const { git } = request;
  const note = readNote(git);
  // What an earlier process of this task kept is no start of this one: files have changed since, or somebody says so.
  if (note !== null)
    await git.onRepository([
      'update-ref',
      '--no-deref',
      '-d',
      `${note.refs}/${START}`,
      note.commit,
    ]);
  let mayUnlock = note;
  for (let run = 1; ; run += 1) {
    const refs = snapshotRefs(taskId, run);
    if (await hasRefs(git, refs)) continue;
    const claiming = (_ref: string, commit: string) => writeNote(git, { refs, commit });
    const store = createSnapshotStore({ ...request, refs, newest: null, claiming });
    try {
      const kept = await store.keepTree();
      await store.keep(kept, [START], about);
      return { refs, store, kept };
    } catch (error) {
      if (!(error instanceof NameTakenError)) throw error;
      if (mayUnlock?.refs !== refs || (await hasRefs(git, refs))) continue;
      // An earlier process of this task died in here, and the lock has stood since.
      rmSync(path.join(git.repository.commonDir, `${refs}/${START}.lock`), { force: true });
      mayUnlock = null;
      run -= 1;
    }
  }
}

interface Note {
  readonly refs: string;
  readonly commit: string;
}

function noteFile({ folder }: PrivateGit): string {
  return path.join(folder, 'first-snapshot');
}

function writeNote(git: PrivateGit, { refs, commit }: Note): Promise<void> {
  return writeFileAtomic(noteFile(git), `${refs} ${commit}\n`);
}

function readNote(git: PrivateGit): Note | null {
  try {
    const found = /^(refs\/ralph\/[^\s/]+) ([0-9a-f]+)\n$/.exec(
      readFileSync(noteFile(git), 'utf8'),
    );
    return found === null ? null : { refs: found[1] ?? '', commit: found[2] ?? '' };
  } catch {
    return null;
  }
}

/** Whether there is a ref of this name or below it. */
async function hasRefs(git: PrivateGit, refs: string): Promise<boolean> {
  const { output } = await git.onRepository(['for-each-ref', '--count=1', '--format=.', refs]);
  return output !== '';
}

/** Returns refs that no other run has used: the id of a task can come again. */
export async function freeRefs(git: PrivateGit, taskId: string): Promise<string> {
  const all = await git.onRepository(['for-each-ref', '--format=%(refname)', 'refs/ralph/']);
  const taken = new Set(all.output.split('\n').map((ref) => path.posix.dirname(ref)));
  for (let run = 1; ; run += 1) {
    const refs = snapshotRefs(taskId, run);
    if (!taken.has(refs)) return refs;
  }
}
