import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import { ANY, claimed, newFleetTask } from '../helpers/fleet-tasks.ts';
import { openTestFleet, type Postgres, startPostgres, whileLocked } from '../helpers/postgres.ts';

// What a sweep does about rows that are not as they should be.

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** A fleet on which nothing but the test sweeps. */
async function opened(url: string): Promise<FleetQueue> {
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  return queue;
}

/** Makes the database refuse to write some rows. `which` is a condition on the row `new`. */
function refuse(url: string, table: string, which: string): Promise<string> {
  return postgres.sql(
    url,
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the test says so'; end $$;
     create trigger refuse before insert on ${table} for each row when (${which}) execute function refuse()`,
  );
}

async function ids(queue: FleetQueue): Promise<readonly string[]> {
  const claims = [await queue.claim(ANY), await queue.claim(ANY), await queue.claim(ANY)];
  return claims.flatMap((claim) => claim?.taskId ?? []);
}

test('a task that cannot get a job is named, and keeps no other from its job', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit(['a', 'bad', 'c'].map((id) => newFleetTask(id)));
  await postgres.sql(url, 'delete from ralph_queue.job');
  await refuse(url, 'ralph_queue.job_common', "new.singleton_key = 'bad'");
  const troubles = [{ what: 'task bad got no job', why: 'the test says so' }];
  expect(await queue.sweep()).toEqual(troubles);
  expect(await queue.sweep()).toEqual(troubles);
  expect(await ids(queue)).toEqual(['a', 'c']);
  await postgres.sql(url, 'drop function refuse cascade');
  expect(await queue.sweep()).toEqual([]);
  expect(await ids(queue)).toEqual(['bad']);
});

test('a lost claim that cannot be freed is named, and keeps no other from being freed', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit(['bad', 'c'].map((id) => newFleetTask(id)));
  await claimed(queue);
  await claimed(queue);
  await postgres.sql(
    url,
    "update ralph_queue.job set heartbeat_on = heartbeat_on - interval '1 h'",
  );
  await refuse(url, 'ralph_queue.job_common', "new.singleton_key = 'bad'");
  expect(await queue.sweep()).toEqual([
    { what: 'the lost claim of task bad was not freed', why: 'the test says so' },
  ]);
  expect(await ids(queue)).toEqual(['c']);
});

test('a lost task whose row somebody locks holds up no other', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit(['locked', 'c'].map((id) => newFleetTask(id)));
  await claimed(queue);
  await claimed(queue);
  await postgres.sql(
    url,
    "update ralph_queue.job set heartbeat_on = heartbeat_on - interval '1 h'",
  );
  await whileLocked(url, "select 1 from ralph.task where task_id = 'locked'", async () => {
    expect(await queue.sweep()).toEqual([]);
    expect(await queue.task('locked')).toMatchObject({ worker: 'w1' });
    expect(await queue.task('c')).toMatchObject({ worker: null });
  });
  await queue.sweep();
  expect(await ids(queue)).toEqual(['locked', 'c']);
});

test('a queue that the engine cannot make is named, and keeps no other tasks from their jobs', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit([newFleetTask('a', { queue: 'odd' }), newFleetTask('b')]);
  await postgres.sql(url, 'delete from ralph_queue.job; delete from ralph_queue.queue');
  await refuse(url, 'ralph_queue.queue', "new.name = 'ralph-s1-odd'");
  const fresh = await opened(url);
  expect(await fresh.sweep()).toEqual([
    { what: 'the tasks of ralph-s1-odd got no jobs', why: 'the test says so' },
  ]);
  expect(await ids(fresh)).toEqual(['b']);
});

test('more tasks than one transaction repairs get their jobs in one sweep', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit(Array.from({ length: 1_200 }, (_, at) => newFleetTask(`t${at}`)));
  await postgres.sql(url, 'delete from ralph_queue.job');
  expect(await queue.sweep()).toEqual([]);
  expect(await postgres.sql(url, 'select count(*) from ralph_queue.job')).toBe('1200');
  expect(await ids(queue)).toEqual(['t0', 't1', 't2']);
});

test('a job that is in the way of a task is removed by the sweep', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit([newFleetTask('a'), newFleetTask('b')]);
  await postgres.sql(
    url,
    "update ralph_queue.job set id = gen_random_uuid(), start_after = now() + interval '1 day' where singleton_key = 'a'",
  );
  expect(await queue.sweep()).toEqual([]);
  expect(await ids(queue)).toEqual(['a', 'b']);
});

test('a job that is in the way of a task is removed when the task is submitted', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit([newFleetTask('a')]);
  await postgres.sql(
    url,
    "update ralph_queue.job set start_after = now() + interval '1 day'; delete from ralph.task",
  );
  expect(await queue.submit([newFleetTask('a')])).toEqual([{ kind: 'queued', taskId: 'a' }]);
  expect(await ids(queue)).toEqual(['a']);
});
