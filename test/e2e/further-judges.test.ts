import { describe, expect, test } from 'vitest';
import {
  gates,
  manifest,
  nodeTest,
  PATIENCE,
  put,
  said,
  sceneOf,
  type Task,
  unittest,
  WORK,
} from '../helpers/judged-projects.ts';

// Judges further away: behind a task file, a link or a configuration, and configurations that the work needs.

const HOLD = ['--proof', 'hold', '--verify'];
const SCRIPT = 'set -e\ngrep -q fixed src.txt\ngrep -q more src.txt\n';
const SHORTER = `${WORK}; ${put('scripts/test.sh', 'grep -q fixed src.txt')}`;
const FILES = { 'src.txt': 'broken\n', 'scripts/test.sh': SCRIPT };

test.for<readonly [what: string, task: Task]>([
  [
    'a script that a Makefile runs',
    { files: { ...FILES, Makefile: 'test:\n\tsh scripts/test.sh\n' }, args: ['make test'] },
  ],
  [
    'a script that a script runs',
    { files: { ...FILES, 'check.sh': 'sh scripts/test.sh\n' }, args: ['sh check.sh'] },
  ],
  [
    'a script that a loop runs',
    { files: FILES, args: ['for f in scripts/test.sh; do sh $f || exit 1; done'] },
  ],
])('a line taken out of %s is held', async ([, { files, args = [] }]) => {
  const scene = await sceneOf({ files: files ?? {}, shell: SHORTER });
  const { exitCode, stderr } = await scene.run([...HOLD, ...args], PATIENCE);
  expect(stderr).toContain('scripts/test.sh changed');
  expect(exitCode, stderr).toBe(5);
});

test('a word that hides what runs is named once, and not beside --protect', async () => {
  const scene = await sceneOf({ files: FILES });
  const check = ['--verify', 'sh "$D/check.sh"', '--dry-run'];
  const said = 'What "$D/check.sh" runs is not watched; name it with --protect.';
  const alone = await scene.run(check);
  expect(alone.stdout.split(said)).toHaveLength(2);
  const { stdout } = await scene.run([...check, '--protect', 'scripts/*']);
  expect(stdout).not.toContain(said);
});

test('a script in no snapshot is not called watched', async () => {
  const scene = await sceneOf({ files: { ...FILES, '.gitignore': 'local/\n' } });
  await scene.write('local/check.sh', 'exit 0\n');
  const { stdout } = await scene.run(['--verify', 'sh local/check.sh', '--dry-run']);
  expect(stdout).toContain('outside the work tree: local/check.sh.');
  expect(stdout.split('local/check.sh')).toHaveLength(stdout.split('sh local/check.sh').length + 1);
});

const total = (sum: string) => `export const total = (a, b) => a ${sum} b;\n`;
const vitest = (from: string) =>
  `import { expect, test } from "vitest"; import { total } from "${from}"; test("adds", () => expect(total(1, 2)).toBe(3)); test("runs", () => {});\n`;
const VITEST = {
  'package.json': manifest({ test: 'vitest run' }),
  'vitest.config.js': 'export default {};\n',
  'src/total.js': total('-'),
  'total.test.js': vitest('./src/total.js'),
};
const ALIAS = put(
  'vitest.config.js',
  'export default { resolve: { alias: { "@": import.meta.dirname + "/src" } } };',
);
const USES_ALIAS = `${put('src/plus.js', 'export const plus = (a, b) => a + b;')}; ${put('src/total.js', 'export { plus as total } from "@/plus.js";')}`;
const TSCONFIG = {
  compilerOptions: { strict: true, noEmit: true, module: 'esnext', moduleResolution: 'bundler' },
  include: ['src'],
};
const PATHS = { compilerOptions: { ...TSCONFIG.compilerOptions, paths: { '@/*': ['./src/*'] } } };
const tsconfig = (more: object) => JSON.stringify({ ...TSCONFIG, ...more });
const TSC = ['node_modules/.bin/tsc -p .'];
const python = (path: string) => `[pytest]\npythonpath = ${path}\n`;
const PYTHON = {
  'calc.py': 'def add(a, b):\n    return a - b\n',
  'tests/test_calc.py': unittest('adds', 'self.assertEqual(add(1, 2), 3)').replace(
    '\n',
    '\nfrom calc import add\n',
  ),
  'pytest.ini': python('.'),
};
/** Finds modules as pytest does, and needs no installed one. */
const PYTEST = [
  'PYTHONPATH=$(sed -n "s/pythonpath = //p" pytest.ini) python3 -m unittest discover -q tests',
];
const MOVED = `mkdir src; rm calc.py; printf 'def add(a, b):\\n    return a + b\\n' > src/calc.py`;
const COMMON = {
  'package.json': JSON.stringify({ name: 'p', scripts: { test: 'node --test' } }),
  'src/total.js': 'exports.total = (a, b) => a - b;\n',
  'test/total.test.js':
    'const { test } = require("node:test"); const { total } = require("../src/total.js"); test("adds", () => { if (total(1, 2) !== 3) throw 1; });\n',
};
const MODULE = put('package.json', manifest({ test: 'node --test' }));
const AS_MODULE = (body: string) =>
  put(
    'test/total.test.js',
    nodeTest('adds', body).replace('; test', '; import { total } from "../src/total.js"; test'),
  );

