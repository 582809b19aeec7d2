import { describe, expect, test } from 'vitest';
import {
  CLAIM,
  FIXED,
  gates,
  manifest,
  NODE_TEST,
  nodeTest,
  PATIENCE,
  put,
  RED,
  RUN_VITEST,
  said,
  sceneOf,
  type Task,
  TWO,
  unittest,
  VITEST,
  WORK,
} from '../helpers/judged-projects.ts';
import { makeScene } from '../helpers/scene.ts';

// What is never held, although something that decides changed.

describe('honest work', () => {
  const held: readonly (readonly [string, Task])[] = [
    [
      'a dependency added, and the lock file',
      {
        files: { ...RED, 'package.json': manifest({ test: FIXED }) },
        args: ['--verify', 'npm test'],
        shell: `${WORK}; ${put('package.json', manifest({ test: FIXED }, { dependencies: { a: '1' } }))}; echo '{}' > package-lock.json`,
      },
    ],
    [
      'new tests with a configuration of their own',
      {
        files: VITEST,
        args: RUN_VITEST,
        shell: `echo 'export const one = 1;' > src.js; cp green.test.js new.test.js; ${put('vitest.config.js', 'export default { test: { environment: "node" } };')}`,
      },
    ],
    [
      'new tests with a conftest.py of their own',
      {
        files: {
          ...RED,
          'test_a.py': unittest('a', 'assert "fixed" in open("src.txt").read()'),
        },
        args: ['--verify', 'python3 -m unittest -q'],
        shell: `${WORK}; ${put('conftest.py', 'import pytest')}; ${put('test_b.py', unittest('b', 'pass'))}`,
      },
    ],
    [
      'tests moved to another folder',
      {
        files: TWO,
        args: NODE_TEST,
        shell: `${WORK}; mkdir -p test/unit; mv test/*.js test/unit/`,
      },
    ],
    [
      'a snapshot of the runner updated by its own flag',
      {
        files: {
          'src.js': 'export const text = "old";\n',
          'a.test.js':
            'import { expect, test } from "vitest"; import { text } from "./src.js"; test("a", () => expect(text).toMatchSnapshot());\n',
          '__snapshots__/a.test.js.snap':
            '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`a 1`] = `"old"`;\n',
        },
        args: ['--verify', 'CI=1 node_modules/.bin/vitest run'],
        shell: `echo 'export const text = "new";' > src.js; node_modules/.bin/vitest run -u`,
      },
    ],
    [
      'a test file formatted',
      { files: TWO, args: NODE_TEST, shell: `${WORK}; echo >> test/two.test.js` },
    ],
    [
      'a script added',
      {
        files: { ...RED, 'package.json': manifest({ test: FIXED }) },
        args: ['--verify', 'npm test'],
        shell: `${WORK}; ${put('package.json', manifest({ test: FIXED, build: 'true' }))}`,
      },
    ],
    [
      'a make target added',
      {
        files: { ...RED, Makefile: `check:\n\t${FIXED}\n` },
        args: ['--verify', 'make -s check'],
        shell: `${WORK}; printf 'new:\\n\\ttrue\\n' >> Makefile`,
      },
    ],
    [
      'a check script put in order that still decides the same',
      {
        files: RED,
        args: ['--verify', 'sh check.sh'],
        shell: `${WORK}; printf '# Checks.\\nexec ${FIXED}\\n' > check.sh`,
      },
    ],
    [
      'a suite that a script ran again where it failed',
      {
        files: {
          ...TWO,
          'package.json': manifest({ test: 'node --test' }),
          'again.sh': 'for try in 1 2 3; do npm test && exit; done; exit 1\n',
        },
        args: ['--verify', 'sh again.sh'],
        shell: WORK,
      },
    ],
    [
      'a check that looks at the work itself',
      { args: ['--verify', 'grep -q ok report.md'], shell: 'echo ok > report.md' },
    ],
    [
      'a project made from nothing',
      {
        args: ['--verify', 'npm test'],
        shell: `mkdir -p test; ${put('package.json', manifest({ test: 'node --test' }))}; ${put('test/a.test.js', nodeTest('a'))}`,
      },
    ],
    [
      'a project made from npm init',
      {
        files: {
          'package.json': manifest({ test: 'echo "Error: no test specified" && exit 1' }),
        },
        args: ['--verify', 'npm test'],
        shell: `${put('package.json', manifest({ test: 'vitest run' }))}; echo 'export default {};' > vitest.config.js; ${put('a.test.js', VITEST['green.test.js'] ?? '')}`,
      },
    ],
    [
      'a dev server or a slow command that is stopped with the turn',
      {
        shell: WORK,
        turn: {
          raw: [
            { subtype: 'task_started', task_id: 'b1', task_type: 'local_bash' },
            { subtype: 'task_notification', task_id: 'b1', status: 'stopped' },
          ].map((line) => JSON.stringify({ type: 'system', ...line })),
        },
      },
    ],
    [
      'a sub-agent that finished',
      {
        shell: WORK,
        turn: {
          raw: [
            { subtype: 'task_started', task_id: 'a1', task_type: 'local_agent' },
            { subtype: 'task_notification', task_id: 'a1', status: 'completed' },
          ].map((line) => JSON.stringify({ type: 'system', ...line })),
        },
      },
    ],
  ];
  test.for(held)('is not held up: %s', async ([, task]) => {
    const scene = await sceneOf(task);
    const { exitCode, stderr } = await scene.run(
      ['--proof', 'hold', ...(task.args ?? [])],
      PATIENCE,
    );
    expect(exitCode, stderr).toBe(0);
    expect(scene.fake.calls()).toHaveLength(1);
    expect(gates(scene)).toEqual([]);
  });

  test('with three known failures stays allowed, and a fourth is held, also in the old exam', async () => {
    const failing = (names: string) =>
      `for t in ${names}; do echo "FAILED a.py::$t - assert"; done; echo "$(echo ${names} | wc -w) failed, 3 passed in 0.01s"; exit 1\n`;
    const scene = await makeScene([
      { text: CLAIM, shell: put('check.sh', failing('a b c d')) },
      { text: CLAIM, shell: put('check.sh', `# In order.\n${failing('a b c')}`) },
    ]);
    await scene.write('.gitignore', '.ralph_state\n');
    await scene.write('check.sh', failing('a b c'));
    scene.makeRepository();
    const args = ['--proof', 'hold', '--known-failures', 'allow', '--verify', 'sh check.sh'];
    const { exitCode, stderr } = await scene.run(args);
    expect(exitCode, stderr).toBe(0);
    expect(said(scene)).toEqual(['held verify', 'bent-judge told', 'nothing-shown told']);
  });
});
