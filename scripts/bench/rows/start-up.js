import { timeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

export function version(/** @type {Bench} */ { scene, runs }) {
  const rounds = timeInTurn(runs, {
    node: scene.node(),
    ralph: scene.ralph(['--version']),
  });
  return [{ values: rounds.map(({ ralph, node }) => ralph - node) }];
}

export function oneIteration(/** @type {Bench} */ { scene, runs }) {
  const rounds = timeInTurn(runs, {
    node: scene.node(),
    agent: scene.program([scene.doneAgent]),
    ralph: scene.run({ agent: scene.doneAgent }),
  });
  return [{ values: rounds.map(({ ralph, node, agent }) => ralph - node - agent) }];
}
