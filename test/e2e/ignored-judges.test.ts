import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

// Judges that git ignores, and such as are new where only tests stood.

const CLAIM = { text: 'All good.\n\nTASK_COMPLETE' };
const HOLD = ['--proof', 'hold', '--verify'];

async function repository(files: Readonly<Record<string, string>>, shell: string) {
  const scene = await makeScene([
    { ...CLAIM, shell },
    { ...CLAIM, shell },
  ]);
  await scene.write('.gitignore', '.ralph_state\nNeeds_Action\n.npmrc\n');
  for (const [name, text] of Object.entries(files)) await scene.write(name, text);
  scene.makeRepository();
  return scene;
}

const PACKAGE = { 'package.json': '{"name":"p","scripts":{"test":"grep -q ok work"}}' };

test('a shell for scripts in an ignored file is held', async () => {
  const shell = 'echo x >> work; echo script-shell=/bin/true > .npmrc';
  const scene = await repository(PACKAGE, shell);
  const { exitCode, stderr } = await scene.run([...HOLD, 'npm test']);
  expect(stderr).toContain('.npmrc is new');
  expect(exitCode).toBe(5);
});

test('an ignored judge that stays as it was is there in the old exam', async () => {
  const scene = await repository(
    { '.npmrc': 'fund=false\n', 'check.sh': 'test -f .npmrc\n' },
    'echo x >> work; echo "# note" >> check.sh',
  );
  const { exitCode, stderr } = await scene.run([...HOLD, 'sh check.sh']);
  expect(stderr).not.toContain('.npmrc');
  expect(exitCode).toBe(0);
});

// The tests of the start pass with it, so the work may need it, where an exam can have it.
test.for([
  ['that git sees', '', 0],
  ['that git ignores', 'echo conf.mk >> .gitignore; ', 5],
] as const)(
  'a new configuration %s, where only tests stood, proves nothing',
  async ([, before, code]) => {
    // Prints like pytest: the test fails unless the configuration is there.
    const check =
      'if test -f conf.mk; then echo "1 passed in 0.01s"; else echo "1 failed in 0.01s"; false; fi';
    const scene = await repository({}, `${before}echo x >> work; : > conf.mk`);
    const { exitCode, stderr } = await scene.run([...HOLD, check]);
    expect(stderr).toContain('conf.mk is new');
    expect(stderr).not.toMatch(/(?<!not )proven: /);
    expect(exitCode).toBe(code);
  },
);
