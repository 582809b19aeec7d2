import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { hasNamespaces } from '../helpers/fleet-hosts.ts';
import { soakFleet } from '../helpers/fleet-soak.ts';
import { stubProblems, stubRuns } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { isDead, until } from '../helpers/processes.ts';

// Workers that are killed, stopped or cut off: no iteration is lost or counted twice, and no two agents of a task
// run at once. RALPH_FLEET_KILLS=20 RALPH_FLEET_SEED=7 kills more often, and at other moments.

const KILLS = Number(process.env.RALPH_FLEET_KILLS ?? 5);
const SEED = Number(process.env.RALPH_FLEET_SEED ?? 1);
const LEASE_MS = 10_000;
/** How long after a lease ran out another worker may take to claim: a sweep and a look. */
const CLAIM_MS = 10_500;
/** For a machine that is busy with other tests. */
const SLACK_MS = 15_000;

const makeScene = useFleetSite(2);

test('killed workers lose and repeat nothing that was counted', { timeout: 400_000 }, async () => {
  const scene = await makeScene({ turn: { seconds: 1, iterations: 4 } });
  const ids = await scene.submit(Array.from({ length: 6 }, (_, at) => ({ task_id: `t${at}` })));
  const soaked = await soakFleet(scene, {
    ...{ seed: SEED, slots: 2, leaseMs: LEASE_MS, everyMs: 3_000, kinds: ['killed'] },
    goesOn: (count) => count < KILLS,
    patienceMs: 200_000,
    tell: () => {},
  });
  const audit = await auditFleet(scene, ids, 4);
  expect([...soaked.problems, ...audit.problems]).toEqual([]);
  expect(audit).toMatchObject({ ended: 6, iterations: 24 });
});

test('another worker goes on soon after a kill, and the next worker there removes what was left', async () => {
  const scene = await makeScene({ turn: { seconds: 2, iterations: 2 } });
  const [first, second] = [scene.host(1), scene.host(2)];
  const killed = await scene.startWorker(first);
  const ids = await scene.submit([{ task_id: 'a' }]);
  await untilNoted(scene, ({ kind, iteration }) => kind === 'START' && iteration === 2);
  await scene.startWorker(second);
  killed.signal('SIGKILL');
  const killedMs = Date.now();

  const start = await untilNoted(scene, ({ host }) => host === second.name);
  expect(start).toMatchObject({ kind: 'START', task: 'a', iteration: 2 });
  expect(start.atMs - killedMs).toBeLessThan(LEASE_MS + CLAIM_MS + SLACK_MS);
  await scene.untilEmpty(60_000);
  expect((await auditFleet(scene, ids, 2)).problems).toEqual([]);

  const legs = join(first.home, 'state', 'ralph-worker', 'legs');
  expect(readdirSync(legs)).toEqual(['a.1']);
  const next = await scene.startWorker(first);
  await next.untilSaid(/removed the leg a\.1/);
  expect(readdirSync(legs)).toEqual([]);
});

test('a stopped worker has no agent left when another worker starts one, and drops its leg when it wakes', async () => {
  const scene = await makeScene({ turn: { seconds: 90 } });
  const [first, second] = [scene.host(1), scene.host(2)];
  const stopped = await scene.startWorker(first);
  const ids = await scene.submit([{ task_id: 'a' }]);
  await untilNoted(scene, ({ kind }) => kind === 'START');
  scene.stub.does({ seconds: 3 });
  await scene.startWorker(second);
  stopped.signal('SIGSTOP');
  await untilNoted(scene, ({ host }) => host === second.name);
  stopped.signal('SIGCONT');
  await stopped.untilSaid(/^ralph: a: .*(?:claim is lost|no beat)/m);
  await scene.untilEmpty(60_000);
  const audit = await auditFleet(scene, ids, 1);
  expect([audit.problems, audit.starts]).toEqual([[], 2]);

  const more = await scene.submit([{ task_id: 'b' }, { task_id: 'c' }]);
  await scene.untilEmpty(60_000);
  expect((await auditFleet(scene, [...ids, ...more], 1)).problems).toEqual([]);
  expect(stopped.isAlive()).toBe(true);
});

test.for(['has just claimed', 'is setting up'])(
  'a worker that was stopped when it %s its task starts no agent any more',
  async (moment) => {
    const scene = await makeScene({ turn: { seconds: 1 } });
    const [first, second] = [scene.host(1), scene.host(2)];
    const stopped = await scene.startWorker(first);
    const mark = join(scene.folder, 'set-up');
    const ids = await scene.submit([{ task_id: 'a', setup: `touch ${mark}; sleep 2` }]);
    if (moment === 'has just claimed') await stopped.untilSaid(/claimed a /);
    else {
      await until(
        () => existsSync(mark),
        () => 'the set-up',
        30_000,
      );
    }
    stopped.signal('SIGSTOP');
    await scene.startWorker(second);
    await scene.untilEmpty(90_000);
    stopped.signal('SIGCONT');
    await stopped.untilSaid(/^ralph: a: .*(?:claim is lost|no beat)/m);
    expect(stubRuns(scene.stub.notes()).map(({ host }) => host)).toEqual([second.name]);
    expect((await auditFleet(scene, ids, 1)).problems).toEqual([]);
  },
);

test.for(['SIGKILL', 'SIGSTOP'] as const)(
  'no set-up outlives the lease of its worker: %s',
  async (signal) => {
    const scene = await makeScene();
    const worker = await scene.startWorker(scene.host(1));
    const mark = join(scene.folder, 'set-up');
    const setup = `echo $$ >${mark}.new; mv ${mark}.new ${mark}; exec sleep 600`;
    await scene.submit([{ task_id: 'a', setup }]);
    await until(
      () => existsSync(mark),
      () => `the set-up; ${worker.said()}`,
      30_000,
    );
    const pid = Number(readFileSync(mark, 'utf8'));
    worker.signal(signal);
    await until(
      () => isDead(pid),
      () => 'the end of the set-up',
      LEASE_MS + SLACK_MS,
    );
  },
);

test.skipIf(!hasNamespaces())(
  'a worker that is cut off loses its task to another one, and claims again once it is back',
  async () => {
    const scene = await makeScene({ turn: { seconds: 90 } });
    const [first, second] = [scene.host(1), scene.host(2)];
    const cut = await scene.startWorker(first);
    const ids = await scene.submit([{ task_id: 'a' }]);
    await untilNoted(scene, ({ kind }) => kind === 'START');
    scene.stub.does({ seconds: 1 });
    const other = await scene.startWorker(second);
    await first.cut();
    await untilNoted(scene, ({ kind, host }) => kind === 'END' && host === second.name);
    await scene.untilEmpty(60_000);
    other.signal('SIGTERM');
    expect(await other.ended).toBe(0);
    await first.heal();
    const healedMs = Date.now();

    const more = await scene.submit([{ task_id: 'b' }]);
    const { atMs } = await untilNoted(scene, ({ task }) => task === 'b');
    expect(atMs - healedMs).toBeLessThan(35_000 + SLACK_MS);
    await scene.untilEmpty(60_000);
    expect((await auditFleet(scene, [...ids, ...more], 1)).problems).toEqual([]);
    expect(stubProblems(scene.stub.notes())).toEqual([]);
    expect(cut.isAlive()).toBe(true);
  },
);
