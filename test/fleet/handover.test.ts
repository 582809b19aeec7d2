import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { stubRuns } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { isDead, until } from '../helpers/processes.ts';

// Workers that are told to stop, and tasks that are steered from another host.

const makeScene = useFleetSite(3);

test('a worker that is told to stop hands its tasks over, and no iteration is repeated', async () => {
  const scene = await makeScene({ turn: { seconds: 3, iterations: 3 } });
  const [first, second] = [scene.host(1), scene.host(2)];
  const old = await scene.startWorker(first, ['--slots', '2']);
  const ids = await scene.submit([{ task_id: 'a' }, { task_id: 'b' }]);
  await untilNoted(scene, () => scene.stub.notes().length >= 2);
  await scene.startWorker(second, ['--slots', '2']);
  old.signal('SIGTERM');
  expect(await old.ended).toBe(0);
  expect(first.pids()).toEqual([]);
  await scene.untilEmpty(60_000);

  const audit = await auditFleet(scene, ids, 3);
  expect([audit.problems, audit.starts]).toEqual([[], 6]);
  const hosts = stubRuns(scene.stub.notes()).map(({ host }) => host);
  expect(new Set(hosts)).toEqual(new Set([first.name, second.name]));
});

test('a worker whose patience ends gives its running iteration back, and says so by its exit code', async () => {
  const scene = await makeScene({ turn: { seconds: 600 } });
  const [first, second] = [scene.host(1), scene.host(2)];
  const old = await scene.startWorker(first, ['--drain-timeout', '1s']);
  const ids = await scene.submit([{ task_id: 'a' }]);
  await untilNoted(scene, ({ kind }) => kind === 'START');
  scene.stub.does({ seconds: 1 });
  old.signal('SIGTERM');
  expect(await old.ended).toBe(143);
  await until(
    () => first.pids().every(isDead),
    () => `the end of the agent; ${first.pids()}`,
  );
  expect(await scene.task('a')).toMatchObject({
    ...{ worker: null, claims_without_iteration: 0 },
    parked: { kind: 'handover', why: 'the worker stopped' },
  });
  await scene.startWorker(second);
  await scene.untilEmpty(60_000);
  expect((await auditFleet(scene, ids, 1)).problems).toEqual([]);
});

test('a task is told something, paused, resumed and stopped from another host', async () => {
  const scene = await makeScene({ turn: { seconds: 2, iterations: 40 } });
  const [first, third] = [scene.host(1), scene.host(3)];
  const worker = await scene.startWorker(first);
  const steer = async (...args: readonly string[]): Promise<string> => {
    const end = await scene.ralph(args, {}, third);
    expect([args, end.exitCode, end.stderr]).toEqual([args, 0, expect.any(String)]);
    return end.stdout;
  };
  await scene.submit([{ task_id: 'a', max_iterations: 40 }]);
  await untilNoted(scene, ({ kind }) => kind === 'START');
  await steer('tell', 'a', 'Mind the gap.');
  await until(
    () =>
      Array.from({ length: 20 }, (_, at) => at).some((at) =>
        scene.stub.prompt('a', at).includes('Mind the gap.'),
      ),
    () => `the words of the person in a prompt; ${worker.said()}`,
    30_000,
  );

  await steer('pause', 'a');
  await worker.untilSaid(/^ralph: a: .*pause/m, 30_000);
  await until(
    () => first.pids().every((pid) => pid === worker.pid || isDead(pid)),
    () => `the end of the agent; ${first.pids()}`,
    30_000,
  );
  const before = scene.stub.notes().length;
  // The agent is gone before the claim is given back.
  await expect.poll(() => scene.task('a'), { timeout: 30_000 }).toMatchObject({ worker: null });
  expect(await steer('status', 'a')).toMatch(/paused/);
  await sleep(2_000);
  expect(scene.stub.notes().length).toBe(before);

  await steer('resume', 'a');
  await untilNoted(scene, () => scene.stub.notes().length > before);
  await steer('stop', 'a');
  await until(
    () => first.pids().every((pid) => pid === worker.pid || isDead(pid)),
    () => `the end of the agent; ${worker.said()}`,
    15_000,
  );
  await until(
    () => worker.said().includes('stopped'),
    () => worker.said(),
  );
  await expect
    .poll(() => scene.task('a'), { timeout: 30_000 })
    .toMatchObject({ status: 'stopped', worker: null });
});
