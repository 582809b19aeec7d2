import { expect, test } from 'vitest';
import { makeFakeClaude } from '../helpers/fake-claude.ts';
import { runRalph } from '../helpers/run-ralph.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

test('init, then doctor, then a run that finds the folders and the settings', async () => {
  const vault = await tempFolder();
  const home = await tempFolder();
  const claude = await makeFakeClaude(await tempFolder(), { text: 'TASK_COMPLETE' });
  const options = {
    cwd: vault,
    home,
    path: [claude.dir],
    env: { CLAUDE_CODE_USE_BEDROCK: '1' },
  };
  const init = await runRalph(['init'], options);
  expect(init).toMatchObject({ exitCode: 0, stderr: '' });
  expect(init.stdout).toContain('created      Needs_Action\n');
  const doctor = await runRalph(['doctor'], options);
  expect(doctor).toMatchObject({ exitCode: 0, stderr: '' });
  expect(doctor.stdout).toContain('2.1.197 (Claude Code)');
  expect(claude.calls()).toEqual([]);
  const run = await runRalph(['run', '--prompt', 'go'], options);
  expect(run).toMatchObject({ exitCode: 0, stdout: 'TASK_COMPLETE\n' });
});

test('doctor fails where a run would fail', async () => {
  const { exitCode, stdout } = await runRalph(['doctor', '--config', 'none.yaml']);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('problem  --config expects a file that can be read');
  expect(stdout).toMatch(/problem {2}agent: .*not found/);
  expect(stdout).toContain('A run would fail: ');
});
