import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { untilDead } from '../helpers/processes.ts';
import { makeScene } from '../helpers/scene.ts';

// What ralph writes by itself must neither complete a task nor keep a judge from being watched.

const WORKING = { text: 'Still working.' };
const DONE = { text: 'All good.\n\nTASK_COMPLETE' };
const OFF = ['--no-progress-limit', '0'];

describe("ralph's own files are no sign of completion", () => {
  test('its state, wherever it lies', async () => {
    const scene = await makeScene([WORKING, WORKING]);
    const state = ['--state-dir', 'state', '--watch-glob', '**/*.md', '-n', '2'];
    expect((await scene.run([...state, ...OFF])).exitCode).toBe(3);
  });

  test('the note of another loop in the same vault', async () => {
    const note = 'mkdir -p Needs_Action; echo x > Needs_Action/RALPH_EXHAUSTED_other_1.md';
    const scene = await makeScene([{ ...WORKING, shell: note }, WORKING]);
    const { exitCode } = await scene.run(['--watch-glob', '**/*.md', '-n', '2', ...OFF]);
    expect(exitCode).toBe(3);
  });

  test('a file of the agent beside them is one', async () => {
    const work = 'mkdir -p Needs_Action; echo x > Needs_Action/report.md';
    const scene = await makeScene([{ ...WORKING, shell: work }]);
    expect((await scene.run(['--watch-glob', '**/*.md', '-n', '1'])).exitCode).toBe(0);
  });
});

describe('--protect', () => {
  test.for([
    ['a folder', 'tests'],
    ['a hidden folder', '**/*.js'],
  ] as const)('watches over %s', async ([, glob]) => {
    const scene = await makeScene({ ...DONE, shell: 'echo "" > tests/.ci/judge.js' });
    await scene.write('tests/.ci/judge.js', 'assert(false)');
    const { exitCode, stderr } = await scene.run(['--protect', glob, '-n', '1']);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('protected files have changed: tests/.ci/judge.js');
  });

  test('that matches nothing is said at the start', async () => {
    const scene = await makeScene(DONE);
    await scene.write('tests/judge.js', 'assert(false)');
    const { stderr } = await scene.run(['--protect', 'tset/*.js', '--protect', 'tests']);
    expect(stderr).toMatch(/--protect 'tset\/\*\.js' matches no file/);
    expect(stderr).not.toContain("'tests' matches no file");
  });
});

test('--on-end is ended as well when ralph is killed', async () => {
  const scene = await makeScene(DONE);
  const hold = 'echo "ready pid=$$" > started; exec sleep 600';
  const ralph = await scene.start(['run', '-p', 'x', '--delay', '0', '--on-end', hold]);
  await scene.fake.untilCalls(1);
  let pid = 0;
  await expect
    .poll(() => {
      pid = Number(/pid=(\d+)/.exec(scene.has('started') ? scene.read('started') : '')?.[1] ?? 0);
      return pid;
    })
    .toBeGreaterThan(0);
  process.kill(ralph.pid, 'SIGKILL');
  await ralph.ended;
  await untilDead(pid);
});

test('nothing is written through a link that leads out of the vault', async () => {
  const scene = await makeScene([WORKING]);
  const outside = path.join(scene.folder, '..', 'outside');
  mkdirSync(outside);
  symlinkSync(outside, path.join(scene.folder, '.ralph_state'));
  const refused = await scene.run(['-n', '1']);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/\.ralph_state is a link that leads out of the vault/);

  symlinkSync(outside, path.join(scene.folder, 'Needs_Action'));
  const { exitCode, stderr } = await scene.run(['-n', '1', '--state-dir', 'kept']);
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(/note for a human could not be written: .*leads out of the vault/);
  expect(readdirSync(outside)).toEqual([]);
});

// Node's own recursive mkdir never comes back from there.
test.runIf(existsSync('/proc/self'))(
  'a vault that cannot be made is said, and nothing spins',
  async () => {
    const scene = await makeScene([WORKING]);
    const { exitCode, stderr } = await scene.run(['-n', '1', '--vault', '/proc/nope/vault']);
    expect(exitCode).toBe(3);
    expect(stderr.match(/The state cannot be kept/g)).toHaveLength(1);
    expect(stderr).toMatch(/note for a human could not be written/);
  },
);

test('a hint for a task that is completed is refused', async () => {
  const scene = await makeScene(DONE);
  await scene.run();
  const { exitCode, stderr } = await scene.ralph(['tell', 't', 'Use tabs.']);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/task 't' is completed/);
  expect(scene.has('.ralph_state/t')).toBe(false);
});

test('the command in a note has the prompt, also where no flag gave it', async () => {
  const scene = await makeScene(Array.from({ length: 20 }, () => WORKING));
  const env = { RALPH_PROMPT: 'from it\'s "environment"' };
  await scene.ralph(['run', '-n', '1', '--task-id=t'], { env });
  const [note] = scene.notes();
  const again = spawnSync('sh', ['-c', note?.command ?? 'exit 9'], {
    env: scene.env,
    timeout: PATIENCE_MS,
  });
  expect(again.status).toBe(3);
  expect(scene.prompt(2).startsWith(`${env.RALPH_PROMPT}\n`)).toBe(true);
});

test('started in a folder that is gone, it says so', async () => {
  const scene = await makeScene();
  const gone = path.join(scene.folder, 'gone');
  mkdirSync(gone);
  const script = `rmdir ${JSON.stringify(gone)}; exec ralph run -p x`;
  const { status, stderr } = spawnSync('sh', ['-c', script], {
    cwd: gone,
    env: scene.env,
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(/^ralph: .*no longer exists; change to another folder\.\n$/),
  });
  expect(() => rmdirSync(gone)).toThrow();
});

test('the same words for done and for given up are a mistake', async () => {
  const scene = await makeScene();
  const { exitCode, stderr } = await scene.run(['--promise', 'A', '--abort-promise', 'A']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('--abort-promise and --promise are the same words');
});
