import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_EXHAUSTED, iterations } from '../scene.js';
import { cpuTimeInTurn, time } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

/** `ralph status` and `ralph report` in a vault in which 10,000 tasks have ended: processor time, and peak memory. */
export function books(/** @type {Bench} */ { scene, runs }) {
  const run = scene.run({ agent: scene.doneAgent, words: ['--task-id', 'task-0'] });
  time({ ...run, after: () => {} });
  const history = join(run.vault, '.ralph_state', 'history');
  const text = readFileSync(join(history, 'task-0.json'), 'utf8');
  for (let task = 1; task < 10_000; task += 1) {
    writeFileSync(join(history, `task-${task}.json`), text.replaceAll('task-0', `task-${task}`));
    mkdirSync(join(history, `task-${task}`));
  }
  const report = scene.withPeaks(scene.ralph(['report', '--vault', run.vault]));
  const rounds = cpuTimeInTurn(runs, {
    version: scene.ralph(['--version']),
    status: scene.ralph(['status', '--vault', run.vault]),
    report: report.command,
  });
  return [
    { values: rounds.map((round) => round.status - round.version) },
    { values: rounds.map((round) => round.report - round.version) },
    { values: report.peaks },
  ];
}

/** The largest the state file ever is over 1,000 iterations that say 1 MB each. */
export function stateFile(/** @type {Bench} */ { scene, quick }) {
  const words = `${'The work goes on, and much is to be said of it. '.repeat(21_000)}\nNot yet.`;
  const output = join(scene.root, 'megabyte.jsonl');
  const result = { type: 'result', subtype: 'success', is_error: false, num_turns: 1 };
  writeFileSync(output, `${JSON.stringify({ ...result, result: words })}\n`);
  const agent = scene.script('wordy-agent', `exec cat '${output}'`);
  // Asked before the end too: it grows, and is folded.
  const sizes = join(scene.root, 'sizes');
  const weigh = scene.script('weigh', `wc -c <"$RALPH_STATE_FILE" >>'${sizes}'`);
  const run = scene.run({
    agent,
    // Of the logs, a gigabyte in all, only the ends are kept.
    words: [...iterations(quick ? 100 : 1_000), '--after', weigh, '--log-limit', '64KB'],
    exitCode: EXIT_EXHAUSTED,
  });
  time({
    ...run,
    after() {
      const states = join(run.vault, '.ralph_state');
      const last = readdirSync(states).find((name) => name.endsWith('.json'));
      const bytes = readFileSync(join(states, last ?? ''), 'utf8').length;
      writeFileSync(sizes, `${bytes}\n`, { flag: 'a' });
      run.after();
    },
  });
  const all = readFileSync(sizes, 'utf8').trim().split('\n').map(Number);
  return [{ values: [Math.max(...all) / 1000] }];
}
