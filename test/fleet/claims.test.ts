import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import { ANY, claimed, newFleetTask } from '../helpers/fleet-tasks.ts';
import { openTestFleet, type Postgres, startPostgres, whileLocked } from '../helpers/postgres.ts';

// Claims on a real database, where rows are locked and somebody else may have written them.

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

async function opened(): Promise<{ url: string; queue: FleetQueue }> {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  return { url, queue };
}

test('a task whose row somebody locks is claimed a little later, and no claim is lost for it', async () => {
  const { url, queue } = await opened();
  await queue.submit([newFleetTask('busy', { priority: 1 }), newFleetTask('other')]);
  await whileLocked(url, "select 1 from ralph.task where task_id = 'busy'", async () => {
    // It does not hold up those behind it.
    expect((await claimed(queue)).taskId).toBe('other');
    expect(await queue.claim(ANY)).toBeNull();
  });
  await postgres.sql(url, 'update ralph_queue.job set start_after = now()');
  const claim = await claimed(queue);
  expect([claim.taskId, claim.fence, claim.task.claims_without_iteration]).toEqual(['busy', 1, 1]);
  expect([...(await queue.beat([claim]))]).toEqual(['busy']);
});

test('a job in another queue claims no task, even with the id of its job', async () => {
  const { url, queue } = await opened();
  await queue.submit([newFleetTask('a'), newFleetTask('b', { queue: 'other' })]);
  await postgres.sql(
    url,
    `insert into ralph_queue.job (id, name, data, priority)
     select job, 'ralph-s1-other', '{"task": "a"}', 2147483647 from ralph.task where task_id = 'a'`,
  );
  expect((await claimed(queue, { queues: ['other'] })).taskId).toBe('b');
  expect(await queue.task('a')).toMatchObject({ fence: 0, worker: null });
  expect((await claimed(queue)).taskId).toBe('a');
});

test('after the pause of an account, claims begin again spread over 30 s', async () => {
  const { url, queue } = await opened();
  const count = 60;
  await queue.submit(Array.from({ length: count }, (_, at) => newFleetTask(`t${at}`)));
  await queue.pauseAccount('default', 60_000, 'usage limit');
  expect(await queue.claim(ANY)).toBeNull();
  const endedBefore = (seconds: number) =>
    postgres.sql(url, `update ralph.account set paused_until = now() - interval '${seconds} s'`);
  const claims = async (): Promise<number> => {
    let claimedNow = 0;
    for (let at = 0; at < 20; at += 1) claimedNow += (await queue.claim(ANY)) === null ? 0 : 1;
    return claimedNow;
  };
  // Half of the time has passed, so half of the claims come through: all or none of 20 does so once in 500,000 times.
  await endedBefore(15);
  const half = await claims();
  expect(half).toBeGreaterThan(0);
  expect(half).toBeLessThan(20);
  await endedBefore(30);
  expect(await claims()).toBe(20);
});
