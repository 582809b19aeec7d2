import { cpSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater } from '../helpers/living-in.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';
import { untilThere } from '../helpers/vault.ts';

// `ralph resume` where the folder has come to another place: what was noted of its files goes with it, or
// the task does not go on.

const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const MORE = ['--max-iterations', '+1', '--delay', '0'];
const WATCH = ['--watch-glob', 'README'];

/** Runs one iteration in `repo`, where a README and a test stand. */
async function begun(turns: readonly Turn[], args: readonly string[]): Promise<Scene> {
  const scene = await makeScene([WORKING, ...turns]);
  await scene.write('repo/README', 'as it was\n');
  await scene.write('repo/test/a.ts', 'expect(1)\n');
  expect(await scene.run(['--cwd', 'repo', '-n', '1', ...args])).toMatchObject({ exitCode: 3 });
  return scene;
}

const resumed = (scene: Scene, cwd: string, args: readonly string[] = []) =>
  scene.ralph(['resume', 't', '--cwd', join(scene.folder, cwd), ...args, ...MORE]);

describe('a folder that was moved', () => {
  test('a moved folder is watched as before, and untouched files complete nothing', async () => {
    const scene = await begun([WORKING, { ...WORKING, shell: 'echo new > README' }], WATCH);
    renameSync(join(scene.folder, 'repo'), join(scene.folder, 'moved'));
    expect(await resumed(scene, 'moved')).toMatchObject({ exitCode: 3 });
    expect(await resumed(scene, 'moved')).toMatchObject({ exitCode: 0 });
    expect(scene.state().evidence).toMatchObject({ kind: 'watch-glob', detail: 'README' });
  });

  test('a moved folder is protected as before', async () => {
    const scene = await begun([{ ...DONE, shell: 'echo x > test/a.ts' }], ['--protect', 'test']);
    renameSync(join(scene.folder, 'repo'), join(scene.folder, 'moved'));
    expect(await resumed(scene, 'moved')).toMatchObject({ exitCode: 3 });
    expect(scene.journal().filter(({ event }) => event === 'claim_held')).toMatchObject([
      { gate: 'protect', detail: 'protected files have changed: test/a.ts' },
    ]);
  });

  test('a folder that was moved with its vault goes on after one --trust', async () => {
    const scene = await makeScene([WORKING, WORKING]);
    await scene.write('README', 'as it was\n');
    expect(await scene.run(['-n', '1', ...WATCH])).toMatchObject({ exitCode: 3 });
    const place = join(dirname(scene.folder), 'elsewhere');
    cpSync(scene.folder, place, { recursive: true });
    const words = ['resume', 't', '--cwd', place, '--vault', place, ...MORE];
    expect(await scene.ralph(words)).toMatchObject({ exitCode: 1 });
    expect(await scene.ralph([...words, '--trust'])).toMatchObject({ exitCode: 3 });
  });

  test('a moved folder is found by a path from where ralph is started now', async () => {
    const scene = await begun([WORKING], WATCH);
    renameSync(join(scene.folder, 'repo'), join(scene.folder, 'moved'));
    const end = await scene.ralph(['resume', 't', '--cwd', '.', '--vault', '..', ...MORE], {
      cwd: join(scene.folder, 'moved'),
    });
    expect(end).toMatchObject({ exitCode: 3 });
  });

  test('another name for the same folder is no move', async () => {
    const scene = await begun([WORKING], WATCH);
    symlinkSync('repo', join(scene.folder, 'link'));
    await scene.write('repo/README', 'changed meanwhile\n');
    expect(await resumed(scene, 'link')).toMatchObject({ exitCode: 0 });
  });
});

