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

/** JSON that is nested deeper than anything can be written as JSON. */
const DEEP = `(repeat('[', 5000) || repeat(']', 5000))`;

test('what stands in a spec beside the task is not read, however deep it is', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  await queue.submit([newFleetTask('good')]);
  await postgres.sql(
    url,
    `update ralph.task set spec = (rtrim(spec::text, '}') || ',"x":' || ${DEEP} || '}')::json`,
  );
  expect((await queue.task('good'))?.spec).toEqual(newFleetTask('good').spec);
  await queue.close();
});

test('settings that are nested without an end are not read', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  await queue.submit([newFleetTask('bad')]);
  await postgres.sql(
    url,
    `with deep as (
       select '{"model":{"value":' || ${DEEP} || ',"source":"x","from":"flag"}}' as text
     ), added as (
       insert into ralph.setting_set
       select left(encode(sha256(convert_to(text, 'UTF8')), 'hex'), 32), text::json from deep returning sha256
     )
     update ralph.task set setting_set = sha256 from added`,
  );
  expect(await queue.task('bad')).toBeNull();
  expect(await queue.unreadable({})).toEqual([{ taskId: 'bad', endedAt: null }]);
  await queue.close();
});
