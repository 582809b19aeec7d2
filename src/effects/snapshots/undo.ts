import { undoNames } from '../../core/snapshots/snapshot-names.ts';
import type { UndoSpan } from '../../core/snapshots/timeline.ts';
import { planUndo, type TreeDifference, type UndoPlan } from '../../core/snapshots/undo-plan.ts';
import type { PrivateGit } from './private-git.ts';
import type { Head } from './repository.ts';
import { restoreFiles } from './restore-files.ts';
import { type KeptTree, SnapshotError, type SnapshotStore } from './snapshot-store.ts';
import type { TreePath } from './tree-changes.ts';
import { compareTrees } from './trees.ts';

/*
 * An undo keeps the work tree as it is, as a snapshot that also names the tree that the undo leaves
 * behind. Only then it changes files. Cut off anywhere, the same undo finishes it.
 */

export interface UndoRequest {
  readonly git: PrivateGit;
  readonly store: SnapshotStore;
  readonly span: UndoSpan;
  readonly force: boolean;
}

/** An undo that is ready to be shown and carried out. */
export interface PreparedUndo {
  readonly plan: UndoPlan;
  /** Paths that are in no snapshot: nothing is written over them. */
  readonly leftOut: KeptTree['leftOut'];
  /** Carries it out. `about` writes the message of the snapshot from the tree that is left. */
  carryOut(about: (head: Head, leftTree: string) => string): Promise<readonly TreePath[]>;
}

/** Looks at the work tree and decides what an undo would do; changes no file of the user's. */
export async function prepareUndo(request: UndoRequest): Promise<PreparedUndo> {
  const { git, store, span, force } = request;
  const kept = await store.keepTree();
  const compare = async (from: string, to: string): Promise<TreeDifference> => {
    const difference = await compareTrees(git, from, to);
    if (difference === null) throw new SnapshotError('a snapshot that it needs is missing');
    return difference;
  };
  const since = new Map(await compare(span.ours, kept.tree));
  const done = new Map(await compare(span.before, span.ours));
  if (span.begun !== null) {
    // A path that the last undo meant to change, and did not: it is still as ralph had left it.
    for (const [name, { from, to }] of await compare(span.begun.from, span.begun.to)) {
      if (since.get(name)?.to !== from) continue;
      since.delete(name);
      done.set(name, { from: to, to: from });
    }
  }
  const changedBetween = new Set<TreePath>();
  for (const { from, to } of span.gaps) {
    for (const name of (await compare(from, to)).keys()) changedBetween.add(name);
  }
  const plan = planUndo({ done, since, changedBetween, force });
  return {
    plan,
    leftOut: kept.leftOut,
    async carryOut(about) {
      const left = await store.keepChanged(span.ours, plan.restore);
      await store.keep(kept, undoNames(), (head) => about(head, left.tree), left.commit);
      const isKept = await keptPaths(git, kept.tree);
      const restored = await restoreFiles({ git, entries: plan.restore, isKept });
      if (restored === null) throw new SnapshotError('git cannot write the files of the snapshot');
      return restored.blocked;
    },
  };
}

/** Whether a path is in the tree that was kept a moment ago: then it may be replaced. */
async function keptPaths(git: PrivateGit, tree: string): Promise<(name: TreePath) => boolean> {
  const { exitCode, output } = await git.run(['ls-tree', '-r', '-z', '--name-only', tree]);
  if (exitCode !== 0) throw new SnapshotError('git cannot read the snapshot');
  const names = new Set(output.split('\0'));
  return (name) => names.has(name);
}
