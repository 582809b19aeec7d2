import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { hasNamespaces } from '../helpers/fleet-hosts.ts';
import type { FleetWorker } from '../helpers/fleet-scene.ts';
import { atFullSizeUntil, sized, slack } from '../helpers/fleet-size.ts';
import { freeze, hasStrace, stopAtLook, sweepOften, untilOnly } from '../helpers/fleet-stops.ts';
import { stubProblems, stubRuns } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { isDead, until } from '../helpers/processes.ts';
import { withClock } from '../helpers/wrong-clock.ts';

// Workers that are stopped or cut off: no iteration is lost or counted twice, and no two agents of a task run at once.

const LEASE_MS = 10_000;
/** For a machine that is busy with other tests. */
const SLACK_MS = slack(PATIENCE_MS);
/** What a worker says of a task that is no longer its own. */
const LOST = '(?:claim is lost|no heartbeat)';

const makeScene = useFleetSite(2);

test('a stopped worker has no agent left when another worker starts one, and drops its leg when it wakes', async () => {
  const scene = await makeScene({ turn: { seconds: 90 } });
  const [first, second] = [scene.host(1), scene.host(2)];
  const stopped = await scene.startWorker(first);
  const ids = await scene.submit([{ task_id: 'a' }]);
  await untilNoted(scene, ({ kind }) => kind === 'START');
  scene.stub.does({ seconds: 3 });
  await scene.startWorker(second);
  stopped.signal('SIGSTOP');
  const stoppedMs = Date.now();
  await untilNoted(scene, ({ host }) => host === second.name);
  await atFullSizeUntil(stoppedMs, 2 * LEASE_MS);
  stopped.signal('SIGCONT');
  await stopped.untilSaid(new RegExp(`^ralph: a: .*${LOST}`, 'm'));
  await scene.untilEmpty();
  const audit = await auditFleet(scene, ids, 1);
  expect([audit.problems, audit.starts]).toEqual([[], 2]);

  const more = await scene.submit([{ task_id: 'b' }, { task_id: 'c' }]);
  await scene.untilEmpty();
  expect((await auditFleet(scene, [...ids, ...more], 1)).problems).toEqual([]);
  expect(stopped.isAlive()).toBe(true);
});

/** When a worker is stopped: each before it starts an agent, the last one in its second iteration. */
const MOMENTS = ['claimed', 'setting-up', ...(hasStrace() ? ['starting'] : [])];

test('a worker that was stopped before it starts an agent starts none any more', async () => {
  const scene = await makeScene({ turn: { seconds: 1, iterations: 2 } });
  const [first, second] = [scene.host(1), scene.host(2)];
  const [mark, gate] = [join(scene.folder, 'set-up'), join(scene.folder, 'gate')];
  const waits = `until [ -e '${gate}' ]; do sleep 0.1; done`;
  scene.stub.does({ seconds: 0, iterations: 2, before: waits }, 'starting');
  const workers = await Promise.all(
    MOMENTS.map((queue) => scene.startWorker(first, ['--queue', queue])),
  );
  const ids = await scene.submit(
    MOMENTS.map((name) => ({
      task_id: name,
      queue: name,
      setup: `touch ${mark}.${name}; sleep 1`,
    })),
  );
  const stopAt = async (moment: string, worker: FleetWorker): Promise<void> => {
    if (moment === 'claimed') await worker.untilSaid(/took /);
    else if (moment === 'setting-up')
      await until(
        () => existsSync(`${mark}.${moment}`),
        () => `the set-up; ${worker.said()}`,
      );
    else {
      await untilNoted(scene, ({ task }) => task === moment);
      const { untilStopped } = await stopAtLook(worker.pid, join(scene.stub.bin, 'claude'));
      writeFileSync(gate, '');
      await untilStopped();
    }
    worker.signal('SIGSTOP');
  };
  await Promise.all(workers.map((worker, at) => stopAt(MOMENTS[at] ?? '', worker)));

  sweepOften(scene);
  const queues = MOMENTS.flatMap((name) => ['--queue', name]);
  await scene.startWorker(second, ['--slots', String(MOMENTS.length), ...queues]);
  await scene.untilEmpty();
  for (const worker of workers) worker.signal('SIGCONT');
  for (const [at, worker] of workers.entries()) {
    await worker.untilSaid(new RegExp(`^ralph: ${MOMENTS[at]}: .*${LOST}`, 'm'));
  }
  await untilOnly(first, workers);
  const agents = stubRuns(scene.stub.notes()).filter(({ host }) => host === first.name);
  expect(agents.map(({ task, iteration }) => [task, iteration])).toEqual(
    MOMENTS.slice(2).map((moment) => [moment, 1]),
  );
  expect((await auditFleet(scene, ids, 2)).problems).toEqual([]);
});

