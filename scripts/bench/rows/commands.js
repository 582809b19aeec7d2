import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALLED } from '../scene.js';
import { cpuTimeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

/** What people look at and wait for: processor time over bare node. */
export function commands(/** @type {Bench} */ { scene, runs }) {
  const rounds = cpuTimeInTurn(runs, {
    node: scene.node(),
    version: scene.ralph(['--version']),
    status: scene.ralph(['status']),
    completion: scene.ralph(['completion', 'bash']),
    help: scene.ralph(['--help']),
    tab: scene.ralph(['__complete', 'ralph', 'status', '']),
  });
  const over = (/** @type {Exclude<keyof typeof rounds[0], 'node'>} */ name) => ({
    values: rounds.map((round) => round[name] - round.node),
  });
  return [over('version'), over('status'), over('completion'), over('help'), over('tab')];
}

/** A run where ralph may not write beside its code, over one where it may. */
export function readOnly(/** @type {Bench} */ { scene, runs }) {
  const installation = join(scene.root, 'installation');
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(INSTALLED, part), join(installation, part), {
      recursive: true,
      filter: (file) => !file.endsWith('compiled'),
    });
  }
  // Also for root, who may write everywhere.
  writeFileSync(join(installation, 'dist', 'compiled'), '');
  const run = scene.run({ agent: scene.doneAgent });
  const [node, , ...words] = run.argv;
  /** @type {[string, ...string[]]} */
  const argv = [node, join(installation, 'bin', 'ralph.js'), ...words];
  const rounds = cpuTimeInTurn(runs, { kept: run, readOnly: { ...run, argv } });
  return [{ values: rounds.map((round) => round.readOnly - round.kept) }];
}
