import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

test('the demo: three iterations, a near miss, and nothing left behind', async () => {
  const scene = await makeScene();
  const tmp = join(scene.home, '../tmp');
  await mkdir(tmp);
  // Nothing but node, and a claude that must not be started.
  const env = { TMPDIR: tmp, PATH: `${scene.fake.dir}:${dirname(process.execPath)}` };
  const { exitCode, stdout, stderr } = await scene.ralph(['demo'], { env });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  for (const iteration of [1, 2, 3]) expect(stderr).toMatch(`iteration ${iteration} answered`);
  expect(stderr).not.toMatch(/iteration 4/);
  expect(stderr).toMatch(/not counted: the promise is inside a sentence.*GREETING_READY/);
  expect(stderr).toMatch(/completed: .*\n(?:.*\n)*ralph: used: 3 iterations/);
  expect(stdout).toContain('<promise>GREETING_READY</promise>');
  expect(scene.fake.calls()).toEqual([]);
  for (const folder of ['.', '../tmp', '../home']) expect(scene.names(folder)).toEqual([]);
});

test('the demo does not heed what a real task would be told by its surroundings', async () => {
  const scene = await makeScene();
  const tmp = join(scene.home, `../t m'p`);
  await mkdir(tmp);
  const env = {
    TMPDIR: tmp,
    PATH: dirname(process.execPath),
    CLAUDECODE: '1',
    RALPH_ITERATION: '3',
    RALPH_TASK_ID: 'other',
    RALPH_RUN_ID: 'other',
    NO_COLOR: '1',
  };
  const { exitCode, stderr } = await scene.ralph(['demo'], { env });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stderr).toMatch(/used: 3 iterations/);
  expect(scene.names(`../t m'p`)).toEqual([]);
});
