import { join } from 'node:path';
import { timeInProcess } from '../in-process.js';
import { commitTree } from './trees.js';

/** @typedef {import('../rows.js').Bench} Bench */
/** @typedef {{ first: number, changed: readonly number[] }} Times */

/** Snapshots of a small and a large work tree, with few files changed. */
export function snapshots(/** @type {Bench} */ { scene, runs, quick }) {
  const [small, large] = [join(scene.root, 'small', 'tree'), join(scene.root, 'large', 'tree')];
  commitTree(scene, small, 1_000);
  commitTree(scene, large, 50_000);
  const few = timed(scene, small, 1, runs);
  const many = timed(scene, large, 20, runs);
  const firsts = Array.from({ length: quick ? 2 : 5 }, () => timed(scene, large, 0, 0).first);
  return [few.changed, many.changed, firsts].map((values) => ({ values }));
}

/** @returns {Times} */
function timed(
  /** @type {import('../scene.js').Scene} */ scene,
  /** @type {string} */ tree,
  /** @type {number} */ changes,
  /** @type {number} */ runs,
) {
  return timeInProcess(scene, 'time-snapshots.ts', [tree, String(changes), String(runs)]);
}
