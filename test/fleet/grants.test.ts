import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { FleetError } from '../../src/errors.ts';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import { initFleet } from '../../src/fleet/database/init-fleet.ts';
import { TABLES_VERSION } from '../../src/fleet/database/migrations.ts';
import {
  ANY,
  ASKING,
  checkpointAt,
  claimed,
  fleetEvent,
  LATE,
  NOTHING,
  newFleetTask,
} from '../helpers/fleet-tasks.ts';
import { ENGINE_FROM } from '../helpers/install-engine.ts';
import { openTestFleet, type Postgres, startPostgres } from '../helpers/postgres.ts';

// The roles of docs/fleet.sql, on a real server.

const GRANTS = readFileSync(new URL('../../docs/fleet.sql', import.meta.url), 'utf8');

let postgres: Postgres;
let url: string;
let owner: FleetQueue;

beforeAll(async () => {
  postgres = await startPostgres();
  url = await postgres.url();
  // As it is before PostgreSQL 15.
  await postgres.sql(url, 'grant create on schema public to public');
  await postgres.sql(url, GRANTS);
  // Each further `ralph fleet init` is followed by one more run.
  await postgres.sql(url, GRANTS);
  await postgres.sql(url, 'create role sue login in role ralph_submitter');
  await postgres.sql(url, 'create role rob login in role ralph_reader');
  await postgres.sql(url, 'create role other login');
  owner = await openTestFleet(url);
});

afterAll(async () => {
  await owner.close();
  await postgres.stop();
});

async function openAs(role: string): Promise<FleetQueue> {
  const queue = await openTestFleet(url.replace('ralph@', `${role}@`));
  onTestFinished(() => queue.close());
  return queue;
}

test('a submitter submits, and reads the state of a task', async () => {
  const queue = await openAs('sue');
  const tasks = [newFleetTask('s1', { queue: 'new-one' }), newFleetTask('s2')];
  expect(await queue.submit(tasks)).toEqual([
    { kind: 'queued', taskId: 's1' },
    { kind: 'queued', taskId: 's2' },
  ]);
  expect(await queue.submit(tasks)).toMatchObject([
    { kind: 'already-queued' },
    { kind: 'already-queued' },
  ]);
  expect(await queue.task('s1')).toMatchObject({ status: 'pending' });
  // A worker makes the jobs.
  expect(await owner.claim({ ...ANY, queues: ['new-one'] })).toBeNull();
  expect(await owner.sweep()).toEqual([]);
  expect((await claimed(owner, { queues: ['new-one'] })).taskId).toBe('s1');
  expect((await claimed(owner)).taskId).toBe('s2');
});

test('a submitter writes nothing that the engine trusts, and no settings in place of others', async () => {
  const asSue = url.replace('ralph@', 'sue@');
  for (const statement of [
    "insert into ralph_queue.job (name, singleton_key) values ('ralph-s1-default', 'x')",
    "insert into ralph_queue.job_common (name, singleton_key) values ('ralph-s1-default', 'x')",
    "select ralph_queue.create_queue('ralph-s1-default', '{}')",
    "insert into ralph.task (task_id, spec, setting_set, content_sha256, schema, queue, account, priority, job) select 'x', spec, setting_set, '', 1, 'q', 'a', 0, job from ralph.task limit 1",
  ]) {
    await expect(postgres.sql(asSue, statement)).rejects.toThrow(/permission denied/);
  }
  const settings = { maxIterations: { value: 3, source: 'default', from: 'default' } } as const;
  const name = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 32);
  await expect(
    postgres.sql(asSue, `insert into ralph.setting_set values ('${name}', '{"evil": true}')`),
  ).rejects.toThrow(/check constraint/);
  await owner.submit([newFleetTask('mine', { queue: 'mine', settings })]);
  expect((await owner.task('mine'))?.spec.settings).toEqual(settings);
});

test('an operator that a submitter has made is not run by others', async () => {
  const asSue = url.replace('ralph@', 'sue@');
  const plant = `
    create function public.plant(text[], text) returns text[] language plpgsql as $$
      begin raise exception 'planted'; end $$;
    create operator public.|| (leftarg = text[], rightarg = text, function = public.plant)`;
  await expect(postgres.sql(asSue, plant)).rejects.toThrow(/permission denied for schema public/);
  await postgres.sql(url, 'grant create on schema public to sue');
  await postgres.sql(asSue, plant);
  await expect(postgres.sql(url, "select array['a'] || 'b'::text")).rejects.toThrow('planted');
  await owner.submit([newFleetTask('guarded', { queue: 'guarded' })]);
  expect(await claimed(owner, { queues: ['guarded'] })).toMatchObject({ taskId: 'guarded' });
});

test('nobody else connects, in whose database of whatever name the tables are', async () => {
  await postgres.sql(url, 'create role "Ann" login');
  const isRefused = (to: string) =>
    expect(
      postgres.sql(to.replace('ralph@', 'other@'), 'select pg_advisory_lock(1)'),
    ).rejects.toThrow(/permission denied for database/);
  await isRefused(url);
  await expect(openTestFleet(url.replace('ralph@', 'other@'))).rejects.toThrow(/docs\/fleet\.sql/);
  // A superuser runs it, and the tables are somebody else's.
  const odd = await postgres.url('Our Fleet');
  await postgres.sql(odd, 'alter schema ralph owner to "Ann"');
  await postgres.sql(odd, GRANTS);
  await isRefused(odd);
  expect(await postgres.sql(odd.replace('ralph@', 'Ann@'), 'select 1')).toBe('1');
});

