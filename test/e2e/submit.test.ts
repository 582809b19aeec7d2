import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

const TASK = ['submit', '--repo', 'https://example.com/app.git', '-p', 'Fix it'];

test('ralph submit refuses in a sentence, and prints nothing on standard output', async () => {
  const scene = await makeScene();
  const fleet = { RALPH_FLEET: 'postgres://host/fleet' };
  const rows: readonly (readonly [readonly string[], Readonly<Record<string, string>>, RegExp])[] =
    [
      [TASK, {}, /ralph submit needs a fleet, and none was named/],
      [[...TASK, '--cwd', '/x'], fleet, /--cwd is not for ralph submit: .*--subdir\./],
      [[...TASK, '--repo', 'ext::sh -c x'], fleet, /--repo must not name a helper of git/],
      [[...TASK, '--repo', 'https://a:hunter2@h/x'], fleet, /--repo must not have a password/],
      [TASK, { ...fleet, RALPH_RUN_ID: 'x' }, /refused inside a loop/],
    ];
  for (const [argv, env, words] of rows) {
    const { exitCode, stdout, stderr } = await scene.ralph(argv, { env });
    expect({ argv, exitCode, stdout }).toEqual({ argv, exitCode: 2, stdout: '' });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/ at .*\(|hunter2/);
  }
});

test('a run neither warns of RALPH_FLEET nor hands it on to its agent and checks', async () => {
  const scene = await makeScene({ text: 'Done.\n\nTASK_COMPLETE' });
  const env = { RALPH_FLEET: 'postgres://host/fleet', RALPH_FLEET_TOKEN: 'x' };
  const { exitCode, stderr } = await scene.run(['--verify', '! env | grep RALPH_FLEE[T]'], { env });
  expect(exitCode).toBe(0);
  expect(stderr).not.toContain('RALPH_FLEET');
  const names = Object.keys(scene.fake.calls()[0]?.env ?? {});
  expect(names.filter((name) => name.startsWith('RALPH_FLEET'))).toEqual([]);
});
