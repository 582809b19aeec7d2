import { looksSecret } from '../../core/snapshots/secret-names.ts';
import { snapshotMessage } from '../../core/snapshots/snapshot-message.ts';
import { saysFull } from '../../effects/git/git-error.ts';
import type { PrivateGit } from '../../effects/git/private-git.ts';
import { emptyTree } from '../../effects/git/repository.ts';
import type { TreePath } from '../../effects/git/tree-path.ts';
import type { TreeKeeper } from '../../effects/snapshots/keeper/tree-keeper.ts';
import { readSnapshot } from '../../effects/snapshots/read-snapshot.ts';
import { compareTrees } from '../../effects/snapshots/trees.ts';
import { messageOf } from '../../errors.ts';
import { somePaths } from '../core/left-sentence.ts';
import { originRefs } from '../core/origin-refs.ts';
import type { CheckpointSnapshot } from '../database/fleet-queue.ts';
import type { Mirror } from './mirror.ts';

/*
 * A worker that takes a task over finds the work tree in the task's repository (origin), as a snapshot with this name:
 *
 *   work tree ──► objects ──► without files that look like secrets ──► commit ──► refs/ralph/<task>/<i>.<fence>.<n>
 *
 * `i` is the iteration, `fence` the number of the claim. In the work tree, snapshots keep the names of a local run.
 */

/** The work tree of one worker's run of a task (a leg), as a commit that may leave the machine. */
export interface KeptLegTree {
  /** A commit whose parents are HEAD and the index, as in any snapshot. */
  readonly commit: string;
  readonly tree: string;
  /** The agent's HEAD; null before its first commit. */
  readonly head: string | null;
  /** The tree of the agent's index; null while it has conflicts. */
  readonly index: string | null;
  /** Untracked files that look like secrets, and are therefore left out. */
  readonly secrets: readonly TreePath[];
  /** Files that a snapshot cannot hold. */
  readonly leftOut: ReadonlySet<TreePath>;
}

/** Two kept trees that agree in these fields are the same for the worker that takes over. */
type TreeState = Pick<KeptLegTree, 'tree' | 'head' | 'index'>;

export interface KeepRequest {
  readonly taskId: string;
  /** A number that grows with each kept tree. */
  readonly order: number;
  /** The time of the commit, as an ISO instant. */
  readonly at: string;
  /** What the snapshot shows in a few words, such as `iteration 3`. */
  readonly subject: string;
  /** The tree that was kept last. If nothing differs from it, no new commit is made. */
  readonly last: KeptLegTree | null;
}

/**
 * Makes a commit, to which no ref leads, of the work tree as it is now. If nothing differs from `last`, the result has
 * the commit of `last`. Rejects with a `GitError`, or the system's error.
 */
export async function keepLegTree(
  keeper: TreeKeeper,
  { taskId, order, at, subject, last }: KeepRequest,
): Promise<KeptLegTree> {
  const kept = await keeper.keepUnnamed();
  const { git, store } = keeper;
  const head = store.head?.commit ?? null;
  const index = store.indexTree;
  const leftOut = new Set(kept.leftOut.keys());
  if (last?.secrets.length === 0 && isSame(last, { tree: kept.tree, head, index })) {
    return { ...last, leftOut };
  }
  const secrets = await untrackedSecrets(
    git,
    index ?? head ?? emptyTree(git.repository),
    kept.tree,
  );
  const without = new Map(secrets.map((name) => [name, null]));
  const tree =
    secrets.length === 0 ? kept.tree : (await store.keepChanged(kept.tree, without)).tree;
  if (last !== null && isSame(last, { tree, head, index })) return { ...last, secrets, leftOut };
  const commit = await store.commit(tree, ({ branch }) =>
    snapshotMessage({ taskId, order, at, subject, branch }),
  );
  return { commit, tree, head, index, secrets, leftOut };
}

function isSame(one: TreeState, other: TreeState): boolean {
  return one.tree === other.tree && one.head === other.head && one.index === other.index;
}

/** Returns the files that look like secrets and are not in `tracked`: the index or, while it has conflicts, HEAD. */
async function untrackedSecrets(
  git: PrivateGit,
  tracked: string,
  tree: string,
): Promise<readonly TreePath[]> {
  const difference = await compareTrees(git, tracked, tree);
  return [...difference].flatMap(([name, { from }]) =>
    from === null && looksSecret(name) ? [name] : [],
  );
}

