import { afterAll, beforeAll, expect, test } from 'vitest';
import { newFleetTask } from '../helpers/fleet-tasks.ts';
import { openTestFleet, type Postgres, startPostgres } from '../helpers/postgres.ts';

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres.stop());

test.for([
  { name: 'an empty spec', change: "spec = '{}'" },
  {
    name: 'a folder outside of the repository',
    change: `spec = jsonb_set(spec::jsonb, '{subdir}', '"../other"')::json`,
  },
  {
    name: 'a repository that runs a command',
    change: `spec = jsonb_set(spec::jsonb, '{repo}', '"ext::sh -c id"')::json`,
  },
])('a row that ralph submit did not write is not read: $name', async ({ change }) => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  await queue.submit([newFleetTask('good'), newFleetTask('bad')]);
  await postgres.sql(url, `update ralph.task set ${change} where task_id = 'bad'`);
  expect((await queue.tasks({})).map(({ spec }) => spec.task_id)).toEqual(['good']);
  expect(await queue.task('bad')).toBeNull();
  expect(await queue.unreadable({})).toEqual([{ taskId: 'bad', endedAt: null }]);
  expect((await queue.task('good'))?.spec.task_id).toBe('good');
  await queue.close();
});
