import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { sized, slack } from '../helpers/fleet-size.ts';
import { stubRuns } from '../helpers/fleet-stub.ts';
import { checkpointAt, claimed, NOTHING } from '../helpers/fleet-tasks.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { isDead, until } from '../helpers/processes.ts';

// A usage limit of one account, and tasks that wait for long.

const TASKS = sized(14, 200);
const HOSTS = sized(2, 3);
const SLOTS = sized(2, 4);
/** Long enough for a leg to be parked instead of waiting in its slot, and for the other account to be done. */
const LIMIT_S = Math.max(90, 3 * TASKS);
const PATIENCE_MS = 200_000 + TASKS * 5_000;
const PARKED = sized(20, 2_000);
const HOUR_MS = 3_600_000;

const makeScene = useFleetSite(HOSTS);

test('a limit is hit by what runs just then, holds no other account, and costs no iteration', {
  timeout: 5 * PATIENCE_MS,
}, async ({ annotate }) => {
  const scene = await makeScene();
  const limited = join(scene.folder, 'limited');
  const turn = { seconds: 1, iterations: 2 };
  scene.stub.does({ ...turn, limited });
  const isOther = (at: number): boolean => at >= TASKS * 0.7;
  const all = Array.from({ length: TASKS }, (_, at) => `${isOther(at) ? 'other' : 'own'}${at}`);
  const others = all.filter((id) => id.startsWith('other'));
  for (const id of others) scene.stub.does({ ...turn, limited: '' }, id);
  const ids = await scene.submit(
    all.map((task_id) => ({ task_id, account: others.includes(task_id) ? 'large' : 'small' })),
  );
  const resetMs = (Math.floor(Date.now() / 1_000) + LIMIT_S) * 1_000;
  writeFileSync(limited, String(resetMs / 1_000));
  for (const host of scene.hosts) {
    await scene.startWorker(host, ['--slots', String(SLOTS)]);
  }

  const done = others.length * turn.iterations;
  await untilNoted(
    scene,
    () => scene.stub.notes().filter(({ kind }) => kind === 'END').length >= done,
    LIMIT_S * 1_000,
  );
  // The other account is done before the limit is over, while nobody works for the limited one.
  expect(Date.now()).toBeLessThan(resetMs);
  const tasks = await scene.tasks();
  expect(tasks.filter(({ worker, spec }) => worker !== null && spec.account === 'small')).toEqual(
    [],
  );
  expect((await scene.queue.accounts()).find(({ account }) => account === 'small')).toMatchObject({
    paused_until: expect.any(String),
  });

  await scene.untilEmpty(PATIENCE_MS);
  const notes = scene.stub.notes();
  const hits = notes.filter(({ kind }) => kind === 'LIMIT');
  expect(hits.length).toBeGreaterThan(0);
  expect(hits.length).toBeLessThanOrEqual(HOSTS * SLOTS);
  expect((await auditFleet(scene, ids, turn.iterations)).problems).toEqual([]);
  const early = stubRuns(notes).filter(
    ({ task, startedMs }) => task.startsWith('own') && startedMs < resetMs,
  );
  expect(early.length).toBe(hits.length);
  await annotate(`${hits.length} hits of ${all.length - others.length} tasks`);
});

test('what is parked keeps no slot, no process and no connection, and goes on elsewhere once it is approved', {
  timeout: 1_200_000 + PARKED * 200,
}, async ({ annotate }) => {
  const scene = await makeScene();
  const limited = join(scene.folder, 'limited');
  writeFileSync(limited, String(Math.floor((Date.now() + 5 * HOUR_MS) / 1_000)));
  scene.stub.does({ limited }, 'limited');
  const asks = `[ $RALPH_ITERATION -gt 1 ] || text="<approval id='deploy'>deploy it</approval>"`;
  scene.stub.does({ before: asks, iterations: 2, seconds: 0 }, 'asks');
  const ids = Array.from({ length: PARKED - 2 }, (_, at) => `rest${at}`);
  await scene.submit(ids.map((id) => ({ task_id: id, account: id })));
  for (const [at] of ids.entries()) await parkNext(scene.queue, at % 2 === 0);

  const [first, second] = [
    await scene.startWorker(scene.host(1)),
    await scene.startWorker(scene.host(2)),
  ];
  await scene.submit([
    { task_id: 'limited', account: 'limited' },
    { task_id: 'asks', approval_timeout: '2d' },
  ]);
  const counts = async () =>
    (await scene.queue.queues()).map(({ waiting, running, parked }) => [waiting, running, parked]);
  await expect.poll(counts, { interval: 200 }).toEqual([[0, 0, PARKED]]);
  for (const { host, pid } of [first, second]) {
    await until(
      () => host.pids().every((each) => each === pid || isDead(each)),
      () => `the worker alone on ${host.name}; ${host.pids()}`,
    );
  }
  const connections = await scene.site.postgres.sql(
    scene.url,
    "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'ralph'",
  );
  // That of this test, and two of each worker.
  expect(Number(connections)).toBeLessThanOrEqual(5);

  const before = scene.stub.notes().find(({ task }) => task === 'asks');
  const [there, elsewhere] = before?.host === first.host.name ? [first, second] : [second, first];
  there.signal('SIGTERM');
  expect(await there.ended).toBe(0);
  const approve = await scene.ralph(['approve', 'asks']);
  expect([approve.exitCode, approve.stderr]).toEqual([0, expect.any(String)]);
  const approvedMs = Date.now();
  const start = await untilNoted(
    scene,
    ({ task, iteration }) => task === 'asks' && iteration === 2,
  );
  expect(start.host).toBe(elsewhere.host.name);
  // A look at the queue, and a second.
  expect(start.atMs - approvedMs).toBeLessThan(1_500 + slack(58_500));
  const status = await scene.ralph(['fleet', 'status', '--json']);
  await annotate(
    `${connections} connections; the agent started ${start.atMs - approvedMs} ms after the approval; fleet status took ${Math.round(status.durationMs)} ms`,
  );
  await expect
    .poll(() => scene.task('asks'), { interval: 200 })
    .toMatchObject({ status: 'completed', iterations: 2 });
});

/** Claims the next task and parks it: at a usage limit for five hours, or for an approval for two days. */
async function parkNext(queue: FleetQueue, isLimit: boolean): Promise<void> {
  const claim = await claimed(queue);
  const inMs = isLimit ? 5 * HOUR_MS : 48 * HOUR_MS;
  const until = new Date(Date.now() + inMs).toISOString();
  if (!isLimit) {
    const approval = { id: 'deploy', text: 'May I deploy it?', expiresInMs: inMs };
    expect(await queue.askApproval(claim, approval)).toBe(true);
  }
  const parking = isLimit
    ? { kind: 'wait' as const, until, inMs, account: true }
    : { kind: 'approval' as const, until, inMs };
  expect(await queue.park(claim, checkpointAt(1), NOTHING, parking)).toBe(true);
}
