import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeExam, untouched } from '../../helpers/exams.ts';
import { bytesBelow, type Files, put } from '../../helpers/repository.ts';

/** Its check passes only with what a build has made. */
const BUILT: Files = {
  '.gitignore': 'node_modules\n/out/\n.env\n',
  'check.sh': 'test "$(cat out/built)" = a && test -z "$(ls -A "$TMPDIR")"\n',
  'build.sh': 'mkdir -p out && cp a.txt out/built\n',
  'a.txt': 'a',
};

test('what git ignores cannot help, and what --setup makes does', async () => {
  const task = await makeExam(BUILT, { checks: ['sh check.sh'] });
  put(task.folder, { 'out/built': 'a' });
  const tree = await task.claim({ 'new.txt': 'new\n' });
  expect(
    await task.run('sh check.sh', { cwd: task.folder, temporary: dirname(task.cleanFolder) }),
  ).toMatchObject({ exitCode: 0 });
  const before = untouched(task.folder);
  const failed = await task.clean(tree);
  expect(failed).toMatchObject({ kind: 'ran', folder: task.cleanFolder });
  // It stays until the next one, with nothing but the tree.
  expect(readdirSync(task.cleanFolder).toSorted()).toEqual(
    ['.git', '.gitignore', 'a.txt', 'build.sh', 'check.sh', 'new.txt'].toSorted(),
  );
  expect(untouched(task.folder)).toEqual(before);
  expect(await task.clean(tree, { setup: 'sh build.sh' })).toMatchObject({
    kind: 'ran',
    folder: null,
  });
  expect(existsSync(dirname(task.cleanFolder))).toBe(false);
  expect(untouched(task.folder)).toEqual(before);
});

test('a failure of --setup stays, too, and runs no check', async () => {
  const task = await makeExam({ 'a.txt': 'a' }, { checks: ['touch checked'] });
  const end = await task.clean(task.start, { setup: 'echo no; exit 3' });
  expect(end).toMatchObject({
    kind: 'setup-failed',
    folder: task.cleanFolder,
    result: { exitCode: 3, output: 'no\n' },
  });
  expect(existsSync(join(task.cleanFolder, 'checked'))).toBe(false);
});

test('works in the same folder, and copies what is asked for', async () => {
  const task = await makeExam(
    {
      '.gitignore': 'node_modules\n.env\n',
      'sub/a.txt': 'a',
      'sub/check.sh': 'test "$(cat .env a.txt)" = E=1a',
    },
    { checks: ['sh check.sh'], below: 'sub' },
  );
  put(task.folder, { 'sub/.env': 'E=1', 'sub/other.env': 'x' });
  expect(await task.clean(task.start)).toMatchObject({ kind: 'ran', folder: task.cleanFolder });
  const end = await task.clean(task.start, { copy: ['.env', 'none*'] });
  expect(end).toMatchObject({ kind: 'ran', folder: null });
});

test('checks a commit of another time, which may lack the folder', async () => {
  const task = await makeExam({ 'a.txt': 'a' }, { checks: ['test -z "$(ls)"'], below: 'sub' });
  expect(await task.clean(task.git('rev-parse', 'HEAD'))).toMatchObject({
    kind: 'ran',
    folder: null,
  });
  expect(Object.keys(bytesBelow(task.folder))).toContain('a.txt');
});
