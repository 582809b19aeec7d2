import { join } from 'node:path';
import { EXIT_EXHAUSTED, iterations } from '../scene.js';
import { timeInTurn } from '../timing.js';
import { writeTree } from './trees.js';

/** @typedef {import('../rows.js').Bench} Bench */
/** @typedef {import('../scene.js').Scene} Scene */

/**
 * What looking at the files adds to an iteration, before it and after it: iterations of an agent that
 * does nothing, with a pattern over 10,000 files and without one.
 */
export function glob(/** @type {Bench} */ { scene, runs }) {
  const tree = join(scene.root, 'ten-thousand');
  writeTree(tree, 10_000);
  return [{ values: added(scene, runs, { cwd: tree, words: ['--watch-glob', '**/*.md'] }) }];
}

/** Milliseconds an iteration: in the folder with the words, less the same in an empty one without. */
function added(
  /** @type {Scene} */ scene,
  /** @type {number} */ runs,
  /** @type {{ cwd: string, words: readonly string[] }} */ { cwd, words },
) {
  const count = 5;
  const of = (/** @type {number} */ n, /** @type {boolean} */ isIn) =>
    scene.run({
      agent: scene.idleAgent,
      words: [...iterations(n), ...(isIn ? words : [])],
      cwd: isIn ? cwd : scene.empty,
      exitCode: EXIT_EXHAUSTED,
    });
  const rounds = timeInTurn(runs, {
    long: of(count + 1, true),
    short: of(1, true),
    outsideLong: of(count + 1, false),
    outsideShort: of(1, false),
  });
  return rounds.map(
    ({ long, short, outsideLong, outsideShort }) =>
      (long - short - (outsideLong - outsideShort)) / count,
  );
}
