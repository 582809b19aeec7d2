import { cpSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitIn } from '../helpers/repository.ts';
import { makeScene } from '../helpers/scene.ts';

const OLD = { schema_version: 1, finished_at: '2020-01-01T00:00:00.000Z' };

test('ralph prune clears the history of what ended long ago', async () => {
  const scene = await makeScene({ text: 'TASK_COMPLETE' });
  await scene.run();
  await scene.write('.ralph_state/history/old.json', JSON.stringify(OLD));
  await scene.write('.ralph_state/history/old/iteration-0001.stdout.log', 'x'.repeat(3_000));
  await scene.write('.ralph_state/open.json', JSON.stringify(OLD));
  const corrupt = await scene.write('.ralph_state/a.json.corrupt-20200101', 'x');
  utimesSync(corrupt, 1_000, 1_000);

  const dry = await scene.ralph(['prune', '--dry-run']);
  expect(dry).toMatchObject({ exitCode: 0, stderr: '' });
  expect(dry.stdout).toMatch(/^would remove 1 task and 1 corrupt file, [\d.]+ KB$/m);
  expect(dry.stdout).toMatch(/^old {2}/m);
  expect(scene.has('.ralph_state/history/old.json')).toBe(true);

  const { stdout, stderr, exitCode } = await scene.ralph(['prune', '--older-than', '1h']);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toMatch(/^removed 1 task and 1 corrupt file, [\d.]+ KB\n$/);
  expect(scene.names('.ralph_state/history')).toEqual(['t', 't.json']);
  expect(scene.has('.ralph_state/open.json')).toBe(true);
  expect(scene.has(join('.ralph_state', 'a.json.corrupt-20200101'))).toBe(false);

  const again = await scene.ralph(['prune']);
  expect(again.stdout).toBe('nothing in the history is older than 30d\n');
  expect((await scene.ralph(['prune', '--older-than', '0'])).stdout).toMatch(/^removed 1 task, /);
});

test('a bad duration is a usage error that names the flag', async () => {
  const scene = await makeScene();
  const { stdout, stderr, exitCode } = await scene.ralph(['prune', '--older-than', 'soon']);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toMatch(/^ralph: --older-than expects .* found 'soon'\.\n$/);
});

test('--keep-refs without a fleet is a usage error', async () => {
  const scene = await makeScene();
  const { stdout, stderr, exitCode } = await scene.ralph(['prune', '--keep-refs']);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toMatch(/^ralph: --keep-refs expects a fleet .* found a vault/);
});

describe('ralph prune and the snapshots of a task', () => {
  /** A finished task `t` with snapshots, and refs of another one. */
  async function stage() {
    const scene = await makeScene({ text: 'TASK_COMPLETE', shell: 'echo x > made' });
    scene.makeRepository();
    await scene.run();
    const git = gitIn(scene.folder);
    git('update-ref', 'refs/ralph/t@other/0', 'HEAD');
    const refs = () => git('for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n');
    expect(refs()).toEqual(['0', '1'].map(scene.snapshot).concat('refs/ralph/t@other/0'));
    return { ...scene, git, refs };
  }

  test('they go with it, and no others', async () => {
    const { ralph, refs } = await stage();
    expect(await ralph(['prune', '--older-than', '0', '--dry-run'])).toMatchObject({ exitCode: 0 });
    expect(refs()).toHaveLength(3);
    expect(await ralph(['prune', '--older-than', '0'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(refs()).toEqual(['refs/ralph/t@other/0']);
  });

  test('they stay where somebody else wrote the state', async () => {
    const { ralph, refs, folder } = await stage();
    const file = join(folder, '.ralph_state/history/t.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/t@\w+"/, 't@other"'));
    expect(await ralph(['prune', '--older-than', '0'])).toMatchObject({ exitCode: 0 });
    expect(refs()).toHaveLength(3);
  });

  test('they stay with their task where a copy of its state goes', async () => {
    const { ralph, refs, folder } = await stage();
    const state = join(folder, '.ralph_state');
    const [file, logs] = [join(state, 'history/t.json'), join(state, 'history/t')];
    cpSync(file, join(state, 't.json'));
    cpSync(logs, join(state, 't'), { recursive: true });
    const { stdout } = await ralph(['prune', '--older-than', '0']);
    expect(stdout).toMatch(/^removed 1 task, /);
    expect(refs()).toHaveLength(3);
  });

  test('a task whose snapshots cannot be removed stays', async () => {
    const { ralph, refs, folder, has } = await stage();
    const lock = join(folder, '.git/packed-refs.lock');
    writeFileSync(lock, '');
    const { exitCode, stderr } = await ralph(['prune', '--older-than', '0']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('cannot remove its snapshots');
    expect([refs().length, has('.ralph_state/history/t.json')]).toEqual([3, true]);
    rmSync(lock);
    expect(await ralph(['prune', '--older-than', '0'])).toMatchObject({ exitCode: 0 });
    expect(refs()).toHaveLength(1);
  });
});
