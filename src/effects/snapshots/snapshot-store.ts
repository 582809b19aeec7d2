import { looksSecret } from '../../core/snapshots/secret-names.ts';
import { withUnderWay } from '../../core/snapshots/snapshot-message.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { lstatOf } from '../files/file-kinds.ts';
import { withIndex, withPlaces } from '../git/git.ts';
import { inNewIndex } from '../git/private-git.ts';
import {
  addPaths,
  dropPaths,
  readIntoIndex,
  setEntries,
  writeTree,
} from '../git/questions/index-files.ts';
import { writeCommit } from '../git/questions/objects.ts';
import { type Head, headSign, isSameHead, readHead } from '../git/repository.ts';
import { isPlainFolder, type TreePath, treePlace } from '../git/tree-path.ts';
import { underWayIn } from '../git/under-way.ts';
import { removeLeftovers } from './leftovers.ts';
import { createOwnIndex } from './own-index.ts';
import { INDEX_MESSAGE, OWN_EMAIL, OWN_NAME, readSnapshot } from './read-snapshot.ts';
import { createRef, type RefPlace } from './snapshot-ref.ts';
import { changesAmong, type LeftOutReason, listChanges, type TreeRules } from './tree-changes.ts';

/*
 * A snapshot is a commit that no branch leads to:
 *
 *   refs/ralph/<task>@<mark>/<name> ──► commit ──┬─ tree: every file of the work tree, byte for byte
 *                                                ├─ parent 1: HEAD
 *                                                └─ parent 2: a commit with the user's index as its tree
 *
 * Ralph makes its parts in this order. So even if ralph is killed, a ref always leads to a whole snapshot:
 *
 *   list what differs ──► blobs ──► tree ──► commit ──► (all on the disk) ──► ref
 */

interface Snapshot {
  readonly name: string;
  readonly commit: string;
  readonly tree: string;
}

/** The work tree in git's objects, before a ref keeps it. */
export interface KeptTree {
  readonly tree: string;
  /** Paths that differ from the previous snapshot. */
  readonly changed: readonly TreePath[];
  /** The changed paths that git does not track and whose names look like secrets. */
  readonly secrets: readonly TreePath[];
  readonly leftOut: ReadonlyMap<TreePath, LeftOutReason>;
  /** Repositories inside the tree. Only the id of their commit is kept. */
  readonly nested: ReadonlySet<TreePath>;
  /** Whether files, HEAD and index are as in the newest snapshot. */
  readonly isAsNewest: boolean;
}

export interface SnapshotRequest extends RefPlace {
  /** The newest snapshot that an earlier process made; null if there is none. */
  readonly newest: Snapshot | null;
  readonly maxBytes: number;
  readonly pathspecs: readonly string[];
}

export interface SnapshotStore {
  readonly newest: Snapshot | null;
  /** HEAD as it was at the last `keepTree`; null before the first. */
  readonly head: Head | null;
  /** Whether HEAD or the user's index may have changed since the last `keepTree`. */
  hasMoved(): boolean;
  /** HEAD as in the newest snapshot; null unless this process made that snapshot, or found nothing changed since it. */
  readonly keptHead: Head | null;
  /**
   * Writes the work tree to git's objects. With `only`, takes just these paths from it, and all others as they were
   * kept last. Rejects with a `GitError`, or the system's error.
   */
  keepTree(only?: ReadonlySet<TreePath>): Promise<KeptTree>;
  /**
   * Makes a snapshot of the tree that was kept last, under the first free name. Its commit also keeps the commits in
   * `extra`. Rejects with a `GitError`, or the system's error.
   */
  keep(
    kept: KeptTree,
    names: Iterable<string>,
    about: (head: Head) => string,
    extra?: readonly string[],
  ): Promise<Snapshot>;
  /** The user's index at the last `keepTree`, written as a tree; null if the index had conflicts. */
  readonly indexTree: string | null;
  /** Makes a commit of a tree as `keep` does, but without a ref. Rejects as `keep` does. */
  commit(tree: string, about: (head: Head) => string, extra?: readonly string[]): Promise<string>;
  /** Writes a copy of a tree with some entries changed, and a commit that keeps the copy and the commit `extra`. */
  keepChanged(
    tree: string,
    entries: ReadonlyMap<TreePath, TreeEntry>,
    extra?: string,
  ): Promise<Snapshot>;
}

const IDENTITY = {
  GIT_AUTHOR_NAME: OWN_NAME,
  GIT_AUTHOR_EMAIL: OWN_EMAIL,
  GIT_COMMITTER_NAME: OWN_NAME,
  GIT_COMMITTER_EMAIL: OWN_EMAIL,
} as const;