test.skipIf(!hasNamespaces())(
  'a host that was stopped with its guards ends its agents within a second of waking',
  async () => {
    const scene = await makeScene();
    const [first, second] = [scene.host(1), scene.host(2)];
    const [ticks, gate] = [join(scene.folder, 'ticks'), join(scene.folder, 'gate')];
    // One agent would go on for long after its host wakes, the other one is done then.
    const before = `while sleep 0.1; do date +%s%3N >>'${ticks}'; done &`;
    scene.stub.does({ seconds: 90, before }, 'long');
    const waits = `until [ -e '${gate}' ]; do sleep 0.1; done`;
    scene.stub.does({ seconds: 0, before: waits }, 'short');
    writeFileSync(ticks, '');
    const slots = ['--slots', '2'];
    const stopped = await scene.startWorker(first, slots);
    const ids = await scene.submit([{ task_id: 'long' }, { task_id: 'short' }]);
    await untilNoted(scene, () => stubRuns(scene.stub.notes()).length === 2);
    await freeze(first);
    const frozenMs = Date.now();
    writeFileSync(gate, '');
    // At work when the others wake.
    for (const id of ids) scene.stub.does({ seconds: sized(4, 60) }, id);
    sweepOften(scene);
    await scene.startWorker(second, slots);
    const isNew = ({ host }: { readonly host: string }): boolean => host === second.name;
    await untilNoted(scene, () => stubRuns(scene.stub.notes()).filter(isNew).length === 2);
    await atFullSizeUntil(frozenMs, 60_000);

    const wokenMs = Date.now();
    first.signalAll('SIGCONT');
    for (const id of ids) await stopped.untilSaid(new RegExp(`^ralph: ${id}: .*${LOST}`, 'm'));
    await untilOnly(first, [stopped]);
    await scene.untilEmpty();
    const runs = stubRuns(scene.stub.notes());
    const signs = [
      ...readFileSync(ticks, 'utf8').split('\n').map(Number),
      ...runs.filter(({ host }) => host === first.name).map(({ endedMs }) => endedMs ?? 0),
    ];
    expect(Math.max(...signs) - wokenMs).toBeLessThan(1_000 + SLACK_MS);

    // The agents that were stopped held their locks meanwhile.
    const { problems } = await auditFleet(scene, ids, 1);
    const overlaps = /another one was at work|two agents at once/;
    expect(problems.filter((each) => !overlaps.test(each))).toEqual([]);
    for (const id of ids) {
      const work = scene.origin.git('show', `ralph/${id}:work.txt`);
      const own = runs.find((run) => run.task === id && isNew(run));
      expect(work).toBe(`${id}/1/${own?.pid}`);
    }
    expect(stopped.isAlive()).toBe(true);
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
  'a worker that is cut off loses its task to another one, and claims again once it is back, whatever the clocks say',
  async () => {
    const scene = await makeScene({ turn: { seconds: 90 } });
    const [first, second] = [
      await withClock(scene.host(1), '+1h'),
      await withClock(scene.host(2), '-1h'),
    ];
    const cut = await scene.startWorker(first);
    const ids = await scene.submit([{ task_id: 'a' }]);
    await untilNoted(scene, ({ kind }) => kind === 'START');
    scene.stub.does({ seconds: 1 });
    const other = await scene.startWorker(second);
    await first.cut();
    const cutMs = Date.now();
    await untilNoted(scene, ({ kind, host }) => kind === 'END' && host === second.name);
    await scene.untilEmpty();
    other.signal('SIGTERM');
    expect(await other.ended).toBe(0);
    await atFullSizeUntil(cutMs, 60_000);
    await first.heal();
    const healedMs = Date.now();

    const more = await scene.submit([{ task_id: 'b' }]);
    const { atMs } = await untilNoted(scene, ({ task }) => task === 'b');
    expect(atMs - healedMs).toBeLessThan(35_000 + SLACK_MS);
    await scene.untilEmpty();
    expect((await auditFleet(scene, [...ids, ...more], 1)).problems).toEqual([]);
    expect(stubProblems(scene.stub.notes())).toEqual([]);
    expect(cut.isAlive()).toBe(true);
    const events = await scene.queue.events('a', 0);
    const times = events.map(({ event }) => Date.parse(event.at));
    const hoursApart = Math.round((Math.max(...times) - Math.min(...times)) / 3_600_000);
    expect(hoursApart).toBe(first.env.FAKETIME === undefined ? 0 : 2);
  },
);
