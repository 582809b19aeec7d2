import { join } from 'node:path';
import { EXIT_EXHAUSTED, iterations } from '../scene.js';
import { cpuTimeInTurn } from '../timing.js';
import { commitTree } from './trees.js';

/** @typedef {import('../rows.js').Bench} Bench */

/**
 * Two runs of different length, outside git and in it: what they differ by is iterations and nothing else. The same for
 * a shell loop.
 */
export function loop(/** @type {Bench} */ { scene, runs, quick }) {
  const agent = scene.idleAgent;
  const count = quick ? 15 : 40;
  const tree = join(scene.root, 'tree');
  commitTree(scene, tree, 1_000);
  const of = (/** @type {number} */ n, cwd = scene.empty) =>
    scene.run({ agent, words: iterations(n), cwd, exitCode: EXIT_EXHAUSTED });
  const bare = (/** @type {number} */ n) => scene.program(['/bin/sh', '-c', shellLoop(agent, n)]);
  const rounds = cpuTimeInTurn(runs, {
    long: of(count + 1),
    short: of(1),
    gitLong: of(count + 1, tree),
    gitShort: of(1, tree),
    bareLong: bare(count + 1),
    bareShort: bare(1),
  });
  const over = (
    /** @type {'long' | 'gitLong'} */ long,
    /** @type {'short' | 'gitShort'} */ short,
  ) => ({
    values: rounds.map(
      (round) => (round[long] - round[short] - (round.bareLong - round.bareShort)) / count,
    ),
  });
  return [over('long', 'short'), over('gitLong', 'gitShort')];
}

/** The same agent with the same prompt, and nothing kept. */
function shellLoop(/** @type {string} */ agent, /** @type {number} */ count) {
  const call = `echo Go. | '${agent}' --print --verbose --output-format stream-json >/dev/null`;
  return `i=0; while [ $i -lt ${count} ]; do ${call}; i=$((i+1)); done`;
}
