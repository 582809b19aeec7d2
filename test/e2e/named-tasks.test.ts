import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeScene, type Scene } from '../helpers/scene.ts';

const WORKING = Array.from({ length: 4 }, () => ({ text: 'Still at it.' }));

/** Runs one iteration of each task, one after the other, so that none is completed. */
async function withTasks(...ids: readonly string[]): Promise<Scene> {
  const scene = await makeScene(WORKING);
  for (const id of ids) {
    const prompt = ['-p', `What ${id} is about.`];
    await scene.ralph(['run', '--task-id', id, ...prompt, '-n', '1', '--delay', '0']);
  }
  return scene;
}

describe('a task is named', () => {
  test('by its whole id, by the beginning of its id, or as the last one', async () => {
    const scene = await withTasks('nightly', 'nightly-2', 'docs-1a2b');
    const shown = async (...words: string[]): Promise<string> =>
      (await scene.ralph(words)).stdout.replaceAll(/\s+/g, ' ');
    expect(await shown('status', 'nightly')).toContain('What nightly is about.');
    expect(await shown('status', 'doc')).toContain('What docs-1a2b is about.');
    expect(await shown('status', 'last')).toContain('What docs-1a2b is about.');
    const several = await scene.ralph(['status', 'night']);
    expect(several.exitCode).toBe(2);
    expect(several.stderr).toContain("'night' is the beginning of several ids; name one of them:");
    expect(several.stderr).toMatch(/^\S+ nightly-2 {2}\w+ {2}What nightly-2 is about\.$/m);
    const none = await scene.ralph(['logs', 'do']);
    expect(none.stderr).toContain("there is no task 'do'");
  });

  test('and one whose state is a link is not there, nor meant', async () => {
    const scene = await withTasks('t');
    const states = join(scene.folder, '.ralph_state');
    symlinkSync(join(states, 't.json'), join(states, 'linked.json'));
    for (const command of ['status', 'diff', 'stop']) {
      const { exitCode, stderr } = await scene.ralph([command, 'linked']);
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/there is no task 'linked' in \S+; check the id/),
      });
    }
  });

  test('without an id, as the newest by a command that only looks', async () => {
    const scene = await withTasks('one', 'two');
    const { stdout, stderr } = await scene.ralph(['logs']);
    expect(stdout).toContain('Still at it.');
    expect(stderr).toContain('the newest task: two');
    const empty = await makeScene();
    const none = await empty.ralph(['snapshots']);
    expect(none.stderr).toContain('there is no task in ');
  });

  test('by its whole id, or as the last one, by a script that changes something', async () => {
    const scene = await withTasks('nightly-2');
    const part = await scene.ralph(['tell', 'nightly', 'Mind the gap.']);
    expect(part.stderr).toContain("there is no task 'nightly'");
    expect(part.stderr).toContain('did you mean nightly-2?');
    const last = await scene.ralph(['tell', 'last', 'Mind the gap.']);
    expect(last).toMatchObject({ exitCode: 0 });
    expect(last.stderr).toContain('nightly-2 is');
  });
});

describe('without --vault', () => {
  test('a subfolder of a git work tree finds the tasks of the folders above it', async () => {
    const scene = await withTasks('t');
    const src = join(scene.folder, 'src');
    mkdirSync(src);
    mkdirSync(join(scene.folder, '.git'));
    const inside = await scene.ralph(['status'], { cwd: src });
    expect(inside.stdout).toContain('t ');
    expect((await scene.ralph(['tell', 't', 'x'], { cwd: src })).exitCode).toBe(0);
    await scene.ralph(['run', '--task-id', 'u', '-p', 'x', '-n', '1'], { cwd: src });
    expect(scene.state('u')).toMatchObject({ task_id: 'u' });
  });

  test('outside of git only the folder itself counts, and the one above is named', async () => {
    const scene = await withTasks('t');
    const src = join(scene.folder, 'src');
    mkdirSync(src);
    const { stdout, stderr } = await scene.ralph(['status'], { cwd: src });
    expect(stdout).toBe('');
    expect(stderr).toContain(`but some in ${scene.folder}: ralph status --vault ${scene.folder}`);
    await scene.ralph(['run', '--task-id', 'u', '-p', 'x', '-n', '1'], { cwd: src });
    expect(scene.has('src/.ralph_state/u.json')).toBe(true);
  });
});
