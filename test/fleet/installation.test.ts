import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from '../../src/effects/processes/find-program.ts';
import { installedRalph } from '../helpers/fleet-scene.ts';
import { RALPH, runRalph } from '../helpers/run-ralph.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// pg-boss is loaded by the commands of a fleet alone.

const { PATH } = process.env;
const hasStrace = !(
  'missing' in findProgram({ name: 'strace', env: { PATH }, cwd: '/', further: [] })
);
const URL_OF_NONE = 'postgres://ralph@127.0.0.1:9/none';

test.skipIf(!hasStrace).for([['--version'], ['run', '--dry-run', '--prompt', 'x']])(
  'ralph %s opens no file of pg-boss and looks for none',
  async (args) => {
    const log = join(await tempFolder(), 'trace');
    const under = ['strace', '-f', '-qq', '-e', 'trace=%file', '-o', log];
    const env = { RALPH_FLEET: URL_OF_NONE };
    const run = (words: readonly string[]) =>
      runRalph(words, { program: installedRalph(), under, env, timeoutMs: 60_000 });
    const end = await run(args);
    expect([end.exitCode, end.stderr.includes('RALPH_FLEET')]).toEqual([0, false]);
    expect(readFileSync(log, 'utf8')).not.toMatch(/pg-boss|node_modules\/pg\b/);
    // The trace would show it.
    await run(['fleet', 'status']);
    expect(readFileSync(log, 'utf8')).toMatch(/pg-boss/);
  },
);

test('without pg-boss, the commands of a fleet end with 2 and say how to install it', async () => {
  for (const args of [
    ['submit', '--repo', 'https://example.org/app.git', '--prompt', 'x'],
    ['worker'],
    ['fleet', 'status'],
    ['fleet', 'init'],
  ]) {
    const end = await runRalph([...args, '--fleet', URL_OF_NONE], { program: RALPH });
    expect([args, end.exitCode, end.stdout]).toEqual([args, 2, '']);
    expect(end.stderr).toMatch(/npm install (?:-g )?pg-boss@~12\.38/);
  }
});

test('a worker that cannot have the sandbox of its policy ends with 2 before it claims anything', async () => {
  const folder = await tempFolder();
  const policy = join(folder, 'policy.yaml');
  writeFileSync(policy, 'sandbox: true\n', { mode: 0o600 });
  const args = ['worker', '--policy', policy, '--home', join(folder, 'home')];
  const end = await runRalph([...args, '--fleet', URL_OF_NONE], { program: RALPH });
  expect([end.exitCode, end.stdout]).toEqual([2, '']);
  expect(end.stderr).toMatch(/sandbox: true, which this worker cannot have\. --sandbox /);
});

test('a home that cannot be made is a mistake of the user', async () => {
  const folder = await tempFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const args = ['worker', '--home', join(file, 'home'), '--fleet', URL_OF_NONE];
  const end = await runRalph(args, { program: RALPH });
  expect([end.exitCode, end.stdout]).toEqual([2, '']);
  expect(end.stderr).toMatch(/cannot be made \(ENOTDIR: .*\); name another folder with --home\./);
});
