import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuTimeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */
/** @typedef {import('../scene.js').Scene} Scene */

const ITEMS = 5;

/** What an item of a long list costs over one of a short list, and a dry run over `--version`: processor time. */
export function lists(/** @type {Bench} */ { scene, runs }) {
  const rounds = cpuTimeInTurn(runs, {
    one: work(scene, { items: 1_000, worked: 1 }),
    several: work(scene, { items: 1_000, worked: 1 + ITEMS }),
    shortOne: work(scene, { items: 1 + ITEMS, worked: 1 }),
    shortSeveral: work(scene, { items: 1 + ITEMS, worked: 1 + ITEMS }),
    dry: work(scene, { items: 5_000, worked: 0 }),
    version: scene.ralph(['--version']),
  });
  return [
    {
      values: rounds.map(
        ({ one, several, shortOne, shortSeveral }) =>
          (several - one - (shortSeveral - shortOne)) / ITEMS,
      ),
    },
    { values: rounds.map(({ dry, version }) => dry - version) },
  ];
}

/**
 * `ralph work` on the first items of a new list; on none, a dry run.
 * @param {Scene} scene
 * @param {{ items: number, worked: number }} list
 */
function work(scene, { items, worked }) {
  const folder = join(scene.root, `list-${items}-${worked}`);
  const boxes = Array.from({ length: items }, (_, at) => `- [ ] Step ${at}\n`);
  const named = Array.from({ length: worked }, (_, at) => ['--item', `step-${at}`]).flat();
  const agent = ['--claude-bin', scene.doneAgent, '--permission-mode', 'plan', '--until', 'true'];
  const words = ['work', 'plan.md', '--quiet', ...agent, ...named];
  return {
    ...scene.ralph(worked === 0 ? [...words, '--dry-run'] : words, { cwd: folder }),
    before: () => {
      mkdirSync(folder);
      writeFileSync(join(folder, 'plan.md'), `# Plan\n\n${boxes.join('')}`);
    },
    after: () => rmSync(folder, { recursive: true }),
  };
}