describe('a folder that is another one', () => {
  test.for<[string, readonly string[], string]>([
    ['another README stands there', WATCH, 'README'],
    ['another file matches', ['--watch-glob', 'READ*'], 'READ-2'],
    ['another test stands there', ['--protect', 'test/**'], 'test/a.ts'],
  ])('%s: refused, and nothing is started', async ([, args, name]) => {
    const scene = await begun([WORKING], args);
    cpSync(join(scene.folder, 'repo'), join(scene.folder, 'other'), { recursive: true });
    await scene.write(`other/${name}`, 'another one\n');
    const { exitCode, stderr } = await resumed(scene, 'other');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${join(scene.folder, 'other', name)} is not as it was noted in`);
    expect(stderr).toContain('a run of --task-id t');
    expect(scene.fake.calls()).toHaveLength(1);
    // Where it began it goes on.
    expect(await resumed(scene, 'repo')).toMatchObject({ exitCode: 3 });
  });

  test('nothing that was noted stands there: refused', async () => {
    const scene = await begun([WORKING], ['--protect', 'test/**']);
    mkdirSync(join(scene.folder, 'empty'));
    expect(await resumed(scene, 'empty')).toMatchObject({ exitCode: 1 });
  });

  test('what was seen before a check that was cut off is looked for again', async () => {
    const scene = await makeScene([{ ...WORKING, shell: ': > ok' }]);
    endAllInLater(scene.home);
    await scene.write('repo/README', '');
    await scene.write('other/go', '');
    const verify = 'test -f go || { : > checking; sleep 600; }';
    const run = await scene.start([
      ...['run', '--prompt', 'x', '--task-id', 't', '--cwd', 'repo', '-n', '1'],
      ...['--until', 'test -f ok', '--verify', verify],
    ]);
    await untilThere(scene, 'repo/checking');
    process.kill(run.pid, 'SIGKILL');
    await run.ended;
    const words = ['resume', 't', '--cwd', join(scene.folder, 'other'), '--delay', '0'];
    expect(await scene.ralph(words)).toMatchObject({ exitCode: 3 });
  });

  test('a pattern that reaches out of it: refused', async () => {
    const scene = await begun([WORKING], ['--watch-glob', '../out/*.md']);
    cpSync(join(scene.folder, 'repo'), join(scene.folder, 'a/repo'), { recursive: true });
    const { exitCode, stderr } = await resumed(scene, 'a/repo');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('../out/*.md reaches out of the folder');
  });

  test('the watched file stands in its done folder already: refused', async () => {
    const scene = await begun([WORKING], ['--watch-file', 'x.md', '--done-folder', 'repo/out']);
    await scene.write('other/x.md', 'of somebody else\n');
    const words = ['--watch-file', 'x.md', '--done-folder', 'other'];
    const { exitCode, stderr } = await resumed(scene, 'repo', words);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${join(scene.folder, 'other/x.md')} is not as`);
    expect(scene.state().done_folder).toBe('repo/out');
  });
});

describe('patterns that are given anew', () => {
  test('watch from now on, and what stands there completes nothing', async () => {
    const scene = await begun([WORKING, { ...WORKING, shell: 'echo x > test/a.ts' }], WATCH);
    const words = ['--watch-glob', 'test/*.ts'];
    expect(await resumed(scene, 'repo', words)).toMatchObject({ exitCode: 3 });
    expect(await resumed(scene, 'repo')).toMatchObject({ exitCode: 0 });
  });

  test('a task goes on several times with patterns that no longer leave the folder', async () => {
    const scene = await makeScene([WORKING, WORKING, WORKING]);
    await scene.write('out/old.md', 'as it was\n');
    await scene.write('repo/in/a.md', 'as it was\n');
    const out = ['--cwd', 'repo', '-n', '1', '--watch-glob', '../out/*.md'];
    expect(await scene.run(out)).toMatchObject({ exitCode: 3 });
    const words = ['--watch-glob', 'in/*.md'];
    expect(await resumed(scene, 'repo', words)).toMatchObject({ exitCode: 3 });
    expect(await resumed(scene, 'repo')).toMatchObject({ exitCode: 3 });
  });

  test('protect from now on', async () => {
    const scene = await begun([{ ...DONE, shell: 'echo x > README' }], ['--protect', 'test']);
    const words = ['--protect', 'test', '--protect', 'README'];
    expect(await resumed(scene, 'repo', words)).toMatchObject({ exitCode: 3 });
    expect(scene.journal().filter(({ event }) => event === 'claim_held')).toMatchObject([
      { detail: 'protected files have changed: README' },
    ]);
  });

  test.for(['test', 'test/**'])('protect what was deleted meanwhile: %s', async (pattern) => {
    const scene = await makeScene([{ ...WORKING, shell: 'rm test/a.ts' }, DONE]);
    await scene.write('repo/README', 'as it was\n');
    await scene.write('repo/test/a.ts', 'expect(1)\n');
    const protect = ['--protect', 'test/**', '--protect', 'README'];
    expect(await scene.run(['--cwd', 'repo', '-n', '1', ...protect])).toMatchObject({
      exitCode: 3,
    });
    const words = ['--protect', pattern];
    expect(await resumed(scene, 'repo', words)).toMatchObject({ exitCode: 3 });
    expect(scene.journal().filter(({ event }) => event === 'claim_held')).toMatchObject([
      { detail: 'protected files have changed: test/a.ts' },
    ]);
  });
});
