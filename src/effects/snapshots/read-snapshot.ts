import { GitError } from '../git/git-error.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { lacks, readCommits } from '../git/questions/verified.ts';

/** The author of ralph's own commits, since the user's identity may not be configured. */
export const OWN_NAME = 'ralph';
export const OWN_EMAIL = 'ralph@localhost';

/** The message of the commit that keeps the user's index. */
export const INDEX_MESSAGE = 'index\n';

/** What a snapshot keeps. */
export interface KeptState {
  readonly tree: string;
  /** The commit of HEAD; null before the first commit. */
  readonly head: string | null;
  /** The tree of the user's index; null while that had conflicts. */
  readonly index: string | null;
}

/** Reads, from a snapshot's commit and that commit's parents, what the snapshot keeps. Rejects with a `GitError`. */
export async function readSnapshot(git: PrivateGit, commit: string): Promise<KeptState> {
  const read = async (ids: readonly string[]) => {
    const commits = await readCommits(git.own, ids);
    return ids.map((id) => {
      const found = commits.get(id);
      if (found === undefined) throw new GitError(lacks(id));
      return { id, ...found };
    });
  };
  const [snapshot] = await read([commit]);
  const [first, ...others] = await read(snapshot?.parents ?? []);
  const own = [first, ...others].filter((parent) => parent?.author === OWN_EMAIL);
  return {
    tree: snapshot?.tree ?? '',
    head: first === undefined || own.includes(first) ? null : first.id,
    index: own.find((parent) => parent?.message === INDEX_MESSAGE)?.tree ?? null,
  };
}
