import { describe, expect, test } from 'vitest';
import { makeScene } from './scene.ts';
import { carryOut, needsOwnProcess } from './shared-process.ts';

const DONE = { text: 'Done.\n\nTASK_COMPLETE' };

describe('a line of a process that lines share', () => {
  test.for<[name: string, args: readonly string[]]>([
    ['prints a result', ['run', '--prompt', 'Fix it', '--delay', '0', '--quiet']],
    ['has failed', ['run', '--prompt', 'x', '--task-id', 't', '--verify', 'false', '-n', '1']],
    ['is wrong', ['run', '--prompt']],
    ['is about nothing', ['status']],
    ['is long to read', ['run', '--help']],
    ['is printed past the streams', ['--version']],
  ])('ends as in a process of its own: %s', async ([, args]) => {
    const [scene, other] = [await makeScene(DONE), await makeScene(DONE)];
    const end = await carryOut({ args, cwd: scene.folder, env: scene.env });
    const { ended } = await other.start(args);
    const { durationMs, ...expected } = await ended;
    const plain = (text: string, folder: string): string =>
      text.replaceAll(folder, 'FOLDER').replace(/\d+(?:\.\d+)?m?s|\d{8}[-T]\w+/g, 'N');
    expect({ ...end, stderr: plain(end.stderr, scene.folder) }).toEqual({
      ...expected,
      stderr: plain(expected.stderr, other.folder),
    });
  });

  test('sees nothing of the lines before it', async () => {
    const scene = await makeScene(DONE);
    const line = { args: ['status', '--json'], cwd: scene.folder, env: scene.env };
    const flags = ['--task-id', 'other', '--vault', 'V', '--prompt', 'Fix it'];
    const more = { ...scene.env, RALPH_QUIET: '1', RALPH_MAX_ITERATIONS: 'many' };
    const refused = await carryOut({ ...line, args: ['run', ...flags], env: more });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    const ran = await carryOut({ ...line, args: ['run', ...flags] });
    expect(ran).toMatchObject({ exitCode: 0, signal: null, stdout: `${DONE.text}\n` });
    expect(await carryOut(line)).toEqual({ exitCode: 0, signal: null, stdout: '[]\n', stderr: '' });
  });

  test('waits for no other line', async () => {
    const scene = await makeScene({ hangs: true });
    const run = ['run', '--prompt', 'Fix it', '--task-id', 't'];
    const hanging = carryOut({ args: run, cwd: scene.folder, env: scene.env });
    await scene.fake.untilCalls(1);
    const stop = { args: ['stop', 't'], cwd: scene.folder, env: scene.env };
    expect(await carryOut(stop)).toMatchObject({ exitCode: 0 });
    expect(await hanging).toMatchObject({ exitCode: 143, signal: null });
  });

  test('whose process is killed has ended by that signal', async () => {
    const scene = await makeScene({ shell: 'kill -KILL $(ps -o ppid= -p $PPID)' });
    const args = ['run', '--prompt', 'Fix it'];
    const end = await carryOut({ args, cwd: scene.folder, env: scene.env });
    expect(end).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    const next = { args: ['run', '--help'], cwd: scene.folder, env: scene.env };
    expect(await carryOut(next)).toMatchObject({ exitCode: 0 });
  });

  test('is ended where it takes too long', async () => {
    const scene = await makeScene(DONE);
    const line = { args: ['watch'], cwd: scene.folder, env: scene.env };
    await expect(carryOut(line, 1)).rejects.toThrow('`ralph watch` was not over after 1 ms.');
    const next = { ...line, args: ['run', '--help'] };
    expect(await carryOut(next)).toMatchObject({ exitCode: 0 });
  });
});

test.for<[name: string, line: { cwd?: string; env?: Record<string, string> }, own: boolean]>([
  ['what Node reads at its start', { env: { NODE_OPTIONS: '--no-warnings' } }, true],
  ['a time zone', { env: { TZ: 'UTC' } }, true],
  ['a folder that is gone', { cwd: '/nowhere' }, true],
  ['nothing of that', {}, false],
])('needs a process of its own for %s', ([, { cwd = '/', env = {} }, own]) => {
  expect(needsOwnProcess({ args: ['status'], cwd, env })).toBe(own);
});
