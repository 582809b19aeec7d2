import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TaskState } from '../../src/core/task/task-state.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { keepTask } from '../helpers/kept-task.ts';
import { endAllInLater, untilNobodyIn } from '../helpers/living-in.ts';
import { until, untilDead } from '../helpers/processes.ts';
import { type Files, gitIn, put } from '../helpers/repository.ts';
import { makeScene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };

/** A vault that is a repository, and a way to give tasks a work tree of their own. */
async function makeVault(turns: Turn | readonly Turn[] = [], files: Files = { 'a.txt': 'a\n' }) {
  const scene = await makeScene(turns);
  endAllInLater(scene.home);
  put(scene.folder, files);
  await scene.write('.gitignore', 'ignored\n.ralph_state\n');
  scene.makeRepository();
  const git = gitIn(scene.folder);
  git('branch', '-M', 'main');
  const trees = await tempFolder();
  const addTask = (
    taskId: string,
    changes: Files,
    settings: Readonly<Record<string, unknown>> = {},
    state: Partial<TaskState> = {},
  ) => {
    const path = join(trees, taskId);
    git('worktree', 'add', '-q', '-b', `ralph/${taskId}`, path, 'main');
    put(path, changes);
    const tree = {
      ...{ path, branch: `ralph/${taskId}`, base: git('rev-parse', 'main'), onto: 'main' },
      origin: scene.folder,
    };
    const startDir = scene.folder;
    keepTask(join(scene.folder, '.ralph_state'), { taskId, tree, startDir, settings, state });
    return path;
  };
  return { scene, git, addTask, log: join(trees, 'log') };
}

