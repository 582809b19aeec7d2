import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater, untilNobodyIn } from '../helpers/living-in.ts';
import { LIMIT } from '../helpers/patience.ts';
import { GIT_ENV } from '../helpers/repository.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// Every iteration leaves a snapshot of the work tree, and nothing else in the repository.

const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };

function does(shell: string, turn: Turn = { text: 'Not yet.' }): Turn {
  return { ...turn, shell };
}

async function repository(turns: readonly Turn[]): Promise<Scene> {
  const scene = await makeScene(turns);
  await scene.write('tracked', 'one\n');
  await scene.write('.gitignore', '.ralph_state\n');
  scene.makeRepository();
  return scene;
}

function gitIn({ folder }: Scene) {
  return (...args: string[]): string =>
    execFileSync('git', args, { cwd: folder, env: GIT_ENV, encoding: 'utf8' }).trim();
}

/** The names of the snapshots with their subjects, in the order in which they were taken. */
function snapshots(scene: Scene): readonly string[] {
  const format =
    '--format=%(contents:trailers:key=Ralph-Order,valueonly) %(refname:lstrip=3) %(subject)';
  return gitIn(scene)('for-each-ref', format, 'refs/ralph/')
    .replace(/\n (?=\S)/g, ' ')
    .split('\n')
    .filter((line) => line !== '')
    .sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
    .map((line) => line.replace(/^\d+ /, ''));
}

describe('snapshots of a run', () => {
  test('are taken before the first iteration and after each that changed something', async () => {
    const scene = await repository([does('echo 1 > new'), does('true'), does('rm tracked', DONE)]);
    const git = gitIn(scene);
    await scene.write('mine', 'not committed\n');
    const index = readFileSync(join(scene.folder, '.git', 'index'));
    expect(await scene.run()).toMatchObject({ exitCode: 0 });
    expect(snapshots(scene)).toEqual([
      '0 before iteration 1',
      '1 iteration 1: answered',
      '3 iteration 3: answered',
    ]);
    expect(git('show', `${scene.snapshot('0')}:mine`)).toBe('not committed');
    expect(git('ls-tree', '--name-only', scene.snapshot('3'))).toBe('.gitignore\nmine\nnew');
    expect(git('status', '--porcelain')).toBe('D tracked\n?? mine\n?? new');
    expect(git('stash', 'list')).toBe('');
    expect(readFileSync(join(scene.folder, '.git', 'index'))).toEqual(index);
    expect(scene.state()).toMatchObject({
      git: { snapshots: expect.stringMatching(/^refs\/ralph\/t@[0-9a-f]{8}$/), work_tree: null },
    });
  });

  test('contain the agent’s work before the checks and `--after` touch it', async () => {
    const scene = await repository([does('echo agent > file', DONE), does('true', DONE)]);
    const checks = ['--verify', 'echo verify > file; test -e again || ! touch again'];
    await scene.run([...checks, '--after', 'echo after > file']);
    const git = gitIn(scene);
    expect(git('show', `${scene.snapshot('1')}:file`)).toBe('agent');
    expect(snapshots(scene)).toEqual([
      '0 before iteration 1',
      '1 iteration 1: answered',
      '2.0 before iteration 2',
      '2 iteration 2: after its checks',
    ]);
    expect(git('show', `${scene.snapshot('2.0')}:file`)).toBe('after');
    expect(git('show', `${scene.snapshot('2')}:file`)).toBe('verify');
  });

  test('keep what an attempt left that was cut off with ralph', async () => {
    const scene = await repository([
      does('echo half > file', { hangs: true }),
      does('echo whole > file', DONE),
    ]);
    endAllInLater(scene.home);
    const ralph = await scene.start(['run', '--prompt', 'x', '--task-id', 't', '--delay', '0']);
    await scene.fake.untilCalls(1);
    await expect.poll(() => scene.has('file')).toBe(true);
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 0 });
    expect(snapshots(scene)).toEqual([
      '0 before iteration 1',
      '1.1 iteration 1: interrupted',
      '1 iteration 1: answered',
    ]);
    expect(gitIn(scene)('show', `${scene.snapshot('1.1')}:file`)).toBe('half');
    await untilNobodyIn(scene.home);
  });

  test('keep what an attempt left that was timed out or tried again', async () => {
    const scene = await repository([
      does('echo late > file', { hangs: true }),
      does('echo overloaded > file', {
        text: 'API Error: 529 overloaded',
        exitCode: 1,
        isError: true,
      }),
      does('echo done > file', DONE),
    ]);
    await scene.run(['--iteration-timeout', LIMIT]);
    expect(snapshots(scene)).toEqual([
      '0 before iteration 1',
      '1 iteration 1: timed-out',
      '2.1 iteration 2: transient',
      '2 iteration 2: answered',
    ]);
    expect(gitIn(scene)('show', `${scene.snapshot('1')}:file`)).toBe('late');
  });

  test('go on under other refs in a further run with the same id', async () => {
    const scene = await repository([does('echo 1 >> file', DONE), does('echo 2 >> file', DONE)]);
    await scene.run();
    const first = ['0', '1'].map(scene.snapshot);
    await scene.run();
    const all = [...first, ...['0', '1'].map(scene.snapshot)];
    const found = gitIn(scene)('for-each-ref', '--format=%(refname)', 'refs/ralph/').split('\n');
    expect(found).toEqual(all.sort());
    expect(new Set(all).size).toBe(4);
  });

  test('are not taken with --no-snapshots', async () => {
    const scene = await repository([does('echo 1 > file', DONE)]);
    await scene.run(['--no-snapshots']);
    expect(snapshots(scene)).toEqual([]);
    expect(scene.state()).toMatchObject({ git: { snapshots: null } });
  });

  test('that cannot be taken are told once, and the task goes on', async () => {
    const scene = await repository([does('rm -rf .git/objects'), does('true'), DONE]);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(0);
    expect(stderr.match(/No snapshot of the work tree could be made/g)).toHaveLength(1);
  });
});
