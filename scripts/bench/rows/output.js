import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuTimeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

/** A check that prints 100 MB of ordinary lines, over one that prints nothing: processor time. */
export function checkOutput(/** @type {Bench} */ { scene, runs, quick }) {
  const file = join(scene.root, 'output');
  const size = quick ? 10 : 100;
  for (let at = 0; at < size; at += 1) appendFileSync(file, megabyte(at));
  const run = (/** @type {string} */ check) =>
    scene.run({ agent: scene.doneAgent, words: ['--verify', check] });
  const rounds = cpuTimeInTurn(runs, {
    silent: run('true'),
    loud: run(`cat '${file}'`),
  });
  return [{ values: rounds.map(({ loud, silent }) => ((loud - silent) * 100) / size) }];
}

/** A megabyte of what compilers and servers print. */
function megabyte(/** @type {number} */ number) {
  let text = '';
  for (let line = 0; text.length < 1_000_000; line += 1) {
    text += `2026-01-01T12:00:00 INFO worker-${line % 7} handled request ${number}-${line} in 3 ms\n`;
    text += `gcc -O2 -Wall -c src/module_${line}.c -o build/module_${line}.o\n`;
  }
  return text;
}
