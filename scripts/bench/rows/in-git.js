import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_EXHAUSTED, iterations } from '../scene.js';
import { cpuTimeInTurn, time } from '../timing.js';
import { commitTree } from './trees.js';

/** @typedef {import('../rows.js').Bench} Bench */
/** @typedef {import('../scene.js').Scene} Scene */

/** A run in a git work tree: its processor time, over bare node and its agent, and how often it starts git. */
export function inGit(/** @type {Bench} */ { scene, runs }) {
  const tree = join(scene.root, 'tree');
  commitTree(scene, tree, 1_000);
  const rounds = cpuTimeInTurn(runs, {
    node: scene.node(),
    agent: scene.program([scene.doneAgent]),
    ralph: scene.run({ agent: scene.doneAgent, cwd: tree }),
  });
  return [
    { values: rounds.map(({ ralph, node, agent }) => ralph - node - agent) },
    { values: [gitsOf(scene, tree, { agent: scene.doneAgent })] },
    { values: [gitsOfCommit(scene, tree)] },
  ];
}

/** How often git is started by an iteration that is committed. */
function gitsOfCommit(/** @type {Scene} */ scene, /** @type {string} */ tree) {
  for (const [name, value] of [
    ['user.name', 'bench'],
    ['user.email', 'bench@localhost'],
  ]) {
    time(scene.program(['git', 'config', name ?? '', value ?? ''], tree));
  }
  const agent = scene.script('write-agent', `echo $$ >>written; exec ${scene.idleAgent}`);
  const [few, many] = [2, 5].map((count) =>
    gitsOf(scene, tree, {
      agent,
      words: ['--commit', '--protect-branch', 'none', ...iterations(count)],
      exitCode: EXIT_EXHAUSTED,
    }),
  );
  return ((many ?? 0) - (few ?? 0)) / 3;
}

/**
 * Counts the gits that a run starts, by a git before all others that notes each call.
 * @param {Scene} scene
 * @param {string} tree
 * @param {Omit<Parameters<Scene['run']>[0], 'cwd' | 'env'>} run
 */
function gitsOf(scene, tree, run) {
  const folder = join(scene.root, 'counting');
  const calls = join(folder, 'calls');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho >>${calls}\nexec /usr/bin/git "$@"\n`);
  chmodSync(join(folder, 'git'), 0o755);
  appendFileSync(calls, '');
  time(scene.run({ ...run, cwd: tree, env: { PATH: `${folder}:${scene.env.PATH}` } }));
  const count = readFileSync(calls, 'utf8').length;
  rmSync(calls);
  return count;
}
