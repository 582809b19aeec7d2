import { chmodSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

// Checks that name the work tree by its path, and programs that PATH finds in it.

const CLAIM = { text: 'All good.\n\nTASK_COMPLETE' };
const JUDGE = 'grep -q ok work\n';

async function repository(shell: string, turns = 2) {
  const scene = await makeScene(Array.from({ length: turns }, () => ({ ...CLAIM, shell })));
  await scene.write('.gitignore', '.ralph_state\nNeeds_Action\nout\n');
  await scene.write('check.sh', JUDGE);
  await scene.write('sub/file', '');
  chmodSync(await scene.write('bin/judge', `#!/bin/sh\n${JUDGE}`), 0o755);
  scene.makeRepository();
  return scene;
}

describe('a rewritten judge is held', () => {
  const rewritten = 'echo x >> work; echo exit 0 > check.sh';

  test.for([
    ['by its path', (folder: string) => `sh ${folder}/check.sh`],
    ['in the folder by its path', (folder: string) => `cd "${folder}" && sh check.sh`],
    ['from the top that git names', () => 'cd "$(git rev-parse --show-toplevel)" && sh check.sh'],
  ] as const)('%s', async ([, check]) => {
    const scene = await repository(rewritten);
    const { exitCode, stderr } = await scene.run([
      ...['--proof', 'hold', '--verify', check(scene.folder)],
    ]);
    expect(stderr).toContain('check.sh changed');
    expect(exitCode).toBe(5);
  });

  test('from a folder below, by the top that git names', async () => {
    const scene = await repository('cd ..; echo x >> work; echo exit 0 > check.sh');
    const check = 'cd "$(git rev-parse --show-toplevel)" && sh check.sh';
    const { exitCode, stderr } = await scene.run([
      ...['--cwd', 'sub', '--proof', 'hold', '--verify', check],
    ]);
    expect(stderr).toContain('check.sh changed');
    expect(exitCode).toBe(5);
  });

  test('by a path through a link', async () => {
    const scene = await repository(rewritten);
    const link = join(dirname(scene.folder), 'link');
    symlinkSync(scene.folder, link);
    const { exitCode, stderr } = await scene.run([
      ...['--cwd', link, '--proof', 'hold', '--verify', `sh ${link}/check.sh`],
    ]);
    expect(stderr).toContain('check.sh changed');
    expect(exitCode).toBe(5);
  });

  test('that PATH finds in the work tree', async () => {
    const scene = await repository("echo x >> work; printf '#!/bin/sh\\n' > bin/judge");
    const { exitCode, stderr } = await scene.run(['--proof', 'hold', '--verify', 'judge'], {
      env: { ...scene.env, PATH: `${join(scene.folder, 'bin')}:${scene.env.PATH}` },
    });
    expect(stderr).toContain('bin/judge changed');
    expect(exitCode).toBe(5);
  });
});

test('a clean checkout is checked, and not the work tree that the check names', async () => {
  const scene = await repository('echo x >> work; : > out', 1);
  const check = `test -f ${scene.folder}/out`;
  const { exitCode, stderr } = await scene.run(['-n', '1', '--verify-clean', '--verify', check]);
  expect(stderr).toContain('not accepted: in a clean checkout');
  expect(exitCode).toBe(3);
});
