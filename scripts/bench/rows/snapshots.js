import { join } from 'node:path';
import { timeInProcess } from '../in-process.js';
import { timeInTurn } from '../timing.js';
import { commitTree } from './looking.js';

/** @typedef {import('../rows.js').Bench} Bench */
/** @typedef {{ ms: number, calls: number }} Taken */
/** @typedef {{ first: Taken, changed: readonly Taken[], unchanged: readonly Taken[] }} Times */

/** Snapshots of a small and a large work tree, with few files changed, and with none. */
export function snapshots(/** @type {Bench} */ { scene, runs, quick }) {
  const [small, large] = [join(scene.root, 'small', 'tree'), join(scene.root, 'large', 'tree')];
  commitTree(scene, small, 1_000);
  commitTree(scene, large, 50_000);
  const few = timed(scene, small, 1, runs);
  const many = timed(scene, large, 20, runs);
  const firsts = Array.from({ length: quick ? 2 : 5 }, () => timed(scene, large, 0, 0).first);
  const status = scene.program(['git', '--no-optional-locks', 'status', '--porcelain'], large);
  return [
    { values: few.changed.map(({ ms }) => ms) },
    { values: many.changed.map(({ ms }) => ms) },
    { values: firsts.map(({ ms }) => ms) },
    { values: many.unchanged.map(({ ms }) => ms) },
    { values: timeInTurn(runs, { status }).map((round) => round.status) },
    { values: [...few.changed, ...many.changed].map(({ calls }) => calls) },
    { values: [...few.unchanged, ...many.unchanged].map(({ calls }) => calls) },
  ];
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
