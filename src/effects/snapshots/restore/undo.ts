import type { UndoTrees } from '../../../core/snapshots/snapshot-message.ts';
import { undoNames } from '../../../core/snapshots/snapshot-names.ts';
import type { TreePair, UndoSpan } from '../../../core/snapshots/timeline.ts';
import { planUndo, type TreeDifference, type UndoPlan } from '../../../core/snapshots/undo-plan.ts';
import { lstatOf } from '../../files/file-kinds.ts';
import { GitError } from '../../git/git-error.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { type Head, timeOf } from '../../git/repository.ts';
import { type TreePath, treePlace } from '../../git/tree-path.ts';
import type { KeptTree, SnapshotStore } from '../snapshot-store.ts';
import { listTree } from '../tree-files.ts';
import { compareTrees, ignoredThen } from '../trees.ts';
import { endUndo, isUndoCutOff, noteUndo } from './begun-undo.ts';
import { type HeldPlaces, withoutHeld } from './held.ts';
import { type Blocked, restoreFiles } from './restore-files.ts';
import { fillSubmodules, lostSubmodules } from './submodules.ts';

/*
 * An undo first makes a snapshot of the work tree as it is, which also names the tree that the undo will leave. Only
 * then does it change files. If it is cut off anywhere, the same undo called again finishes it:
 *
 *   plan ──► (a person agrees) ──► note ──► undo.<k>: the tree as it is, what goes, what is left ──► files ──► note gone
 */

export interface UndoRequest {
  readonly git: PrivateGit;
  readonly store: SnapshotStore;
  readonly span: UndoSpan;
  readonly force: boolean;
  readonly places: HeldPlaces;
}

/** An undo that is ready to be shown and carried out. */
export interface PreparedUndo {
  readonly span: UndoSpan;
  readonly plan: UndoPlan;
  /** Paths that stay because the sandbox protects them. */
  readonly held: readonly TreePath[];
  /** Paths that stay because git ignored them before the undone work: a person may have had them then. */
  readonly ignored: ReadonlySet<TreePath>;
  /** Submodules that lost their files, even if their commit is the same. */
  readonly submodules: ReadonlyMap<TreePath, string>;
  /** Paths that are in no snapshot: nothing is written over them. */
  readonly leftOut: KeptTree['leftOut'];
  /** Whether no file and no submodule would change. */
  readonly isNothing: boolean;
  /**
   * Makes the snapshot `undo.<k>` of the work tree as it is, which also keeps the commits in `extra`. `about` returns
   * the message. Rejects with a `GitError` if files have changed since the undo was prepared.
   */
  keep(about: (head: Head, trees: UndoTrees) => string, extra?: readonly string[]): Promise<void>;
  /** Changes the files; only after `keep`. Resolves to the paths that stay as they are, and why. */
  restore(): Promise<Blocked>;
  /** Call this once the files, HEAD and the index are done: the same undo has then nothing to finish, unless a path stays. */
  end(blocked: Blocked): void;
}

/** Looks at the work tree and decides what an undo would do. Changes none of the user's files. */
export async function prepareUndo(request: UndoRequest): Promise<PreparedUndo> {
  const { git, store, span, force, places } = request;
  const kept = await store.keepTree();
  const compare = ({ from, to }: TreePair): Promise<TreeDifference> => compareTrees(git, from, to);
  const done = await compare({ from: span.before, to: span.after });
  const since = await compare({ from: span.after, to: kept.tree });
  const begun = span.begun === null ? new Map() : await compare(span.begun);
  const changedBetween = new Set<TreePath>();
  for (const { from, to, left } of span.gaps) {
    const notLeft = left === null ? null : await compare({ from: left, to });
    for (const name of (await compare({ from, to })).keys()) {
      if (notLeft?.has(name) !== false) changedBetween.add(name);
    }
  }
  // A redo removes only what an undo has restored.
  const added = span.isRedo ? [] : [...done].filter(([, { from }]) => from === null);
  const names = added.map(([name]) => name);
  const ignored = await ignoredThen(git, span.before, names);
  const wished = planUndo({
    ...{ done, since, begun, force },
    changedBetween: new Set([...changedBetween, ...ignored]),
    goesOn: span.begun?.isSame === true,
    isCutOff: isUndoCutOff(git, store.newest),
  });
  const { plan, held } = await withoutHeld(git, wished, places);
  const submodules = await lostSubmodules(git, span.before, plan);
  let mayReplace: ((name: TreePath) => boolean) | null = null;

  return {
    span,
    plan,
    held,
    ignored,
    submodules,
    leftOut: kept.leftOut,
    isNothing: plan.restore.size === 0 && submodules.size === 0,
    async keep(about, extra = []) {
      const signs = signsOf(git, plan.restore.keys());
      const now = await store.keepTree();
      if (now.tree !== kept.tree) throw new GitError('files have changed meanwhile');
      const trees = await writeTrees(request, plan);
      const message = (head: Head) =>
        about(head, { ...trees, base: span.base.name, isRedo: span.isRedo });
      await noteUndo(git, store.newest);
      await store.keep(now, undoNames(), message, [trees.commit, ...extra]);
      const isKept = await keptPaths(git, now.tree);
      mayReplace = (name) =>
        isKept(name) &&
        (force || plan.restore.has(name)) &&
        signs.get(name) === timeOf(treePlace(git.repository.root, name));
    },
    async restore() {
      if (mayReplace === null) throw new Error('the work tree was not kept');
      const entries = new Map([...plan.restore].map(([name, { before }]) => [name, before]));
      return new Map([
        ...(await restoreFiles({ git, entries, mayReplace })),
        ...(await fillSubmodules(git, span.before, submodules)),
      ]);
    },
    end(blocked) {
      // The same undo may still change what stayed, with `--force` or once a path is free.
      if (plan.kept.length + blocked.size === 0) endUndo(git);
    },
  };
}

/** Writes two trees for the paths that the undo changes: one with what they hold now, one with what the undo leaves there. */
async function writeTrees({ store, span }: UndoRequest, { restore, already }: UndoPlan) {
  const all = [...already, ...restore];
  const replaced = new Map(all.map(([name, { now }]) => [name, now]));
  const brought = new Map(all.map(([name, { before }]) => [name, before]));
  const from = await store.keepChanged(span.ours, replaced);
  const left = await store.keepChanged(span.ours, brought, from.commit);
  return { fromTree: from.tree, leftTree: left.tree, commit: left.commit };
}

/**
 * Returns `timeOf` each path that is to be replaced, and each file where a folder is needed. If that text changes, the
 * path was written since, and the snapshot does not have its content.
 */
function signsOf({ repository }: PrivateGit, names: Iterable<TreePath>): Map<TreePath, string> {
  const signs = new Map<TreePath, string>();
  const note = (name: TreePath): void => {
    if (name === '' || signs.has(name)) return;
    const place = treePlace(repository.root, name);
    const stats = lstatOf(place);
    if (stats !== null && !stats.isDirectory()) signs.set(name, timeOf(place));
    note(name.slice(0, Math.max(0, name.lastIndexOf('/'))));
  };
  for (const name of names) note(name);
  return signs;
}

/** Returns a function that says whether a path is in the tree that was just kept, so that it may be replaced. */
async function keptPaths(git: PrivateGit, tree: string): Promise<(name: TreePath) => boolean> {
  const files = await listTree(git, tree);
  return (name) => files.has(name);
}
