import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpuTimeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

/** Long enough that what ralph does now and then comes several times. */
const SILENT_S = 20;
/** A round takes that long on the clock, and differs little from the next one. */
const ROUNDS_AT_MOST = 3;

/**
 * The share of a core that ralph takes while its agent says nothing, with so many processes on the machine, or as many
 * as there are if that is more: a run with a silent agent, less one with an agent that is done at once.
 */
export function waiting(/** @type {Bench} */ { scene, runs, quick }) {
  const seconds = quick ? SILENT_S / 2 : SILENT_S;
  const agent = scene.script('silent-agent', `sleep ${seconds}; exec ${scene.doneAgent}`);
  return [100, 700].map((processes) => {
    const sleepers = startSleepers(processes - processCount());
    try {
      const rounds = cpuTimeInTurn(Math.min(runs, ROUNDS_AT_MOST), {
        silent: scene.run({ agent }),
        quick: scene.run({ agent: scene.doneAgent }),
      });
      return { values: rounds.map((round) => (round.silent - round.quick) / (seconds * 10)) };
    } finally {
      for (const sleeper of sleepers) sleeper.kill('SIGKILL');
    }
  });
}

/** Starts processes that do nothing. */
function startSleepers(/** @type {number} */ count) {
  return Array.from({ length: Math.max(0, count) }, () =>
    spawn('sleep', ['600'], { stdio: 'ignore' }),
  );
}

function processCount() {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length;
}