/** Returns a store for the snapshots of one work tree and one task. */
export function createSnapshotStore(request: SnapshotRequest): SnapshotStore {
  const { git, ids, maxBytes, pathspecs } = request;
  const { repository } = git;
  const index = createOwnIndex({ git, pathspecs });
  let { newest } = request;
  /** Whether `keepTree` has found changes that are in no snapshot yet. */
  let isUnkept = false;
  let headSeen: string | null = null;
  let head: Head = { commit: null, branch: null };
  let keptHead: Head | null = null;
  /** The commit of the user's index, and the tree and HEAD that it was made from. */
  let indexCommit: { readonly of: string; readonly id: string } | null = null;
  const nested = new Set<TreePath>();

  const lookAtHead = async (): Promise<boolean> => {
    const sign = headSign(repository);
    if (sign === headSeen) return false;
    const now = await readHead(git.users);
    const hasMoved = headSeen === null || !isSameHead(now, head);
    head = now;
    headSeen = sign;
    return hasMoved;
  };

  const commitTree = (
    tree: string,
    message: string,
    parents: readonly (string | null | undefined)[],
  ): Promise<string> => {
    const known = parents.filter((id) => id !== null && id !== undefined);
    return writeCommit(withPlaces(git.own, IDENTITY), { tree, message, parents: known });
  };

  const commitIndex = async (): Promise<string | null> => {
    const { userTree } = index;
    if (userTree === null) return null;
    const of = `${userTree} ${head.commit}`;
    if (indexCommit?.of !== of) {
      indexCommit = { of, id: await commitTree(userTree, INDEX_MESSAGE, [head.commit]) };
    }
    return indexCommit.id;
  };

  const commit: SnapshotStore['commit'] = async (tree, about, extra = []) => {
    const message = withUnderWay(about(head), underWayIn(repository.gitDir));
    return commitTree(tree, message, [head.commit, await commitIndex(), ...extra]);
  };

  /** Whether HEAD and the user's index are as in this snapshot, which an earlier process made. */
  const isWhereNewestIs = async (commit: string): Promise<boolean> => {
    const then = await readSnapshot(git, commit);
    return then.head === head.commit && then.index === index.userTree;
  };

  const begin = async (): Promise<boolean> => {
    if (headSeen === null) removeLeftovers(git, ids.refs);
    return lookAtHead();
  };

  return {
    get newest() {
      return newest;
    },
    get head() {
      return headSeen === null ? null : head;
    },
    hasMoved: () => headSeen !== headSign(repository) || index.hasUserMoved(),
    get keptHead() {
      return keptHead;
    },
    async keepTree(only) {
      const isNew = headSeen === null;
      const headMoved = await begin();
      const indexMoved = index.hasUserMoved();
      const { adopted, excluded } = await index.prepare(newest?.tree ?? null);
      // Git does not look into a folder that its index has as a repository, even once the folder has lost its
      // `.git`.
      const bare = [...nested].filter(
        (name) =>
          only?.has(name) !== false &&
          !index.submodules.has(name) &&
          isPlainFolder(treePlace(repository.root, name)),
      );
      await dropPaths(git.own, bare);
      for (const name of bare) nested.delete(name);
      for (const name of index.submodules) nested.add(name);
      const { tracked, mayBeMissing, asIndexed } = index;
      const changes = await listChanges(git, {
        maxBytes,
        tracked,
        pathspecs,
        mayBeMissing,
        asIndexed,
      });
      const { changed, replaced, dropped, leftOut } =
        only === undefined ? changes : changesAmong(changes, only);
      for (const name of [...changed, ...leftOut.keys()]) {
        const place = treePlace(repository.root, name);
        if (lstatOf(place)?.isDirectory() === true) nested.add(name);
      }
      const isSame = [bare, changed, replaced, dropped, adopted, excluded].every(
        ({ length }) => length === 0,
      );
      if (isSame && newest !== null) {
        const isThere = isNew ? await isWhereNewestIs(newest.commit) : !headMoved && !indexMoved;
        await index.remember([]);
        const tree = isUnkept ? await writeTree(git.own, repository) : newest.tree;
        isUnkept ||= !isThere;
        if (!isUnkept) keptHead = head;
        return { tree, changed, secrets: [], leftOut, nested, isAsNewest: !isUnkept };
      }
      const refused = await addPaths(git.own, changed);
      await dropPaths(git.own, [...replaced, ...dropped, ...refused]);
      const tree = await writeTree(git.own, repository);
      await index.remember(changed);
      isUnkept = true;
      const unreadable = [...refused].map((name) => [name, 'unreadable'] as const);
      const kept = [...new Set([...adopted, ...changed, ...replaced])].filter(
        (name) => !refused.has(name),
      );
      return {
        tree,
        changed: kept,
        secrets: kept.filter((name) => isOpenSecret(name, tracked, repository.root)),
        leftOut: new Map([...leftOut, ...unreadable]),
        nested,
        isAsNewest: false,
      };
    },
    get indexTree() {
      return index.userTree;
    },
    commit,
    async keep({ tree }, names, about, extra) {
      const commitOfTree = await commit(tree, about, extra);
      const name = await createRef({ git, ids }, names, commitOfTree);
      newest = { name, commit: commitOfTree, tree };
      keptHead = head;
      isUnkept = false;
      return newest;
    },
    async keepChanged(base, entries, extra) {
      const tree = await inNewIndex(git, async (index) => {
        const inOther = withIndex(git.own, index);
        await readIntoIndex(inOther, base);
        await setEntries(inOther, repository, entries);
        return writeTree(inOther, repository);
      });
      return { name: '', commit: await commitTree(tree, 'trees of an undo\n', [extra]), tree };
    },
  };
}

function isOpenSecret(name: TreePath, tracked: TreeRules['tracked'], root: string): boolean {
  return looksSecret(name) && !tracked.has(name) && lstatOf(treePlace(root, name)) !== null;
}
