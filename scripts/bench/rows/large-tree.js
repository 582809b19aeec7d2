import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuTimeInTurn } from '../timing.js';
import { commitAll, commitTree } from './trees.js';

/** @typedef {import('../rows.js').Bench} Bench */

/** A run in a git work tree of 200,000 files: its processor time, over bare node and its agent, and its peak memory. */
export function manyFiles(/** @type {Bench} */ { scene, runs }) {
  const tree = join(scene.root, 'tree');
  commitTree(scene, tree, 200_000);
  return runIn(scene, tree, runs);
}

/** A run in a git work tree that tracks 600 MB in a few files: the same. */
export function muchContent(/** @type {Bench} */ { scene, runs }) {
  const tree = join(scene.root, 'tree');
  mkdirSync(tree);
  for (let file = 0; file < 60; file += 1) {
    const line = `${file}: ${'a long line of a large file '.repeat(30)}\n`;
    const text = line.repeat(Math.ceil(10_000_000 / line.length));
    writeFileSync(join(tree, `file-${file}.txt`), text);
  }
  commitAll(scene, tree);
  return runIn(scene, tree, runs).slice(0, 1);
}

function runIn(
  /** @type {import('../scene.js').Scene} */ scene,
  /** @type {string} */ tree,
  /** @type {number} */ runs,
) {
  const { command, peaks } = scene.withPeaks(scene.run({ agent: scene.doneAgent, cwd: tree }));
  const rounds = cpuTimeInTurn(runs, {
    node: scene.node(),
    agent: scene.program([scene.doneAgent]),
    ralph: command,
  });
  return [
    { values: rounds.map(({ ralph, node, agent }) => ralph - node - agent) },
    { values: peaks },
  ];
}
