import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../helpers/temp-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** A program that notes its arguments and what it reads, and states the promise. */
const AGENT = `#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
cat >> "$CALLS"
echo 'All is done.'
echo '<promise>TASK_COMPLETE</promise>'
`;

it.each([
  ['codex.sh', 'codex', 'exec --full-auto -'],
  ['gemini.sh', 'gemini', '--yolo'],
])('examples/%s drives %s', async (script, agent, args) => {
  const folder = await tempFolder();
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, agent), AGENT);
  chmodSync(path.join(bin, agent), 0o755);
  symlinkSync(path.join(ROOT, 'bin', 'ralph.js'), path.join(bin, 'ralph'));
  writeFileSync(path.join(folder, 'task.md'), 'Write the changelog.\n');
  const calls = path.join(folder, 'calls');

  const ended = spawnSync(path.join(ROOT, 'examples', script), ['task.md'], {
    cwd: folder,
    env: {
      PATH: `${bin}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: folder,
      CALLS: calls,
    },
    encoding: 'utf8',
    timeout: 20_000,
  });

  expect(ended.stdout).toBe('All is done.\n<promise>TASK_COMPLETE</promise>\n');
  expect(ended.status).toBe(0);
  const seen = readFileSync(calls, 'utf8');
  expect(seen.startsWith(`${args}\nWrite the changelog.\n`)).toBe(true);
});
