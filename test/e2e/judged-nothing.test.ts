import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

// Checks that had nothing to judge by at the start, and an old exam that cannot be made.

const CLAIM = { text: 'All good.\n\nTASK_COMPLETE' };

async function repository(files: Readonly<Record<string, string>>, shell: string) {
  const scene = await makeScene([
    { ...CLAIM, shell },
    { ...CLAIM, shell },
  ]);
  await scene.write('.gitignore', '.ralph_state\nNeeds_Action\n');
  for (const [name, text] of Object.entries(files)) await scene.write(name, text);
  scene.makeRepository();
  return scene;
}

const TESTS = [
  ...['mkdir -p test', `echo "require('node:test')('a', () => {})" > test/a.test.js`],
  `echo '{"include":["src"]}' > tsconfig.json`,
].join('; ');
const SCRIPT = JSON.stringify({ name: 'p', scripts: { test: 'node --test' } });

test.for([
  ['no script', '{"name":"p"}'],
  [
    'the script of npm init',
    JSON.stringify({
      name: 'p',
      scripts: { test: 'echo "Error: no test specified" && exit 1' },
    }),
  ],
] as const)('the first tests of a project with %s are not held', async ([, manifest]) => {
  const scene = await repository(
    { 'tsconfig.json': '{}', 'package.json': manifest },
    `${TESTS}; echo '${SCRIPT}' > package.json`,
  );
  const { exitCode, stderr } = await scene.run(['--proof', 'hold', '--verify', 'npm test']);
  expect(stderr).toContain('not proven: tsconfig.json changed');
  expect(exitCode).toBe(0);
});

test('the first tests do not fail the old exam of a check that stood', async () => {
  const scene = await repository(
    { 'tsconfig.json': '{}', 'package.json': '{"name":"p"}', 'lint.sh': 'test -f tsconfig.json\n' },
    `${TESTS}; echo '${SCRIPT}' > package.json`,
  );
  const { exitCode } = await scene.run([
    ...['--proof', 'hold', '--verify', 'npm test', '--verify', 'sh lint.sh'],
  ]);
  expect(exitCode).toBe(0);
});

test('a target that was not there has judged nothing, and one that failed has', async () => {
  const makefile = 'test:\n\ttest -f work\n';
  const files = { Makefile: 'all:\n\ttrue\n', 'old.mk': 'test: gone\n\tfalse\n' };
  const shell = `printf '${makefile.replaceAll('\n', '\\n').replaceAll('\t', '\\t')}' | tee old.mk > Makefile; : > work`;
  const scene = await repository(files, shell);
  const flags = ['--proof', 'hold', '--verify'];
  expect((await scene.run([...flags, 'make test'])).exitCode).toBe(0);
  const other = await repository(files, shell);
  expect((await other.run([...flags, 'make -f old.mk test'])).exitCode).toBe(5);
});

test('why there was no old exam is told', async () => {
  // A temporary folder that is gone at the start is refused there.
  const shell = 'echo true > check.sh; : > work; rm -rf ../gone';
  const scene = await repository({ 'check.sh': 'false\n' }, shell);
  const gone = join(scene.folder, '..', 'gone');
  mkdirSync(gone);
  const { exitCode, stderr } = await scene.run(['--proof', 'hold', '--verify', 'sh check.sh'], {
    env: { TMPDIR: gone },
  });
  expect(exitCode).toBe(5);
  expect(stderr).toContain('the checkout could not be made: ENOENT');
  expect(scene.prompt(2)).toContain('The checks could not be run with what decides them');
});
