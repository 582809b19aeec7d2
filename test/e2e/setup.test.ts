import { spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { AGENT_NAMES } from '../../src/core/agent/agents/agents.ts';
import { makeFakeClaude } from '../helpers/fake-claude.ts';
import { runRalph } from '../helpers/run-ralph.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const RALPH = fileURLToPath(new URL('../../bin/ralph.js', import.meta.url));

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

test('the completion of the built command completes its own commands, flags and tasks', async () => {
  const folder = await tempFolder();
  const vault = join(folder, 'vault');
  await mkdir(join(vault, '.ralph_state'), { recursive: true });
  for (const id of ['nightly', 'weekly']) {
    await writeFile(join(vault, '.ralph_state', `${id}.json`), '{}');
  }
  await symlink(RALPH, join(folder, 'ralph'));
  const env = {
    PATH: [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: folder,
  };
  const complete = (...words: readonly string[]): readonly string[] => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const script = `eval "$(ralph completion bash)"; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _ralph; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
      env,
      cwd: vault,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((word) => word !== '');
  };
  const { stdout: help } = await runRalph(['--help']);
  const list = help.split(/^Examples:$/m)[0] ?? '';
  const commands = [...list.matchAll(/^ {2}([a-z]+)/gm)];
  expect(complete('ralph', '').toSorted()).toEqual(
    [...commands.map(([, name]) => name), '--help', '--version'].toSorted(),
  );
  expect(help).not.toContain('__');
  expect(complete('ralph', 'run', '--agent', '')).toEqual(AGENT_NAMES);
  expect(complete('ralph', 'status', '')).toEqual(['nightly', 'weekly']);
  expect(complete('ralph', 'logs', '--vault', folder, '')).toEqual([]);
  expect(complete('ralph', 'stop', 'w')).toEqual(['weekly']);
});
