import dns from 'node:dns';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { FleetAwayError, FleetError } from '../../src/errors.ts';
import type { TaskFilter } from '../../src/fleet/database/fleet-queue.ts';
import { initFleet } from '../../src/fleet/database/init-fleet.ts';
import { TABLES_VERSION } from '../../src/fleet/database/migrations.ts';
import { openFleet } from '../../src/fleet/database/open-fleet.ts';
import {
  ANY,
  COMPLETED,
  checkpointAt,
  claimed,
  LATE,
  NOTHING,
  newFleetTask,
} from '../helpers/fleet-tasks.ts';
import { ENGINE_FROM } from '../helpers/install-engine.ts';
import { openTestFleet, type Postgres, startPostgres } from '../helpers/postgres.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test('init makes the tables, a second time changes nothing, and a lease is kept', async () => {
  const url = await postgres.emptyUrl();
  const given = { url, env: {}, leaseMs: null, engineFrom: ENGINE_FROM };
  const missing = await failureOf(openTestFleet(url));
  expect(missing).toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('ralph fleet init'),
  });
  const first = await initFleet({ ...given, leaseMs: 30_000 });
  expect(first).toEqual({
    name: expect.stringMatching(/^fleet /),
    engine: { from: null, to: expect.any(Number) },
    tables: { from: null, to: TABLES_VERSION },
    leaseMs: 30_000,
  });
  const second = await initFleet(given);
  expect(second).toEqual({
    name: first.name,
    engine: { from: first.engine.to, to: first.engine.to },
    tables: { from: TABLES_VERSION, to: TABLES_VERSION },
    leaseMs: 30_000,
  });
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  expect(queue.leaseMs).toBe(30_000);
});

test('two inits at the same time do no harm', async () => {
  const url = await postgres.emptyUrl();
  const given = { url, env: {}, leaseMs: null, engineFrom: ENGINE_FROM };
  await Promise.all([initFleet(given), initFleet(given)]);
  await (await openTestFleet(url)).close();
});

test('a claim holds as long as its worker believes, even if the lease was another one when it was queued', async () => {
  const url = await postgres.url();
  const before = await openTestFleet(url);
  await before.submit([newFleetTask('a')]);
  await before.close();
  await initFleet({ url, env: {}, leaseMs: 20_000, engineFrom: ENGINE_FROM });
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  await claimed(queue);
  expect(
    await postgres.sql(url, "select heartbeat_seconds from ralph_queue.job where state = 'active'"),
  ).toBe('20');
});

test('tables of a newer ralph are left alone, and what runs is finished', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url, 'worker');
  onTestFinished(() => queue.close());
  await queue.submit([newFleetTask('a'), newFleetTask('b')]);
  const claim = await claimed(queue);
  await postgres.sql(url, "update ralph.meta set value = '99' where key = 'tables'");
  for (const work of [
    () => openTestFleet(url),
    () => initFleet({ url, env: {}, leaseMs: null, engineFrom: ENGINE_FROM }),
    () => queue.claim(ANY),
  ]) {
    expect(await failureOf(work())).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('newer ralph'),
    });
  }
  expect([...(await queue.beat([claim]))]).toEqual(['a']);
  expect(await queue.save(claim, checkpointAt(1), NOTHING)).toBe(true);
  expect(await queue.settle(claim, null, NOTHING, COMPLETED)).toBe(true);
  expect(await queue.task('b')).toMatchObject({ worker: null, fence: 0 });
});

test('tables of another pg-boss are refused', async () => {
  const url = await postgres.url();
  await postgres.sql(url, 'update ralph_queue.version set version = version + 1');
  expect(await failureOf(openTestFleet(url))).toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('newer pg-boss'),
  });
  expect(
    await failureOf(initFleet({ url, env: {}, leaseMs: null, engineFrom: ENGINE_FROM })),
  ).toMatchObject({ exitCode: 1 });
  await postgres.sql(url, 'update ralph_queue.version set version = version - 2');
  expect(await failureOf(openTestFleet(url))).toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('ralph fleet init'),
  });
});

