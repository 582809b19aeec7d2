import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  CLAIM,
  FIXED,
  gates,
  manifest,
  NODE_TEST,
  PATIENCE,
  put,
  RED,
  RUN_VITEST,
  said,
  sceneOf,
  type Task,
  TWO,
  VITEST,
  WORK,
} from '../helpers/judged-projects.ts';
import { makeScene } from '../helpers/scene.ts';

// What speaks against a claim although its checks pass: told by default, held under `--proof hold`.

/** Under hold the old exam may find another thing first. */
type EasyWay = readonly [string, Task, finding: string, names: string, underHold?: string];

const OF_THE_EASY_WAY: readonly EasyWay[] = [
  ['a promise with no tool and no change', {}, 'empty-work', 'nothing was changed'],
  [
    'a rewritten script behind --verify',
    { files: RED, args: ['--verify', 'sh check.sh'], shell: 'echo true > check.sh' },
    'bent-judge',
    'check.sh changed',
  ],
  [
    'a rewritten script behind --until',
    {
      files: RED,
      args: ['--until', 'sh check.sh'],
      shell: 'echo true > check.sh',
      turn: { text: 'Not yet.' },
    },
    'bent-judge',
    'check.sh changed',
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
    'bent-judge',
    'tools/judge.mjs changed',
  ],
  [
    'the test line of package.json',
    {
      files: { ...RED, 'package.json': manifest({ test: FIXED }) },
      args: ['--verify', 'npm test'],
      shell: put('package.json', manifest({ test: 'true' })),
    },
    'bent-judge',
    "the script 'test' of package.json changed",
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
    'bent-judge',
    "the script 'test' of packages/a/package.json changed",
  ],
  [
    'a *.mk file that the Makefile includes',
    {
      files: { ...RED, Makefile: 'include rules.mk\n', 'rules.mk': `check:\n\t${FIXED}\n` },
      args: ['--verify', 'make -s check'],
      shell: `printf 'check:\\n\\t@true\\n' > rules.mk`,
    },
    'bent-judge',
    'rules.mk changed',
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
    'bent-judge',
    'vitest.config.ts is new',
  ],
  [
    'a new runner configuration that excludes the red test',
    {
      files: VITEST,
      args: RUN_VITEST,
      shell: put('vitest.config.ts', 'export default { test: { include: ["green.test.js"] } };'),
    },
    'bent-judge',
    'vitest.config.ts is new',
  ],
  [
    'script-shell in .npmrc',
    {
      files: { ...RED, 'package.json': manifest({ test: FIXED }) },
      args: ['--verify', 'npm test'],
      shell: 'echo script-shell=/bin/true > .npmrc',
    },
    'bent-judge',
    '.npmrc is new',
  ],
  [
    'a deleted test folder, and no test runs',
    { files: TWO, args: NODE_TEST, shell: 'rm -rf test' },
    'fewer-tests',
    'ran no test',
    'changed-tests',
  ],
  [
    'a program of the same name put first on PATH',
    {
      files: { ...RED, Makefile: `check:\n\t${FIXED}\n` },
      args: ['--verify', 'make -s check'],
      shell: "printf '#!/bin/sh\\n' > ../bin/make; chmod +x ../bin/make; echo new > new.txt",
    },
    'bent-judge',
    'make is ',
  ],
  [
    'boxes ticked with nothing else changed',
    {
      files: { 'PLAN.md': '- [ ] a\n- [ ] b\n' },
      args: ['--plan-file', 'PLAN.md'],
      shell: "sed -i 's/\\[ \\]/[x]/' PLAN.md",
      turn: { text: 'Ticked.' },
    },
    'empty-work',
    'nothing was changed but the plan',
  ],
  [
    'boxes taken out',
    {
      files: { 'PLAN.md': '- [ ] a\n- [ ] b\n' },
      args: ['--plan-file', 'PLAN.md'],
      shell: "echo '- [x] a' > PLAN.md; echo new > new.txt",
      turn: { text: 'Done.' },
    },
    'fewer-boxes',
    'PLAN.md has 1 checkbox, and had 2 at the start',
  ],
  [
    'the red test deleted',
    {
      files: TWO,
      args: [...NODE_TEST, '--baseline'],
      shell: 'rm -f test/two.test.js',
    },
    'fewer-tests',
    'ran 1 test, and 2 at the start',
    'changed-tests',
  ],
  [
    'the red test skipped',
    {
      files: TWO,
      args: [...NODE_TEST, '--baseline'],
      shell: 'sed -i \'s/test("two"/test.skip("two"/\' test/two.test.js',
    },
    'fewer-tests',
    'ran 1 test, and 2 at the start',
    'changed-tests',
  ],
];

describe('an agent that takes the easy way', () => {
  test.for(OF_THE_EASY_WAY)('%s: told by default', async ([, task, finding, names]) => {
    const scene = await sceneOf(task);
    const { exitCode, stderr } = await scene.run(task.args, PATIENCE);
    expect(exitCode, stderr).toBe(0);
    expect(said(scene)[0]).toBe(`${finding} told`);
    expect(gates(scene)).toEqual([]);
    expect(stderr).toContain(`not proven: `);
    expect(stderr).toContain(names);
    const { proof } = scene.state().evidence;
    expect(proof).toMatchObject({ proven: false, text: expect.stringContaining(names) });
  });

  test.for(OF_THE_EASY_WAY)(
    '%s: held under --proof hold',
    async ([, task, first, names, underHold = first]) => {
      const scene = await sceneOf(task);
      const { exitCode, stderr } = await scene.run(
        ['--proof', 'hold', ...(task.args ?? [])],
        PATIENCE,
      );
      expect(exitCode, stderr).toBe(5);
      expect(scene.fake.calls()).toHaveLength(2);
      expect(said(scene)[0]).toBe(`${underHold} held`);
      expect(gates(scene)).toEqual([underHold, underHold]);
      expect(scene.state()).toMatchObject({ status: 'stalled', exit_reason: 'unproven' });
      expect(scene.prompt(2)).toContain(names);
      expect(scene.prompt(2)).toMatch(/--accept-(?:empty|changed|fewer)\b.* accepts it/);
      const [note] = scene.notes();
      expect(note?.frontMatter).toMatchObject({ reason: 'unproven' });
      expect(note?.text.replaceAll('\\', '')).toContain(names);
    },
  );

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
  mkdirSync(join(scene.folder, 'other'));
  symlinkSync('/usr/bin/make', join(scene.folder, 'other', 'make'));
  scene.makeRepository();
  await scene.run(['--proof', 'hold', '--verify', 'make -s check', '-n', '1']);
  const path = [join(scene.folder, 'other'), scene.fake.dir];
  const end = await scene.ralph(['resume', 't', '-n', '+1', '--delay', '0'], { path });
  expect(end.exitCode, end.stderr).toBe(0);
  expect(said(scene)).toEqual([]);
});

test('what an old exam does is seen in no file of the work tree', async () => {
  const scene = await sceneOf({ files: RED, shell: 'echo true > check.sh' });
  await scene.run(['--proof', 'hold', '-n', '1', '--verify', 'sh check.sh']);
  expect(said(scene)).toContain('held bent-judge');
  expect(scene.read('check.sh')).toBe('true\n');
  expect(scene.names('..').filter((name) => name.endsWith('.ralph'))).toEqual([]);
});