test('an owner of the tables who does not own the database gives the other rights', async () => {
  const given = await postgres.emptyUrl('given');
  await postgres.sql(given, 'create role lee login; grant create on database given to lee');
  const asLee = given.replace('ralph@', 'lee@');
  await initFleet({ url: asLee, env: {}, leaseMs: null, engineFrom: ENGINE_FROM });
  await postgres.sql(asLee, GRANTS);
  const asSue = given.replace('ralph@', 'sue@');
  expect(await postgres.sql(asSue, 'select count(*) from ralph.task')).toBe('0');
  // Then the owner of the database runs it, too.
  await postgres.sql(given, GRANTS);
  for (const to of [asLee, asSue]) expect(await postgres.sql(to, 'select 1')).toBe('1');
  await expect(postgres.sql(given.replace('ralph@', 'other@'), 'select 1')).rejects.toThrow(
    /permission denied for database/,
  );
});

/** Runs `work` while a submitter holds an advisory lock, which everybody may who connects. */
async function whileHeld(name: string, work: () => Promise<void>): Promise<void> {
  // Until the session of psql ends.
  const held = postgres.sql(
    url.replace('ralph@', 'sue@'),
    `select pg_advisory_lock(hashtext('${name}')), pg_sleep(600)`,
  );
  const ended = held.catch(() => 'ended by the test');
  const locks = () =>
    postgres.sql(url, "select count(*) from pg_locks where locktype = 'advisory' and granted");
  try {
    await expect.poll(locks).toBe('1');
    await work();
  } finally {
    await postgres.sql(
      url,
      "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()",
    );
    await ended;
  }
}

test('a submitter cannot keep the workers from sweeping', async () => {
  await owner.submit([newFleetTask('swept', { queue: 'swept' })]);
  await postgres.sql(url, "delete from ralph_queue.job where singleton_key = 'swept'");
  const queue = await openAs('sue');
  expect(await queue.sweep().then(() => 'swept', String)).toContain('permission denied');
  await whileHeld('ralph.sweep', async () => {
    expect(await owner.sweep()).toEqual([]);
  });
  expect((await claimed(owner, { queues: ['swept'] })).taskId).toBe('swept');
});

test('a submitter cannot keep the tables from being brought up to date', async () => {
  await whileHeld('ralph.init', async () => {
    const given = { url, env: {}, leaseMs: null, engineFrom: ENGINE_FROM };
    expect(await initFleet(given)).toMatchObject({ tables: { to: TABLES_VERSION } });
  });
  await expect(
    postgres.sql(
      url.replace('ralph@', 'sue@'),
      'begin; lock table ralph.meta in share row exclusive mode',
    ),
  ).rejects.toThrow(/permission denied/);
});

test('a submitter neither approves nor steers, nor touches what workers write', async () => {
  await owner.submit([newFleetTask('asks', { queue: 'asks' })]);
  const claim = await claimed(owner, { queues: ['asks'] });
  await owner.askApproval(claim, { id: 'p1', text: 'May I?', expiresInMs: 3_600_000 });
  await owner.park(claim, checkpointAt(1), NOTHING, ASKING);
  const queue = await openAs('sue');
  const refused = (work: Promise<unknown>) => expect(work).rejects.toThrow(FleetError);
  await refused(queue.answer('asks', { verdict: 'approved', by: 'sue', comment: null }));
  await refused(queue.request('asks', { kind: 'stop', by: 'sue' }));
  await refused(queue.resume('asks'));
  await refused(queue.setAccount('default', { slots: 1 }));
  await refused(queue.prune(['asks'], LATE));
  await refused(queue.checkpoint('asks'));
  await refused(queue.logs('asks', 0));
  await refused(
    queue.claim({
      workerId: 'w',
      host: 'h',
      queues: ['asks'],
      accounts: null,
      schema: 1,
    }),
  );
  const asSue = url.replace('ralph@', 'sue@');
  for (const statement of [
    "update ralph.checkpoint set status = 'completed'",
    "update ralph.task set status = 'completed'",
    "insert into ralph.task (task_id, spec, setting_set, content_sha256, schema, queue, account, priority, fence) select 'x', spec, setting_set, '', 1, 'q', 'a', 0, 7 from ralph.task limit 1",
    "update ralph.approval set verdict = 'approved'",
    "insert into ralph.request (task_id, kind, by) values ('asks', 'stop', 'sue')",
    'select * from ralph.account',
    'delete from ralph_queue.job',
    'update ralph_queue.job_common set priority = 1',
  ]) {
    await expect(postgres.sql(asSue, statement)).rejects.toThrow(/permission denied/);
  }
  expect(await owner.approvals()).toMatchObject([{ taskId: 'asks', answer: null }]);
});

test('a reader reads everything and changes nothing', async () => {
  await owner.submit([newFleetTask('read', { queue: 'read' })]);
  const claim = await claimed(owner, { queues: ['read'] });
  await owner.save(claim, checkpointAt(1), { events: [fleetEvent('one')], requestsDone: [] });
  const queue = await openAs('rob');
  expect((await queue.checkpoint('read'))?.iterations).toBe(1);
  expect(await queue.events('read', 0)).toHaveLength(1);
  expect(await queue.logs('read', 0)).toEqual([]);
  expect(await queue.tasks({})).not.toEqual([]);
  await Promise.all([queue.accounts(), queue.queues(), queue.workers(), queue.approvals()]);
  await expect(queue.submit([newFleetTask('no')])).rejects.toThrow(FleetError);
  await expect(queue.save(claim, checkpointAt(2), NOTHING)).rejects.toThrow(FleetError);
});