test('without pg-boss it says what to install, and needs no database', async () => {
  const engineFrom = join(await tempFolder(), 'ralph.js');
  const failure = await failureOf(
    openFleet({
      url: 'postgres://sam:hidden@nowhere.invalid/x',
      env: {},
      purpose: 'command',
      engineFrom,
    }),
  );
  expect(failure).toBeInstanceOf(FleetError);
  expect(failure).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('npm install -g pg-boss@~12.38.0'),
  });
  expect(String(failure)).not.toContain('hidden');
});

test('a missing database is refused, and a server that does not run is away', async () => {
  const url = (await postgres.url()).replace(/\/fleet\d+\?/, '/none?');
  expect(await failureOf(openTestFleet(url))).toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('create the database'),
  });
  expect(await failureOf(openTestFleet('postgres://sam:hidden@127.0.0.1:1/x'))).toBeInstanceOf(
    FleetAwayError,
  );
});

test('a server of which no address answers is away', async () => {
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const lookup = (_host: string, _options: object, found: (...given: unknown[]) => void) =>
    found(null, addresses);
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
  onTestFinished(() => void vi.restoreAllMocks());
  const failure = await failureOf(openTestFleet('postgres://sam@two.example.org:1/x'));
  expect(failure).toBeInstanceOf(FleetAwayError);
  expect(String(failure)).toContain('connect ECONNREFUSED 127.0.0.1:1');
});

test('a sweep gives a job to each open task without one, once, however many sweep', async () => {
  const url = await postgres.url();
  const all = await Promise.all([0, 1, 2].map(() => openTestFleet(url, 'worker')));
  onTestFinished(async () => {
    await Promise.all(all.map((queue) => queue.close()));
  });
  const [queue] = all;
  if (queue === undefined) throw new Error('there is no queue');
  await queue.submit(['a', 'b', 'c', 'held'].map((id) => newFleetTask(id)));
  await queue.submit([newFleetTask('new', { schema: 3, queue: 'other' })]);
  await queue.request('held', { kind: 'pause', by: 'ann' });
  // Removed by hand, and never made.
  await postgres.sql(
    url,
    "delete from ralph_queue.job; update ralph.task set job = null where task_id = 'b'",
  );
  expect(await queue.claim(ANY)).toBeNull();
  await Promise.all(all.map((one) => one.sweep()));
  await queue.sweep();
  const jobs = await postgres.sql(
    url,
    'select name, singleton_key from ralph_queue.job order by 1, 2',
  );
  expect(jobs.split('\n')).toEqual([
    ...['ralph-s1-default|a', 'ralph-s1-default|b', 'ralph-s1-default|c', 'ralph-s3-other|new'],
  ]);
  expect((await claimed(queue)).taskId).toBe('a');
});

test('a job of no task is removed by the claim that meets it', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  await queue.submit([newFleetTask('a'), newFleetTask('b'), newFleetTask('c')]);
  await postgres.sql(
    url,
    "delete from ralph.task where task_id = 'a'; update ralph.task set job = gen_random_uuid() where task_id = 'b'",
  );
  expect((await claimed(queue)).taskId).toBe('c');
  expect(await postgres.sql(url, 'select count(*) from ralph_queue.job')).toBe('1');
});

test('more tasks than one statement removes are pruned, with the settings that no task has any more', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  const settings = (value: number) => ({
    maxIterations: { value, source: '--max-iterations', from: 'flag' } as const,
  });
  const ids = Array.from({ length: 250 }, (_, at) => `t${at}`);
  await queue.submit(ids.map((id, at) => newFleetTask(id, { settings: settings(at + 1) })));
  await queue.submit([newFleetTask('open', { settings: settings(1) })]);
  await postgres.sql(
    url,
    "update ralph.task set ended_at = now(), status = 'stopped' where task_id <> 'open'",
  );
  expect([...(await queue.prune([...ids, 'open'], LATE))].sort()).toEqual([...ids].sort());
  expect((await queue.tasks({})).map(({ spec }) => spec.task_id)).toEqual(['open']);
  expect(await postgres.sql(url, 'select count(*) from ralph.setting_set')).toBe('1');
});