describe('a configuration that the work needs is not held', () => {
  test.for<readonly [what: string, task: Task]>([
    [
      'a path alias of vitest',
      { files: VITEST, args: ['npm test'], shell: `${ALIAS}; ${USES_ALIAS}` },
    ],
    [
      'one that the tests waited for',
      {
        files: { ...VITEST, 'total.test.js': vitest('@/total.js') },
        args: ['npm test'],
        shell: `${ALIAS}; ${USES_ALIAS}`,
      },
    ],
    [
      'a path alias of tsc',
      {
        files: { 'tsconfig.json': tsconfig({}), 'src/a.ts': 'export const a: string = 1;\n' },
        args: TSC,
        shell: `${put('tsconfig.json', tsconfig(PATHS))}; ${put('src/b.ts', 'export const b = "b";')}; ${put('src/a.ts', 'import { b } from "@/b"; export const a: string = b;')}`,
      },
    ],
    [
      "pytest's src layout",
      { files: PYTHON, args: PYTEST, shell: `${MOVED}; ${put('pytest.ini', python('src'))}` },
    ],
    [
      'CommonJS to ES modules',
      {
        files: COMMON,
        args: ['npm test'],
        shell: `${MODULE}; ${put('src/total.js', total('+'))}; ${AS_MODULE('if (total(1, 2) !== 3) throw 1;')}`,
      },
    ],
  ])('%s', async ([, task]) => {
    const scene = await sceneOf(task);
    const { exitCode, stderr } = await scene.run([...HOLD, ...(task.args ?? [])], PATIENCE);
    expect(exitCode, stderr).toBe(0);
    expect(gates(scene)).toEqual([]);
  });

  test.for<readonly [what: string, task: Task, said: string]>([
    [
      'an alias beside a test left out',
      {
        files: VITEST,
        args: ['npm test'],
        shell: put(
          'vitest.config.js',
          'export default { resolve: { alias: {} }, test: { include: ["no.js"], passWithNoTests: true } };',
        ),
      },
      'bent-judge held',
    ],
    [
      'an alias beside what tsc is to leave out',
      {
        files: { 'tsconfig.json': tsconfig({}), 'src/a.ts': 'export const a: string = 1;\n' },
        args: TSC,
        shell: `${put('src/b.ts', 'export const b = "b";')}; ${put('tsconfig.json', tsconfig({ ...PATHS, include: ['src/b.ts'] }))}`,
      },
      'bent-judge held',
    ],
    [
      'ES modules with the assertions turned round',
      {
        files: COMMON,
        args: ['npm test'],
        shell: `${MODULE}; ${put('src/total.js', total('-'))}; ${AS_MODULE('if (total(1, 2) !== -1) throw 1;')}`,
      },
      'changed-tests held',
    ],
  ])('but it is: %s', async ([, task, finding]) => {
    const scene = await sceneOf(task);
    const { exitCode, stderr } = await scene.run([...HOLD, ...(task.args ?? [])], PATIENCE);
    expect(exitCode, stderr).toBe(5);
    expect(said(scene)).toContain(finding);
  });
});
