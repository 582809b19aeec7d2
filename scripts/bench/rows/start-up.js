import { cpuTimeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

/** A run outside git: its processor time, over bare node and its agent. */
export function oneIteration(/** @type {Bench} */ { scene, runs }) {
  const rounds = cpuTimeInTurn(runs, {
    node: scene.node(),
    agent: scene.program([scene.doneAgent]),
    ralph: scene.run({ agent: scene.doneAgent }),
  });
  return [{ values: rounds.map(({ ralph, node, agent }) => ralph - node - agent) }];
}