test('tasks that take too long to remove are removed in smaller parts, whatever becomes of their settings', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  const ids = Array.from({ length: 30 }, (_, at) => `t${at}`);
  await queue.submit(ids.map((id) => newFleetTask(id)));
  await postgres.sql(
    url,
    `update ralph.task set ended_at = now(), status = 'stopped';
     create function refuse() returns trigger language plpgsql as $$ begin
       if (select count(*) from gone) > 10 or tg_table_name = 'setting_set' then
         raise exception 'too slow' using errcode = '57014';
       end if;
       return null;
     end $$;
     create trigger refuse after delete on ralph.task referencing old table as gone
       for each statement execute function refuse();
     create trigger refuse after delete on ralph.setting_set referencing old table as gone
       for each statement execute function refuse()`,
  );
  expect(await queue.prune(ids, LATE)).toHaveLength(30);
  expect(await queue.tasks({})).toEqual([]);
});

test('a task that is pruned while it is submitted again is queued', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  await queue.submit([newFleetTask('a')]);
  // What is removed in the transaction comes back when that is rolled back.
  await postgres.sql(
    url,
    `create sequence public.tries;
     create function prune() returns trigger language plpgsql as $$ begin
       if nextval('public.tries') = 1 then delete from ralph.task where task_id = 'a'; end if;
       return null;
     end $$;
     create trigger prune after insert on ralph.task for each statement execute function prune()`,
  );
  expect(await queue.submit([newFleetTask('a')])).toEqual([
    { kind: 'already-queued', taskId: 'a' },
  ]);
  expect(await queue.task('a')).toMatchObject({ status: 'pending' });
});

test('more tasks than one statement reads are read, however long their prompts are', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  const short = Array.from({ length: 600 }, (_, at) => newFleetTask(`s${at}`));
  const prompt = 'x'.repeat(1_000_000);
  const long = Array.from({ length: 20 }, (_, at) => newFleetTask(`l${at}`, { prompt }));
  const all = [...short, ...long].map(({ spec }) => spec.task_id);
  await queue.submit([...short, ...long]);
  const idsOf = async (filter: TaskFilter) =>
    (await queue.tasks(filter)).map(({ spec }) => spec.task_id);
  expect(await idsOf({})).toEqual(all);
  expect(await idsOf({ limit: 550 })).toEqual(all.slice(-550));
  expect(await idsOf({ limit: 1 })).toEqual(all.slice(-1));
});

test('the tables refuse settings that are too large', async () => {
  const url = await postgres.url();
  const large = `select json_build_object('x', repeat('x', 1000000)) as settings`;
  await expect(
    postgres.sql(
      url,
      `insert into ralph.setting_set
       select left(encode(sha256(convert_to(settings::text, 'UTF8')), 'hex'), 32), settings from (${large}) s`,
    ),
  ).rejects.toThrow(/setting_set_size/);
});

test('rows that the tables would refuse by now do not keep them from being brought up to date', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  await queue.submit([newFleetTask('a'), newFleetTask('b')]);
  await queue.close();
  await postgres.sql(
    url,
    `alter table ralph.task drop constraint task_spec_size, drop constraint task_content_sha256;
     alter table ralph.setting_set drop constraint setting_set_size;
     update ralph.meta set value = '1' where key = 'tables';
     update ralph.task set spec = json_build_object('x', repeat('x', 9000000)), content_sha256 = 'x'
     where task_id = 'a'`,
  );
  await initFleet({ url, env: {}, leaseMs: null, engineFrom: ENGINE_FROM });
  const after = await openTestFleet(url);
  onTestFinished(() => after.close());
  expect(await after.unreadable({})).toEqual([{ taskId: 'a', endedAt: null }]);
  expect(await claimed(after)).toMatchObject({ taskId: 'a' });
  expect(await claimed(after)).toMatchObject({ taskId: 'b' });
});

test.for([
  ['priority', '2147483647'],
  ['queue', "'Odd queue'"],
  ['account', "''"],
  ['task_id', "'../../x'"],
  ['task_id', "'x.lock'"],
  ['spec', `json_build_object('x', repeat('x', 8000000))`],
  ['content_sha256', "repeat('x', 64)"],
  ['content_sha256', "''"],
  ['not_before', "'infinity'"],
  ['not_before', "'294276-01-01'"],
  ['not_before', "'4713-01-01 BC'"],
])('the tables refuse a task whose %s is %s', async ([column, value]) => {
  const url = await postgres.url();
  const queue = await openTestFleet(url);
  onTestFinished(() => queue.close());
  await queue.submit([newFleetTask('a')]);
  await expect(postgres.sql(url, `update ralph.task set ${column} = ${value}`)).rejects.toThrow(
    /check constraint/,
  );
});
