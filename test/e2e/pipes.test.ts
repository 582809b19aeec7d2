import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

// A named pipe, a folder or a device in the place of a file that ralph opens: nothing waits for it, and nothing
// is written through it. A run that hung would not be over within its time.

const LATER = [
  '.ralph_state/t/iteration-0002.stdout.log',
  '.ralph_state/t/iteration-0002.stderr.log',
  '.ralph_state/t/memory-1.json',
  '.ralph_state/t/memory-2.json',
  '.ralph_state/t/settings.json',
  '.ralph_state/events.jsonl',
  '.ralph_state/t.json',
  'plan.md',
  'prompt.md',
] as const;

test.for(LATER)('a pipe that an agent puts in the place of %s holds nothing up', async (name) => {
  const shell = `rm -f '${name}'; mkfifo '${name}'`;
  const scene = await makeScene([
    { text: 'Not yet.', shell },
    { text: 'Not yet.' },
    { text: 'Done.\n\nTASK_COMPLETE' },
  ]);
  await scene.write('plan.md', '- [ ] one\n');
  await scene.write('prompt.md', 'Fix it');
  const words = ['run', '--prompt-file', 'prompt.md', '--promise', 'TASK_COMPLETE', '--delay', '0'];
  const end = await scene.ralph([...words, '--plan-file', 'plan.md', '--task-id', 't']);
  expect(end).toMatchObject({ exitCode: 0, stdout: 'Done.\n\nTASK_COMPLETE\n' });
  expect(scene.fake.calls()).toHaveLength(3);
});

test.for([
  ['.ralph_state/events.jsonl', 0],
  ['.ralph_state/t.json', 0],
  ['.ralph_state/t/memory-1.json', 0],
  ['.ralph_state/t/memory-2.json', 0],
  ['.ralph_state/t/settings.json', 1],
] as const)('a pipe in the place of %s holds no resume up', async ([name, exitCode]) => {
  const scene = await makeScene([{ text: 'Not yet.' }, { text: 'Done.\n\nTASK_COMPLETE' }]);
  await scene.run(['-n', '1']);
  const file = join(scene.folder, name);
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  execFileSync('mkfifo', [file]);
  const end = await scene.ralph(['resume', 't', '-n', '+1', '--delay', '0']);
  expect(end.exitCode).toBe(exitCode);
  expect(end.stderr).not.toMatch(/bug in ralph|^ {4}at /m);
});
