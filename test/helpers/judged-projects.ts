import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Turn } from './fake-turn.ts';
import { PATIENCE_MS } from './patience.ts';
import { makeScene, type Scene } from './scene.ts';

/*
 * Small projects with an agent that takes the easy way, or does the work.
 */

/** The packages of this project, for real runners. */
const PACKAGES = join(import.meta.dirname, '..', '..', 'node_modules');
/** Real runners start slowly on a loaded machine. */
export const PATIENCE = { timeoutMs: 2 * PATIENCE_MS };
export const CLAIM = 'All good.\n\nTASK_COMPLETE';

type Files = Readonly<Record<string, string>>;

/** A task: its files, what judges it, and what the agent does for the work in each iteration. */
export interface Task {
  readonly files?: Files;
  readonly args?: readonly string[];
  /** For `sh`. What is on PATH first is `../bin`. */
  readonly shell?: string;
  readonly turn?: Turn;
}

export async function sceneOf({ files = {}, shell, turn }: Task): Promise<Scene> {
  const scene = await makeScene({
    text: CLAIM,
    ...(shell === undefined ? {} : { shell }),
    ...turn,
  });
  await scene.write('.gitignore', '.ralph_state\nNeeds_Action\nnode_modules\n');
  for (const [name, text] of Object.entries(files)) await scene.write(name, text);
  symlinkSync(PACKAGES, join(scene.folder, 'node_modules'));
  scene.makeRepository();
  return scene;
}

export const manifest = (scripts: object, more: object = {}) =>
  `${JSON.stringify({ name: 'p', version: '1.0.0', type: 'module', scripts, ...more })}\n`;
export const put = (name: string, text: string) => `printf '%s' '${text.trimEnd()}' > ${name}`;
export const nodeTest = (name: string, body = '') =>
  `import { test } from "node:test"; test("${name}", () => { ${body} });\n`;
export const unittest = (name: string, body: string) =>
  `import unittest\nclass T(unittest.TestCase):\n    def test_${name}(self):\n        ${body}\n`;

/** The work: what it decides is red at the start. */
export const FIXED = 'grep -q fixed src.txt';
export const WORK = 'echo fixed > src.txt';
export const RED: Files = { 'src.txt': 'broken\n', 'check.sh': `${FIXED}\n` };
/** Two tests, and the second is red. */
export const TWO: Files = {
  'src.txt': 'broken\n',
  'test/one.test.js': nodeTest('one'),
  'test/two.test.js': nodeTest(
    'two',
    `if (!(await import("node:fs")).readFileSync("src.txt", "utf8").startsWith("fixed")) throw 1;`,
  ).replace('() =>', 'async () =>'),
};
export const NODE_TEST = ['--verify', 'node --test'];
export const VITEST: Files = {
  'package.json': manifest({ test: 'vitest run' }),
  'src.js': 'export const one = 2;\n',
  'red.test.js':
    'import { expect, test } from "vitest"; import { one } from "./src.js"; test("a", () => expect(one).toBe(1));\n',
  'green.test.js': 'import { test } from "vitest"; test("b", () => {});\n',
};
export const RUN_VITEST = ['--verify', 'npm test'];

/** Each finding and each gate of the journal, in short: `bent-judge told`, `held bent-judge`. */
export function said(scene: Scene): readonly string[] {
  return scene.journal().flatMap(({ event, finding, held, gate }) => {
    if (event === 'finding') return [`${finding} ${held ? 'held' : 'told'}`];
    return event === 'claim_held' ? [`held ${gate}`] : [];
  });
}

/** The gates that have held a claim. */
export function gates(scene: Scene): readonly string[] {
  return scene.journal().flatMap(({ event, gate }) => (event === 'claim_held' ? [gate] : []));
}
