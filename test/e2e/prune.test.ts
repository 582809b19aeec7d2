import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

const OLD = { schema_version: 1, finished_at: '2020-01-01T00:00:00.000Z' };

test('ralph prune clears the history of what ended long ago', async () => {
  const scene = await makeScene({ text: 'TASK_COMPLETE' });
  await scene.run();
  await scene.write('.ralph_state/history/old.json', JSON.stringify(OLD));
  await scene.write('.ralph_state/history/old/iteration-0001.stdout.log', 'x'.repeat(3_000));
  await scene.write('.ralph_state/open.json', JSON.stringify(OLD));
  const corrupt = await scene.write('.ralph_state/a.json.corrupt-20200101', 'x');
  utimesSync(corrupt, 1_000, 1_000);

  const dry = await scene.ralph(['prune', '--dry-run']);
  expect(dry).toMatchObject({ exitCode: 0, stderr: '' });
  expect(dry.stdout).toMatch(/^would remove 1 task and 1 corrupt file, [\d.]+ KB$/m);
  expect(dry.stdout).toMatch(/^old {2}/m);
  expect(scene.has('.ralph_state/history/old.json')).toBe(true);

  const { stdout, stderr, exitCode } = await scene.ralph(['prune', '--older-than', '1h']);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toMatch(/^removed 1 task and 1 corrupt file, [\d.]+ KB\n$/);
  expect(scene.names('.ralph_state/history')).toEqual(['t', 't.json']);
  expect(scene.has('.ralph_state/open.json')).toBe(true);
  expect(scene.has(join('.ralph_state', 'a.json.corrupt-20200101'))).toBe(false);

  const again = await scene.ralph(['prune']);
  expect(again.stdout).toBe('nothing in the history is older than 30d\n');
  expect((await scene.ralph(['prune', '--older-than', '0'])).stdout).toMatch(/^removed 1 task, /);
});

test('a bad duration is a usage error that names the flag', async () => {
  const scene = await makeScene();
  const { stdout, stderr, exitCode } = await scene.ralph(['prune', '--older-than', 'soon']);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toMatch(/^ralph: --older-than expects .* found 'soon'\.\n$/);
});
