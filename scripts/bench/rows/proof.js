import { join } from 'node:path';
import { timeInProcess } from '../in-process.js';
import { commitTree } from './trees.js';

/** @typedef {import('../rows.js').Bench} Bench */

/** What a claim costs beside its checks, in a small and in a large work tree. */
export function proof(/** @type {Bench} */ { scene, runs }) {
  const [small, large] = [join(scene.root, 'small', 'tree'), join(scene.root, 'large', 'tree')];
  commitTree(scene, small, 1_000);
  commitTree(scene, large, 50_000);
  const few = timed(scene, small, 1, runs);
  const many = timed(scene, large, 20, runs);
  return [few, many].map((values) => ({ values }));
}

/** @returns {readonly number[]} */
function timed(
  /** @type {import('../scene.js').Scene} */ scene,
  /** @type {string} */ tree,
  /** @type {number} */ changes,
  /** @type {number} */ runs,
) {
  return timeInProcess(scene, 'time-proof.ts', [tree, String(changes), String(runs)]);
}
