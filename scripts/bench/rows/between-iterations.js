import { EXIT_EXHAUSTED, iterations } from '../scene.js';
import { timeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

/**
 * Two runs of different length: what they differ by is iterations and nothing else. The same for a
 * shell loop.
 */
export function loop(/** @type {Bench} */ { scene, runs, quick }) {
  const agent = scene.idleAgent;
  const count = quick ? 15 : 40;
  const of = (/** @type {number} */ n) =>
    scene.run({ agent, words: iterations(n), exitCode: EXIT_EXHAUSTED });
  const unsynced = (/** @type {number} */ n) =>
    scene.run({
      agent,
      words: iterations(n),
      exitCode: EXIT_EXHAUSTED,
      preload: 'no-fsync',
    });
  const bare = (/** @type {number} */ n) => scene.program(['/bin/sh', '-c', shellLoop(agent, n)]);
  const rounds = timeInTurn(runs, {
    long: of(count + 1),
    short: of(1),
    longUnsynced: unsynced(count + 1),
    shortUnsynced: unsynced(1),
    bareLong: bare(count + 1),
    bareShort: bare(1),
  });
  const each = rounds.map((round) => ({
    ralph: (round.long - round.short) / count,
    unsynced: (round.longUnsynced - round.shortUnsynced) / count,
    bare: (round.bareLong - round.bareShort) / count,
  }));
  return [
    { values: each.map(({ ralph, bare }) => ralph - bare) },
    { values: each.map(({ ralph, unsynced }) => ralph - unsynced) },
    { values: each.map(({ bare }) => bare) },
  ];
}

/** The same agent with the same prompt, and nothing kept. */
function shellLoop(/** @type {string} */ agent, /** @type {number} */ count) {
  const call = `echo Go. | '${agent}' --print --verbose --output-format stream-json >/dev/null`;
  return `i=0; while [ $i -lt ${count} ]; do ${call}; i=$((i+1)); done`;
}
