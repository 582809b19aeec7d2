import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ran } from '../helpers/past-task.ts';
import { HAS_PSEUDO_TERMINALS, onTerminal } from '../helpers/pseudo-terminal.ts';

// What a task changed, shown by `ralph diff` and `ralph snapshots`.

const THREE = [
  'echo 1 > a; printf "\\000" > "$(printf "b\\nin")"',
  'echo 2 >> a; mv c d; rm link; echo x > link',
  'echo 3 >> a',
];

const past = () =>
  ran({
    files: { a: '0\n', c: 'c\n' },
    setUp: ({ folder }) => writeFileSync(join(folder, 'untracked'), 'u\n'),
    shells: [`ln -s a link; ${THREE[0]}`, THREE[1] ?? '', THREE[2] ?? ''],
  });

test('shows what an iteration, some of them or all have changed, as git diff does', async () => {
  const { scene } = await past();
  const one = await scene.ralph(['diff', 't', '3']);
  expect(one).toMatchObject({ exitCode: 0, stderr: '' });
  expect(one.stdout).toMatch(
    /^diff --git a\/a b\/a\nindex .*\n--- a\/a\n\+\+\+ b\/a\n@@ -1,2 \+1,3 @@\n 1\n 2\n\+3\n$/,
  );
  const some = await scene.ralph(['diff', 't', '2..3']);
  expect(some.stdout).toMatch(/\n 1\n\+2\n\+3\n/);
  expect(some.stdout).toContain('rename from c');
  const all = await scene.ralph(['diff', 't', '--stat']);
  expect(all.stdout).toMatch(/^ a +\| +4 \+\+\+-$/m);
  expect(all.stdout).not.toContain('untracked');
});

test('--json has each file with its lines', async () => {
  const { scene } = await past();
  const { stdout } = await scene.ralph(['diff', 't', '--json']);
  expect(JSON.parse(stdout)).toEqual([
    { path: 'a', status: 'modified', added: 3, removed: 1 },
    { path: '"b\\nin"', status: 'added', added: null, removed: null },
    { path: 'c', status: 'deleted', added: 0, removed: 1 },
    { path: 'd', status: 'added', added: 1, removed: 0 },
    { path: 'link', status: 'added', added: 1, removed: 0 },
  ]);
  const second = JSON.parse((await scene.ralph(['diff', 't', '2', '--json'])).stdout);
  expect(second).toContainEqual({ path: 'link', status: 'type-changed', added: 1, removed: 1 });
});

test('without what was taken back', async () => {
  const { scene } = await past();
  await scene.ralph(['undo', 't', '2', '--yes']);
  const { stdout } = await scene.ralph(['diff', 't', '--json']);
  const names = JSON.parse(stdout).map(({ path }: { path: string }) => path);
  expect(names).toEqual(['a', '"b\\nin"', 'link']);
});

test('an unknown iteration is a sentence that names what there is', async () => {
  const { scene } = await past();
  const { exitCode, stderr } = await scene.ralph(['diff', 't', '4']);
  expect(stderr).toMatch(/^ralph: Task t has no snapshots from before and after iteration 4; /);
  expect(stderr).toMatch(/there are 1 to 3\.\n$/);
  expect(exitCode).toBe(1);
});

test.for(['0', '3..2', 'a..b', '1..2..3'])('%s is a usage error', async (range) => {
  const { scene } = await past();
  const { exitCode, stderr } = await scene.ralph(['diff', 't', range]);
  expect(stderr).toMatch(/^ralph: .*ralph diff expects .*; found '/);
  expect(exitCode).toBe(2);
});

test.runIf(HAS_PSEUDO_TERMINALS)(
  'only to a terminal it uses the colours and the pager of the user',
  async () => {
    const { scene } = await past();
    const pager = "sed 's/^/paged: /'";
    writeFileSync(join(scene.home, '.gitconfig'), `[core]\n\tpager = ${pager}\n`);
    const { stdout } = await scene.ralph(['diff', 't', '3']);
    expect(stdout).not.toContain('paged');
    expect(stdout).not.toContain('\u001b');
    const shown = onTerminal(scene, 'ralph diff t 3');
    expect(await shown.ended).toBe(0);
    expect(shown.written()).toContain('paged: \u001b[32m+');
  },
);

test('ralph snapshots lists them with what each one is', async () => {
  const { scene } = await past();
  await scene.ralph(['undo', 't', '2', '--yes']);
  const { stdout, exitCode } = await scene.ralph(['snapshots', 't']);
  expect(exitCode).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.replace(/\d{4}-\S+Z/, 'TIME').replace(/ +/g, ' '))).toEqual([
    '0 TIME 0 files before iteration 1',
    '1 TIME 3 files iteration 1: answered',
    '2 TIME 4 files iteration 2: answered',
    '3 TIME 1 file iteration 3: answered',
    'undo.1 TIME 4 files before the undo of iteration 2',
  ]);
  const json = JSON.parse((await scene.ralph(['snapshots', 't', '--json'])).stdout);
  expect(json.at(-1)).toEqual({
    ...{ name: 'undo.1', iteration: null, files: 4, what: 'before the undo of iteration 2' },
    ...{ at: expect.stringMatching(/Z$/), commit: expect.stringMatching(/^[0-9a-f]{40}$/) },
  });
  expect(json[1]).toMatchObject({ name: '1', iteration: 1, files: 3 });
});