describe('ralph land', () => {
  test('sets the merged work tree up, checks it, and moves the branch', async () => {
    const { scene, git, addTask, log } = await makeVault();
    put(scene.folder, { ignored: 'key\n' });
    addTask(
      't',
      { 'b.txt': 'b\n', '.env-ü': 'KEY=1\n' },
      {
        copy: ['ignored'],
        setup: `pwd >> ${log}; test -e b.txt && touch ready`,
        verify: `test -e ready && test -e ignored && git log -1 --format=%s >> ${log}`,
      },
    );
    const { stderr, stdout, exitCode } = await scene.ralph(['land', 't']);
    const commit = git('rev-parse', 'main').slice(0, 12);
    expect({ stderr, stdout, exitCode }).toEqual({
      stderr: `ralph: t has landed on main as ${commit} (1 file)\nralph: not landed, since the task left it uncommitted: .env-ü (looks like a secret)\n`,
      stdout: '',
      exitCode: 0,
    });
    const [place = '', subject] = readFileSync(log, 'utf8').split('\n');
    expect(subject).toBe('Do t');
    expect(existsSync(place)).toBe(false);
    expect(git('log', '-1', '--format=%an|%B', 'main')).toBe('Test|Do t\n\nRalph-Task: t');
    expect(scene.read('b.txt')).toBe('b\n');
    expect(git('status', '--porcelain')).toBe('');

    const again = await scene.ralph(['land', 't']);
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stderr).toContain(`ralph: t has landed on main already, as ${commit}\n`);
  });

  test('checks in the folder of the task, not in the root', async () => {
    const { scene, addTask, log } = await makeVault([], { 'sub/a.txt': 'a\n' });
    const settings = { cwd: 'sub', verify: `basename "$PWD" > ${log}; test -e a.txt` };
    addTask('t', { 'sub/b.txt': 'b\n' }, settings);
    expect(await scene.ralph(['land', 't'])).toMatchObject({ exitCode: 0 });
    expect(readFileSync(log, 'utf8')).toBe('sub\n');
  });

  test('red checks: nothing has changed, and the end of their output is shown', async () => {
    const { scene, git, addTask } = await makeVault();
    addTask('t', { 'a.txt': 'x\n' }, { verify: 'echo "2 tests fail"; exit 3' });
    const before = git('rev-parse', 'main');
    const { stderr, exitCode } = await scene.ralph(['land', 't']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('t has not landed, and nothing has changed: its check failed');
    expect(stderr).toContain('exited with 3.\nralph: 2 tests fail\n');
    expect(git('rev-parse', 'main')).toBe(before);
    expect(scene.read('a.txt')).toBe('a\n');
    expect(git('worktree', 'list').split('\n')).toHaveLength(2);
  });

  test('checks what --until has completed, and not what it has not', async () => {
    const { scene, addTask } = await makeVault();
    const until = 'echo still red; exit 3';
    const evidence = { kind: 'until', detail: 'exited with 0' } as const;
    addTask('t', { 'b.txt': 'x\n' }, { until }, { evidence });
    const red = await scene.ralph(['land', 't']);
    expect(red.exitCode).toBe(1);
    expect(red.stderr).toContain('exited with 3.\nralph: still red\n');
    addTask(
      'by-words',
      { 'c.txt': 'x\n' },
      { until },
      { evidence: { ...evidence, kind: 'promise' } },
    );
    expect(await scene.ralph(['land', 'by-words'])).toMatchObject({ exitCode: 0 });
  });

  test('a kill ends the check that runs, too', async () => {
    const { scene, addTask, log } = await makeVault();
    addTask(
      't',
      { 'b.txt': 'b\n' },
      { verify: `echo $$ > ${log}.new; mv ${log}.new ${log}; exec sleep 600` },
    );
    const landing = await scene.start(['land', 't']);
    await until(
      () => existsSync(log),
      () => 'the check',
    );
    process.kill(landing.pid, 'SIGKILL');
    await landing.ended;
    await untilDead(Number(readFileSync(log, 'utf8')));
  });

  test('runs all checks, and shows each that is red', async () => {
    const { scene, addTask } = await makeVault();
    const verify = { unit: 'echo one; exit 3', build: 'true', lint: 'echo two; exit 4' };
    addTask('t', { 'a.txt': 'x\n' }, { verify });
    const { stderr, exitCode } = await scene.ralph(['land', 't']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('2 of its checks failed after the merge with main');
    expect(stderr).toContain(
      'exited with 3.\nralph: one\nralph: echo two; exit 4 exited with 4.\nralph: two\n',
    );
    expect(scene.read('a.txt')).toBe('a\n');
  });

  test('a task that is not completed lands only with --yes', async () => {
    const { scene, git, addTask } = await makeVault();
    addTask('t', { 'a.txt': 'x\n' }, {}, { status: 'stopped', exit_reason: 'stopped:request' });
    const before = git('rev-parse', 'main');
    const refused = await scene.ralph(['land', 't']);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain('t is stopped. With --yes it lands');
    expect(git('rev-parse', 'main')).toBe(before);
    expect(await scene.ralph(['land', 't', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(git('show', 'main:a.txt')).toBe('x');
  });

  test('of a task with a live driver: exit 7', async () => {
    const { scene, addTask } = await makeVault({ hangs: true });
    addTask('t', { 'a.txt': 'x\n' }, {}, { status: 'stopped', exit_reason: 'stopped:request' });
    const driver = await scene.start(['resume', 't']);
    await scene.fake.untilCalls(1);
    expect(await scene.ralph(['land', 't', '--yes'])).toMatchObject({ exitCode: 7 });
    process.kill(driver.pid, 'SIGTERM');
    await driver.ended;
    await untilNobodyIn(scene.home);
  });

  test('inside the loop of the task: refused', async () => {
    const { scene, git, addTask } = await makeVault();
    addTask('t', { 'a.txt': 'x\n' });
    const before = git('rev-parse', 'main');
    const env = { RALPH_RUN_ID: 'run', RALPH_TASK_ID: 't' };
    const { stderr, exitCode } = await scene.ralph(['land', 't'], { env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('ralph land is refused inside the loop of task'),
    });
    expect(git('rev-parse', 'main')).toBe(before);
  });

  test('of a task that somebody else wrote: nothing of it runs', async () => {
    const { scene, addTask, log } = await makeVault();
    addTask('t', { 'a.txt': 'x\n' }, { verify: `touch ${log}` });
    const file = '.ralph_state/history/t.json';
    await scene.write(file, scene.read(file).replace('"onto": "main"', '"onto": "other"'));
    const { stderr, exitCode } = await scene.ralph(['land', 't']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('so nothing of it is run'),
    });
    expect(existsSync(log)).toBe(false);
  });

  test('without a name and an address of the user: one sentence, and nothing has changed', async () => {
    const { scene, git, addTask } = await makeVault();
    addTask('t', { 'a.txt': 'x\n' });
    const before = git('rev-parse', 'main');
    const env = { GIT_CONFIG_GLOBAL: '/dev/null' };
    const { stderr, exitCode } = await scene.ralph(['land', 't'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^ralph: ralph land commits in your name, and git knows none: .*\n$/);
    expect(git('rev-parse', 'main')).toBe(before);
    const named = {
      ...{ ...env, GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
      ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
    };
    expect(await scene.ralph(['land', 't'], { env: named })).toMatchObject({ exitCode: 0 });
    expect(git('log', '-1', '--format=%an', 'main')).toBe('Ada');
  });

  test('--patch writes a file for git apply, and moves nothing', async () => {
    const { scene, git, addTask } = await makeVault();
    addTask('t', { 'b.txt': 'b\n' });
    const before = git('rev-parse', 'main');
    const { stderr, exitCode } = await scene.ralph(['land', 't', '--patch', 'ignored']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      `${join(scene.folder, 'ignored')} has what t changes on main (1 file)`,
    );
    expect(git('rev-parse', 'main')).toBe(before);
    git('apply', '--index', 'ignored');
    expect(git('status', '--porcelain')).toBe('A  b.txt');
    expect(await scene.ralph(['land', 't', '--patch', 'ignored'])).toMatchObject({ exitCode: 2 });
    const nowhere = await scene.ralph(['land', 't', '--patch', 'none/p']);
    expect(nowhere).toMatchObject({ exitCode: 2 });
    expect(nowhere.stderr).toContain('--patch expects a file in an existing folder');
    const both = await scene.ralph(['land', 't', '--patch', 'p', '--merge']);
    expect(both).toMatchObject({ exitCode: 2 });
  });

  test('of a task that worked in the user’s own work tree', async () => {
    const { scene, git } = await makeVault(DONE);
    expect(await scene.run()).toMatchObject({ exitCode: 0 });
    const none = await scene.ralph(['land', 't']);
    expect(none).toMatchObject({ exitCode: 2 });
    expect(none.stderr).toContain('t worked in your own work tree and its changes are there');
    // As `--commit` leaves it where it must not commit on the branch itself.
    git('checkout', '-q', '-b', 'ralph/t');
    put(scene.folder, { 'b.txt': 'b\n' });
    git('add', 'b.txt');
    git('commit', '-qm', 'iteration 1\n\nRalph-Task: t');
    const where = await scene.ralph(['land', 't']);
    expect(where).toMatchObject({ exitCode: 2 });
    expect(where.stderr).toContain('expects --onto BRANCH');
    expect(await scene.ralph(['land', 't', '--onto', 'nowhere'])).toMatchObject({ exitCode: 2 });
    expect(await scene.ralph(['land', 't', '--onto', 'main'])).toMatchObject({ exitCode: 0 });
    expect(git('show', 'main:b.txt')).toBe('b');
  });
});

test('ralph land takes the branch of the newest task of this id', async () => {
  const shell = 'echo "$(date +%N)" > "by-$$.txt"';
  const { scene, git } = await makeVault({ ...DONE, shell });
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  for (const branch of ['ralph/t', 'ralph/t-2']) {
    expect(await scene.run(['--commit'])).toMatchObject({ exitCode: 0 });
    expect(git('branch', '--show-current')).toBe(branch);
    git('checkout', '-q', 'main');
  }
  expect(await scene.ralph(['land', 't', '--onto', 'main'])).toMatchObject({ exitCode: 0 });
  expect(git('rev-parse', 'main^{tree}')).toBe(git('rev-parse', 'ralph/t-2^{tree}'));
});

describe('--continue-task', () => {
  test('hands a conflict to a completed task, which fixes it and lands', async () => {
    const shell = `cd "$(git worktree list | sed -n 's/ .*ralph.t.$//p')" && git commit -qam work; git merge -q main; echo both > a.txt; git commit -qam merged`;
    const { scene, git, addTask } = await makeVault({ ...DONE, shell });
    addTask('t', { 'a.txt': 'by the task\n' }, { delay: 0 });
    put(scene.folder, { 'a.txt': 'by a person\n' });
    git('commit', '-qam', 'mine');
    const { stderr, exitCode } = await scene.ralph(['land', 't', '--continue-task']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('main has changed the same lines of a.txt.');
    expect(stderr).toContain('t has continued; to try again: ralph land t\n');
    expect(scene.prompt(1)).toContain('Merge main into your branch, resolve the conflict');
    expect(scene.state()).toMatchObject({ status: 'completed', current_iteration: 2 });
    expect(await scene.ralph(['land', 't'])).toMatchObject({ exitCode: 0 });
    expect(scene.read('a.txt')).toBe('both\n');
  });

  test('says so where the task could do nothing about it', async () => {
    const { scene, git, addTask } = await makeVault(DONE);
    addTask('t', { 'a.txt': 'x\n' });
    put(scene.folder, { 'a.txt': 'mine\n' });
    const before = git('rev-parse', 'main');
    const { stderr, exitCode } = await scene.ralph(['land', 't', '--continue-task']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('are in the way: a.txt. Commit or move them.');
    expect(stderr).toContain('t does not continue');
    expect(scene.fake.calls()).toEqual([]);
    expect(git('rev-parse', 'main')).toBe(before);
    expect(scene.read('a.txt')).toBe('mine\n');
  });

  test('of a task from a file: the file is taken into work again', async () => {
    const shell = `cat "$(git worktree list | sed -n '1s/ .*//p')/In_Progress/t.md" > seen`;
    const { scene, addTask } = await makeVault({ ...DONE, shell });
    const state = { task_file: 'In_Progress/t.md', done_folder: 'Done' };
    const tree = addTask('t', { 'a.txt': 'x\n' }, { delay: 0, verify: 'test -e seen' }, state);
    const gone = await scene.ralph(['land', 't', '--continue-task']);
    expect(gone.stderr).toContain('cannot be opened again: its file t.md is neither in');
    expect(gone.exitCode).toBe(1);
    await scene.write('Done/t.md', 'the task\n');
    const { exitCode, stderr } = await scene.ralph(['land', 't', '--continue-task']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(readFileSync(join(tree, 'seen'), 'utf8')).toBe('the task\n');
    expect(scene.names('Done')).toEqual(['t.md']);
  });
});

describe('a landing that is cut off', () => {
  /** A task whose check says that it runs, and then waits for a file. */
  async function makeWaiting() {
    const vault = await makeVault();
    const [checks, go] = [`${vault.log}.checks`, `${vault.log}.go`];
    const verify = `touch ${checks}; until [ -e ${go} ]; do sleep 0.02; done`;
    vault.addTask('t', { 'a.txt': 'x\n' }, { verify, iteration_timeout: 60_000 });
    const ralph = await vault.scene.start(['land', 't']);
    await until(
      () => existsSync(checks),
      () => 'the check',
    );
    const look = () => [
      vault.git('rev-parse', 'main'),
      vault.git('status', '--porcelain'),
      vault.scene.read('a.txt'),
    ];
    return { ...vault, ralph, go, before: look(), look };
  }

  test('killed: nothing has changed, and the next one cleans up and lands', async () => {
    const { scene, git, ralph, go, before, look } = await makeWaiting();
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    put(join(go, '..'), { 'log.go': '' });
    await untilNobodyIn(scene.home);
    expect(look()).toEqual(before);
    expect(git('worktree', 'list').split('\n')).toHaveLength(3);
    expect(await scene.ralph(['land', 't'])).toMatchObject({ exitCode: 0 });
    expect(git('worktree', 'list').split('\n')).toHaveLength(2);
    expect(scene.read('a.txt')).toBe('x\n');
  });

  test('by a signal: says so, and leaves nothing', async () => {
    const { scene, git, ralph, before, look } = await makeWaiting();
    process.kill(ralph.pid, 'SIGINT');
    expect(await ralph.ended).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('nothing has changed: it was stopped.'),
    });
    await untilNobodyIn(scene.home);
    expect(look()).toEqual(before);
    expect(git('worktree', 'list').split('\n')).toHaveLength(2);
  });

  test('another one waits for it', async () => {
    const { scene, git, addTask, ralph, go } = await makeWaiting();
    addTask('other', { 'b.txt': 'b\n' });
    const other = await scene.start(['land', 'other']);
    await other.untilStderr(new RegExp(`waiting for another landing .*pid ${ralph.pid}`));
    expect(git('ls-tree', '--name-only', 'main')).not.toContain('b.txt');
    put(join(go, '..'), { 'log.go': '' });
    expect(await ralph.ended).toMatchObject({ exitCode: 0 });
    expect(await other.ended).toMatchObject({ exitCode: 0 });
    expect(git('show', 'main:a.txt')).toBe('x');
    expect(git('show', 'main:b.txt')).toBe('b');
  });
});

describe('a task of ralph run --worktree', () => {
  const RUN = ['--worktree', '--verify', 'test -e b.txt'];

  test('lands with what it committed and what it left, and goes on with a conflict', async () => {
    const work = 'echo b > b.txt; git add b.txt; git commit -qm b; echo task > a.txt';
    const fix = 'git commit -qam work; git merge -q main; echo both > a.txt; git commit -qam both';
    const { scene, git } = await makeVault([
      { ...DONE, shell: work },
      { ...DONE, shell: fix },
    ]);
    expect(await scene.run(RUN)).toMatchObject({ exitCode: 0 });
    put(scene.folder, { 'a.txt': 'mine\n' });
    git('commit', '-qam', 'mine');
    const failed = await scene.ralph(['land', 't', '--continue-task']);
    expect(failed).toMatchObject({ exitCode: 1 });
    expect(failed.stderr).toContain('main has changed the same lines of a.txt.');
    expect(scene.prompt(2)).toContain('Merge main into your branch');
    expect(scene.state()).toMatchObject({ status: 'completed', metrics: { iterations: 2 } });
    const { stderr, exitCode } = await scene.ralph(['land', 't']);
    expect({ stderr, exitCode }).toMatchObject({ exitCode: 0 });
    expect([scene.read('a.txt'), scene.read('b.txt')]).toEqual(['both\n', 'b\n']);
    expect(git('status', '--porcelain')).toBe('');
  });

  test('lands after its work tree was removed, since all is committed', async () => {
    const shell = 'echo b > b.txt; git add b.txt; git commit -qm b';
    const { scene, git } = await makeVault({ ...DONE, shell });
    expect(await scene.run(RUN)).toMatchObject({ exitCode: 0 });
    expect(git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(await scene.ralph(['land', 't', '--merge'])).toMatchObject({ exitCode: 0 });
    expect(git('rev-parse', 'main^2')).toBe(git('rev-parse', 'ralph/t'));
    expect(existsSync(`${scene.folder}.ralph`)).toBe(false);
  });
});
