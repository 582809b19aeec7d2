import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { FleetAwayError } from '../../src/errors.ts';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import {
  ANY,
  COMPLETED,
  checkpointAt,
  claimed,
  fleetEvent,
  LATE,
  NOTHING,
  newFleetTask,
} from '../helpers/fleet-tasks.ts';
import { openTestFleet, type Postgres, startPostgres } from '../helpers/postgres.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

async function opened(url: string): Promise<FleetQueue> {
  const queue = await openTestFleet(url, 'worker');
  onTestFinished(() => queue.close());
  return queue;
}

test('every call says that the database is away, and all goes on when it is back', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit([newFleetTask('a'), newFleetTask('b')]);
  const claim = await claimed(queue);
  const facts = { ...ANY, id: 'w1', pid: 1, version: '1', slots: 1, idle: null };
  await postgres.crash();
  const calls: Readonly<
    Record<Exclude<keyof FleetQueue, 'name' | 'leaseMs' | 'close'>, () => Promise<unknown>>
  > = {
    submit: () => queue.submit([newFleetTask('c')]),
    present: () => queue.present(facts),
    leave: () => queue.leave('w1'),
    claim: () => queue.claim(ANY),
    beat: () => queue.beat([claim]),
    save: () => queue.save(claim, checkpointAt(1), NOTHING),
    tell: () => queue.tell(claim, [fleetEvent('x')]),
    keepLog: () => queue.keepLog(claim, { name: 'x', iteration: 1, packed: new Uint8Array(1) }),
    park: () => queue.park(claim, null, NOTHING, { kind: 'handover', why: 'x' }),
    settle: () => queue.settle(claim, null, NOTHING, COMPLETED),
    noteBase: () => queue.noteBase(claim, 'c'),
    pauseAccount: () => queue.pauseAccount('default', 1, 'x'),
    requestsTo: () => queue.requestsTo([claim]),
    askApproval: () => queue.askApproval(claim, { id: 'p', text: 'x', expiresInMs: 3_600_000 }),
    sweep: () => queue.sweep(),
    request: () => queue.request('a', { kind: 'stop', by: 'x' }),
    resume: () => queue.resume('a'),
    answer: () => queue.answer('a', { verdict: 'approved', by: 'x', comment: null }),
    setAccount: () => queue.setAccount('default', { slots: 1 }),
    prune: () => queue.prune(['a'], LATE),
    readClock: () => queue.readClock(),
    task: () => queue.task('a'),
    tasks: () => queue.tasks({}),
    unreadable: () => queue.unreadable({}),
    checkpoint: () => queue.checkpoint('a'),
    events: () => queue.events('a', 0),
    logs: () => queue.logs('a', 0),
    approvals: () => queue.approvals(),
    accounts: () => queue.accounts(),
    workers: () => queue.workers(),
    queues: () => queue.queues(),
  };
  for (const [name, call] of Object.entries(calls)) {
    await expect(call(), name).rejects.toThrow(FleetAwayError);
  }
  await expect(openTestFleet(url)).rejects.toThrow(FleetAwayError);

  await postgres.start();
  expect([...(await queue.beat([claim]))]).toEqual(['a']);
  expect(await queue.save(claim, checkpointAt(1), NOTHING)).toBe(true);
  expect((await claimed(queue)).taskId).toBe('b');
  expect(await queue.settle(claim, null, NOTHING, COMPLETED)).toBe(true);
  expect(await queue.task('c')).toBeNull();
});

test('a write that a crash cuts off is whole or not there, and can be repeated', async () => {
  const url = await postgres.url();
  const queue = await opened(url);
  await queue.submit([newFleetTask('a')]);
  const claim = await claimed(queue);
  const events = [fleetEvent('one'), fleetEvent('two')];
  const blocker = postgres
    .sql(url, 'begin; lock table ralph.event in exclusive mode; select pg_sleep(60)')
    .catch(() => 'ended by the crash');
  await expect
    .poll(() =>
      postgres.sql(
        url,
        "select count(*) from pg_locks where mode = 'ExclusiveLock' and relation = 'ralph.event'::regclass",
      ),
    )
    .toBe('1');
  const saving = queue.save(claim, checkpointAt(1), { events, requestsDone: [] });
  const failing = expect(saving).rejects.toThrow(FleetAwayError);
  await expect
    .poll(() => postgres.sql(url, 'select count(*) from pg_locks where not granted'))
    .toBe('1');
  await postgres.crash();
  await failing;
  await blocker;
  await postgres.start();
  expect(await queue.checkpoint('a')).toBeNull();
  expect(await queue.save(claim, checkpointAt(1), { events, requestsDone: [] })).toBe(true);
  // As if the answer to the first one had got lost: the same events are there once.
  expect(await queue.save(claim, checkpointAt(1), { events, requestsDone: [] })).toBe(true);
  expect(await queue.events('a', 0)).toHaveLength(2);
});

test('a server that does not answer is away', async () => {
  const folder = await tempFolder();
  const server = createServer(() => {});
  server.listen(join(folder, '.s.PGSQL.5432'));
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `postgres://sam:hidden@/fleet?host=${encodeURIComponent(folder)}`;
  const failure = await openTestFleet(url).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(FleetAwayError);
  expect(String(failure)).not.toContain('hidden');
});
