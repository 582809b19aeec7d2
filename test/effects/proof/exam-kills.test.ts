import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { makeExam, untouched } from '../../helpers/exams.ts';
import { GIT_ENV, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('a kill at any step of an old exam changes nothing, and the next one removes what it left', async () => {
  const task = await makeExam({
    '.gitignore': 'node_modules\nout\n',
    'a.txt': 'a\n',
    'package.json': '{"name":"p"}\n',
  });
  // Each package is a step.
  rmSync(join(task.folder, 'node_modules'));
  mkdirSync(join(task.folder, 'node_modules', 'a'), { recursive: true });
  put(task.folder, { 'out/a': 'ignored\n' });
  const tree = await task.claim({ 'a.txt': 'b\n' });
  const before = untouched(task.folder);
  const temporary = await tempFolder();
  const driver = join(await tempFolder(), 'exam-driver.mjs');
  await build({
    ...{ entryPoints: ['test/fixtures/exam-driver.ts'], outfile: driver, bundle: true },
    ...{ platform: 'node', format: 'esm', target: 'node20', logLevel: 'silent' },
    external: ['fast-glob'],
  });
  /** Returns what it printed; null if it was killed. */
  const sit = async (at: number): Promise<string | null> => {
    const args = [driver, task.folder, task.own.folder, task.examFolder, tree, `${at}`];
    try {
      const env = { ...GIT_ENV, TMPDIR: temporary };
      return (await promisify(execFile)(process.execPath, args, { env })).stdout;
    } catch (error) {
      if (Object(error).signal === 'SIGKILL') return null;
      throw error;
    }
  };
  const steps = Number(await sit(0));
  expect(steps).toBeGreaterThan(30);
  // One that was killed earlier may leave more to do: then there are more steps.
  for (let at = 1; (await sit(at)) === null; at += 1) {
    expect(untouched(task.folder), `killed at ${at}`).toEqual(before);
    if (at % 5 === 0) {
      await sit(0);
      expect(readdirSync(temporary), `killed at ${at}`).toEqual([]);
    }
  }
  expect(untouched(task.folder)).toEqual(before);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(dirname(dirname(task.examFolder)))).toEqual([]);
});
