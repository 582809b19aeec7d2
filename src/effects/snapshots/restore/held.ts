import path from 'node:path';
import { isWithinAny } from '../../../core/sandbox/places.ts';
import type { UndoPlan } from '../../../core/snapshots/undo-plan.ts';
import { realPath } from '../../files/real-path.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { asText, type TreePath } from '../../git/tree-path.ts';
import { listTree } from '../tree-files.ts';

/** What the sandbox of a task keeps from its agent, ralph writes for nobody. */
export interface HeldPlaces {
  /** Absolute paths that the agent may not write; empty without a sandbox. */
  readonly denied: readonly string[];
  /** The tree from before the first iteration; null if it is not known. */
  readonly start: string | null;
}

/** Returns whether a path of a work tree is held, for everything that restores files. */
export function heldIn(root: string, denied: readonly string[]): (name: TreePath) => boolean {
  const top = realPath(root);
  return (name) => denied.length > 0 && isWithinAny(path.join(top, asText(name)), denied);
}

/**
 * Takes held places out of the plan of an undo. The agent cannot have changed what was there when the task began, so
 * that stays, and is returned as `held`; what was not there, the agent can have made, so it goes.
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
