import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-claude.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// What speaks against a claim although its checks pass: told by default, held under `--proof hold`.

/** The packages of this project, for real runners. */
const PACKAGES = join(import.meta.dirname, '..', '..', 'node_modules');
/** Real runners start slowly on a loaded machine. */
const PATIENCE = { timeoutMs: 60_000 };
const CLAIM = 'All good.\n\nTASK_COMPLETE';

type Files = Readonly<Record<string, string>>;

/** A task: its files, what judges it, and what the agent does for the work in each iteration. */
interface Task {
  readonly files?: Files;
  readonly args?: readonly string[];
  /** For `sh`. What is on PATH first is `../bin`. */
  readonly shell?: string;
  readonly turn?: Turn;
}

async function sceneOf({ files = {}, shell, turn }: Task): Promise<Scene> {
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

const manifest = (scripts: object, more: object = {}) =>
  `${JSON.stringify({ name: 'p', version: '1.0.0', type: 'module', scripts, ...more })}\n`;
const put = (name: string, text: string) => `printf '%s' '${text.trimEnd()}' > ${name}`;
const nodeTest = (name: string, body = '') =>
  `import { test } from "node:test"; test("${name}", () => { ${body} });\n`;
const unittest = (name: string, body: string) =>
  `import unittest\nclass T(unittest.TestCase):\n    def test_${name}(self):\n        ${body}\n`;

/** The work: what it decides is red at the start. */
const FIXED = 'grep -q fixed src.txt';
const WORK = 'echo fixed > src.txt';
const RED: Files = { 'src.txt': 'broken\n', 'check.sh': `${FIXED}\n` };
/** Two tests, and the second is red. */
const TWO: Files = {
  'src.txt': 'broken\n',
  'test/one.test.js': nodeTest('one'),
  'test/two.test.js': nodeTest(
    'two',
    `if (!(await import("node:fs")).readFileSync("src.txt", "utf8").startsWith("fixed")) throw 1;`,
  ).replace('() =>', 'async () =>'),
};
const NODE_TEST = ['--verify', 'node --test'];
const VITEST: Files = {
  'package.json': manifest({ test: 'vitest run' }),
  'src.js': 'export const one = 2;\n',
  'red.test.js':
    'import { expect, test } from "vitest"; import { one } from "./src.js"; test("a", () => expect(one).toBe(1));\n',
  'green.test.js': 'import { test } from "vitest"; test("b", () => {});\n',
};
const RUN_VITEST = ['--verify', 'npm test'];

/** Each finding and each gate of the journal, in short: `bent-judge told`, `held bent-judge`. */
function said(scene: Scene): readonly string[] {
  return scene.journal().flatMap(({ event, finding, held, gate }) => {
    if (event === 'finding') return [`${finding} ${held ? 'held' : 'told'}`];
    return event === 'claim_held' ? [`held ${gate}`] : [];
  });
}

/** The gates that have held a claim. */
function gates(scene: Scene): readonly string[] {
  return scene.journal().flatMap(({ event, gate }) => (event === 'claim_held' ? [gate] : []));
}

const OF_THE_EASY_WAY: readonly (readonly [string, Task, finding: string, names: string])[] = [
  ['a promise with no tool and no change', {}, 'empty-work', 'nothing was changed'],
  [
    'a rewritten script behind --verify',
    { files: RED, args: ['--verify', 'sh check.sh'], shell: 'echo true > check.sh' },
    ...['bent-judge', 'check.sh changed'],
  ],
  [
    'a rewritten script behind --until',
    {
      files: RED,
      args: ['--until', 'sh check.sh'],
      shell: 'echo true > check.sh',
      turn: { text: 'Not yet.' },
    },
    ...['bent-judge', 'check.sh changed'],
  ],
  [
    'a file that the npm script runs',
    {
      files: {
        ...RED,
        'package.json': manifest({ test: 'node tools/judge.mjs' }),
        'tools/judge.mjs':
          'import { readFileSync } from "node:fs"; process.exit(readFileSync("src.txt", "utf8") === "fixed\\n" ? 0 : 1);\n',
      },
      args: ['--verify', 'npm test'],
      shell: ': > tools/judge.mjs',
    },
    ...['bent-judge', 'tools/judge.mjs changed'],
  ],
  [
    'the test line of package.json',
    {
      files: { ...RED, 'package.json': manifest({ test: FIXED }) },
      args: ['--verify', 'npm test'],
      shell: put('package.json', manifest({ test: 'true' })),
    },
    ...['bent-judge', "the script 'test' of package.json changed"],
  ],
  [
    'the test line of a workspace',
    {
      files: {
        'package.json': manifest({}, { workspaces: ['packages/*'] }),
        'packages/a/package.json': manifest({ test: 'false' }, { name: 'a' }),
      },
      args: ['--verify', 'npm test --workspaces'],
      shell: put('packages/a/package.json', manifest({ test: 'true' }, { name: 'a' })),
    },
    ...['bent-judge', "the script 'test' of packages/a/package.json changed"],
  ],
  [
    'a *.mk file that the Makefile includes',
    {
      files: { ...RED, Makefile: 'include rules.mk\n', 'rules.mk': `check:\n\t${FIXED}\n` },
      args: ['--verify', 'make -s check'],
      shell: `printf 'check:\\n\\t@true\\n' > rules.mk`,
    },
    ...['bent-judge', 'rules.mk changed'],
  ],
  [
    'a new runner configuration that excludes all tests',
    {
      files: VITEST,
      args: RUN_VITEST,
      shell: put(
        'vitest.config.ts',
        'export default { test: { include: [], passWithNoTests: true } };',
      ),
    },
    ...['bent-judge', 'vitest.config.ts is new'],
  ],
  [
    'a new runner configuration that excludes the red test',
    {
      files: VITEST,
      args: RUN_VITEST,
      shell: put('vitest.config.ts', 'export default { test: { include: ["green.test.js"] } };'),
    },
    ...['bent-judge', 'vitest.config.ts is new'],
  ],
  [
    'script-shell in .npmrc',
    {
      files: { ...RED, 'package.json': manifest({ test: FIXED }) },
      args: ['--verify', 'npm test'],
      shell: 'echo script-shell=/bin/true > .npmrc',
    },
    ...['bent-judge', '.npmrc is new'],
  ],
  [
    'a deleted test folder, and no test runs',
    { files: TWO, args: NODE_TEST, shell: 'rm -rf test' },
    ...['fewer-tests', 'ran no test'],
  ],
  [
    'a program of the same name put first on PATH',
    {
      files: { ...RED, Makefile: `check:\n\t${FIXED}\n` },
      args: ['--verify', 'make -s check'],
      shell: "printf '#!/bin/sh\\n' > ../bin/make; chmod +x ../bin/make; echo new > new.txt",
    },
    ...['bent-judge', 'make is '],
  ],
  [
    'boxes ticked with nothing else changed',
    {
      files: { 'PLAN.md': '- [ ] a\n- [ ] b\n' },
      args: ['--plan-file', 'PLAN.md'],
      shell: "sed -i 's/\\[ \\]/[x]/' PLAN.md",
      turn: { text: 'Ticked.' },
    },
    ...['empty-work', 'nothing was changed but the plan'],
  ],
  [
    'boxes taken out',
    {
      files: { 'PLAN.md': '- [ ] a\n- [ ] b\n' },
      args: ['--plan-file', 'PLAN.md'],
      shell: "echo '- [x] a' > PLAN.md; echo new > new.txt",
      turn: { text: 'Done.' },
    },
    ...['fewer-boxes', 'PLAN.md has 1 checkbox, and had 2 at the start'],
  ],
  [
    'the red test deleted',
    {
      files: TWO,
      args: [...NODE_TEST, '--baseline'],
      shell: 'rm -f test/two.test.js',
    },
    ...['fewer-tests', 'ran 1 test, and 2 at the start'],
  ],
  [
    'the red test skipped',
    {
      files: TWO,
      args: [...NODE_TEST, '--baseline'],
      shell: 'sed -i \'s/test("two"/test.skip("two"/\' test/two.test.js',
    },
    ...['fewer-tests', 'ran 1 test, and 2 at the start'],
  ],
];

describe('an agent that takes the easy way', () => {
  test.for(OF_THE_EASY_WAY)('%s: told by default', async ([, task, finding, names]) => {
    const scene = await sceneOf(task);
    const { exitCode, stderr } = await scene.run(task.args, PATIENCE);
    expect(exitCode, stderr).toBe(0);
    expect(said(scene)[0]).toBe(`${finding} told`);
    expect(gates(scene)).toEqual([]);
    expect(stderr).toContain(`found against the claim: `);
    expect(stderr).toContain(names);
    const { proof } = scene.state().evidence;
    expect(proof).toMatchObject({ proven: false, text: expect.stringContaining(names) });
  });

  test.for(OF_THE_EASY_WAY)('%s: held under --proof hold', async ([, task, finding, names]) => {
    const scene = await sceneOf(task);
    const { exitCode, stderr } = await scene.run(
      ['--proof', 'hold', ...(task.args ?? [])],
      PATIENCE,
    );
    expect(exitCode, stderr).toBe(5);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(said(scene)[0]).toBe(`${finding} held`);
    expect(gates(scene)).toEqual([finding, finding]);
    expect(scene.state()).toMatchObject({ status: 'stalled', exit_reason: 'unproven' });
    expect(scene.prompt(2)).toContain(names);
    expect(scene.prompt(2)).toMatch(/--accept-(?:empty|changed|fewer)\b.* accepts it/);
    const [note] = scene.notes();
    expect(note?.frontMatter).toMatchObject({ reason: 'unproven' });
    expect(note?.text.replaceAll('\\', '')).toContain(names);
  });

  test('sub-agents that the system stopped hold in both degrees', async () => {
    const started = { type: 'system', subtype: 'task_started', task_id: 'a1' };
    const raw = [JSON.stringify({ ...started, task_type: 'local_agent' })];
    for (const proof of ['tell', 'hold']) {
      const scene = await sceneOf({ shell: WORK, turn: { raw } });
      expect((await scene.run(['--proof', proof])).exitCode).toBe(5);
      expect(gates(scene)).toEqual(['stopped-subagents', 'stopped-subagents']);
      expect(scene.prompt(2)).toContain('the system stopped 1 sub-agent before the end');
    }
  });

  test.for<[what: string, task: Task, flags: readonly string[]]>([
    ['empty work', {}, ['--accept-empty']],
    [
      'a changed script',
      { files: RED, args: ['--verify', 'sh check.sh'], shell: 'echo true > check.sh' },
      ['--accept-changed', 'check.sh'],
    ],
    [
      'fewer tests',
      { files: TWO, args: [...NODE_TEST], shell: 'rm -f test/two.test.js' },
      ['--accept-fewer'],
    ],
  ])('the flag that is named accepts %s', async ([, task, flags]) => {
    const scene = await sceneOf(task);
    const args = ['--proof', 'hold', ...(task.args ?? []), ...flags];
    expect((await scene.run(args)).exitCode).toBe(0);
    expect(said(scene)).toEqual([]);
  });

  test('a stalled task goes on with the flag', async () => {
    const scene = await sceneOf({ files: RED, shell: 'echo true > check.sh' });
    await scene.run(['--proof', 'hold', '--verify', 'sh check.sh']);
    const resumed = ['resume', 't', '--accept-changed', 'check.sh', '--delay', '0'];
    expect((await scene.ralph(resumed)).exitCode).toBe(0);
  });

  test('the task type coding holds, and the work itself lets it go', async () => {
    const task = { files: RED, args: ['--verify', 'sh check.sh'] };
    const scene = await makeScene([
      { text: CLAIM, shell: 'echo true > check.sh' },
      { text: CLAIM, shell: `echo true > check.sh; ${WORK}` },
    ]);
    for (const [name, text] of Object.entries(RED)) await scene.write(name, text);
    await scene.write('.gitignore', '.ralph_state\n');
    scene.makeRepository();
    const { exitCode } = await scene.run([...task.args, '--task-type', 'coding']);
    expect(exitCode).toBe(0);
    // Changed as it is, it judges no worse than the one of the start.
    expect(said(scene)).toEqual(['bent-judge held', 'held bent-judge', 'bent-judge told']);
    expect(scene.prompt(2)).toContain('With what decides the checks as it was at the start');
  });
});

test('a program that another PATH finds after a resume is no switched one', async () => {
  const scene = await makeScene([{ text: 'Not yet.', shell: WORK }, { text: CLAIM }]);
  for (const [name, text] of Object.entries(RED)) await scene.write(name, text);
  await scene.write('Makefile', `check:\n\t${FIXED}\n`);
  await scene.write('.gitignore', '.ralph_state\nNeeds_Action\nother\n');
  symlinkSync('/usr/bin/make', await scene.write('other/make', '').then(emptied));
  scene.makeRepository();
  await scene.run(['--proof', 'hold', '--verify', 'make -s check', '-n', '1']);
  const path = [join(scene.folder, 'other'), scene.fake.dir];
  const end = await scene.ralph(['resume', 't', '-n', '+1', '--delay', '0'], { path });
  expect(end.exitCode, end.stderr).toBe(0);
  expect(said(scene)).toEqual([]);
});

/** Removes a file, so that a link can take its name. */
function emptied(file: string): string {
  rmSync(file);
  return file;
}

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
      'a check script put in order that still judges the same',
      {
        files: RED,
        args: ['--verify', 'sh check.sh'],
        shell: `${WORK}; printf '# Checks.\\nexec ${FIXED}\\n' > check.sh`,
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
    expect(said(scene)).toEqual(['held verify', 'bent-judge told']);
  });
});

test('what an old exam does is seen in no file of the work tree', async () => {
  const scene = await sceneOf({ files: RED, shell: 'echo true > check.sh' });
  await scene.run(['--proof', 'hold', '-n', '1', '--verify', 'sh check.sh']);
  expect(said(scene)).toContain('held bent-judge');
  expect(readFileSync(join(scene.folder, 'check.sh'), 'utf8')).toBe('true\n');
  expect(scene.names('..').filter((name) => name.endsWith('.ralph'))).toEqual([]);
});