/** A snapshot at the origin, as the stored state of the task names it. */
type SnapshotAtOrigin = Omit<CheckpointSnapshot, 'before' | 'start'>;

type SnapshotPush =
  /** The snapshot is at the origin. `isNew`: it was pushed just now, since something has changed since the last one. */
  | { readonly kind: 'pushed'; readonly snapshot: SnapshotAtOrigin; readonly isNew: boolean }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'away'; readonly why: string }
  /** The work tree cannot be saved: the disk is full, or its repository is damaged. */
  | { readonly kind: 'not-kept'; readonly why: string; readonly isFull: boolean };

export interface LegSnapshotsRequest {
  readonly keeper: TreeKeeper;
  readonly mirror: Mirror;
  readonly taskId: string;
  /** The number of the claim, which no other leg of the task has. */
  readonly fence: number;
  /** The snapshot from which the work tree was made; null if it was made from a commit. */
  readonly newest: SnapshotAtOrigin | null;
  readonly now: () => string;
  /** Tells a person, once for each file, which files never leave this machine. */
  readonly notice: (sentence: string) => void;
}

/** The snapshots that a leg leaves at the origin. */
export interface LegSnapshots {
  /** The newest snapshot at the origin; null before the first. */
  readonly newest: SnapshotAtOrigin | null;
  /** The tree that was kept last, even if it could not be pushed. */
  readonly kept: KeptLegTree | null;
  /** Makes a snapshot of the work tree and pushes it, unless it would be the same as the newest. Never rejects. */
  push(iteration: number): Promise<SnapshotPush>;
}

/** The most names that are tried. If so many are taken, the cause must be something else. */
const NAMES_AT_MOST = 20;

/** Opens the snapshots of a leg; nothing is kept or pushed yet. */
export function openLegSnapshots(request: LegSnapshotsRequest): LegSnapshots {
  const { keeper, mirror, taskId, fence, now, notice } = request;
  const objects = keeper.git.repository.objects;
  let newest = request.newest;
  let pushed: TreeState | null = null;
  let kept: KeptLegTree | null = null;
  let isOpen = false;
  let number = 0;
  const said = new Set<TreePath>();

  const keep = async (iteration: number): Promise<KeptLegTree> => {
    if (!isOpen && newest !== null) {
      // The newest snapshot may be another leg's, and missing in this work tree's repository.
      pushed = await readSnapshot(keeper.git, newest.commit).catch(() => null);
    }
    isOpen = true;
    const about = { taskId, order: number + 1, at: now(), subject: `iteration ${iteration}` };
    const tree = await keepLegTree(keeper, { ...about, last: kept });
    const fresh = tree.secrets.filter((name) => !said.has(name));
    for (const name of fresh) said.add(name);
    if (fresh.length > 0) notice(secretSentence(fresh));
    return tree;
  };

  return {
    get newest() {
      return newest;
    },
    get kept() {
      return kept;
    },
    async push(iteration) {
      try {
        kept = await keep(iteration);
      } catch (error) {
        const said = messageOf(error);
        const why = `The work tree cannot be kept: ${said}.`;
        return { kind: 'not-kept', why, isFull: saysFull(said) };
      }
      if (newest !== null && pushed !== null && isSame(pushed, kept)) {
        return { kind: 'pushed', snapshot: newest, isNew: false };
      }
      for (let tries = 1; ; tries += 1) {
        const ref = `${originRefs(taskId)}${iteration}.${fence}.${number + 1}`;
        const end = await mirror.push(kept.commit, ref, { objects });
        if (end.kind === 'moved' && tries < NAMES_AT_MOST) {
          number += 1;
          continue;
        }
        if (end.kind === 'moved') return { kind: 'refused', why: end.why };
        if (end.kind !== 'pushed') return end;
        number += 1;
        pushed = kept;
        newest = { commit: kept.commit, ref, head: kept.head ?? '' };
        return { kind: 'pushed', snapshot: newest, isNew: true };
      }
    },
  };
}

function secretSentence(names: readonly TreePath[]): string {
  const all = somePaths(names);
  return names.length === 1
    ? `${all} looks like a secret and is not pushed: on another machine the task continues without it.`
    : `${all} look like secrets and are not pushed: on another machine the task continues without them.`;
}
