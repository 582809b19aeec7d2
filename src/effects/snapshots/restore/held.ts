import path from 'node:path';
import { isWithinAny } from '../../../core/sandbox/places.ts';
import type { UndoPlan } from '../../../core/snapshots/undo-plan.ts';
import { realPath } from '../../files/real-path.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { asText, type TreePath } from '../../git/tree-path.ts';
import { listTree } from '../tree-files.ts';

/** The places that the sandbox of a task protects from its agent. An undo does not write there either. */
export interface HeldPlaces {
  /** Absolute paths that the agent may not write; empty without a sandbox. */
  readonly denied: readonly string[];
  /** The tree from before the first iteration; null if it is not known. */
  readonly start: string | null;
}

/** Returns a function that says whether a path of the work tree is at or below one of the `denied` paths. */
export function heldIn(root: string, denied: readonly string[]): (name: TreePath) => boolean {
  const top = realPath(root);
  return (name) => denied.length > 0 && isWithinAny(path.join(top, asText(name)), denied);
}

/**
 * Takes protected places out of the plan of an undo. The agent cannot have changed what was there when the task began,
 * so that stays, and is returned as `held`. What was not there may be the agent's, so it is removed.
 */
export async function withoutHeld(
  git: PrivateGit,
  plan: UndoPlan,
  { denied, start }: HeldPlaces,
): Promise<{ readonly plan: UndoPlan; readonly held: readonly TreePath[] }> {
  const isHeld = heldIn(git.repository.root, denied);
  if (![...plan.restore.keys()].some(isHeld)) return { plan, held: [] };
  const atStart = start === null ? null : await listTree(git, start);
  const restore = new Map(plan.restore);
  const held: TreePath[] = [];
  for (const [name, change] of plan.restore) {
    if (!isHeld(name)) continue;
    if (atStart?.has(name) === false && change.now !== null) {
      restore.set(name, { ...change, before: null });
      continue;
    }
    restore.delete(name);
    if (atStart?.has(name) !== false) held.push(name);
  }
  return { plan: { ...plan, restore }, held };
}
