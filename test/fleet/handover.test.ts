import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { slack } from '../helpers/fleet-size.ts';
import { untilOnly } from '../helpers/fleet-stops.ts';
import { stubRuns } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { isDead, until } from '../helpers/processes.ts';

// Workers that are told to stop, and tasks that are steered from another host.

const makeScene = useFleetSite(3);
/** How often the workers of the tests look for a task. */
const POLL_MS = 500;
/** For a machine that is busy with other tests. */
const SLACK_MS = slack(PATIENCE_MS);
/** How long a request may take to reach a running task. */
const REACH_MS = 2_000 + slack(PATIENCE_MS);

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
  await scene.untilEmpty();
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
  const notesOf = (id: string): number =>
    scene.stub.notes().filter(({ task }) => task === id).length;
  await scene.submit([{ task_id: 'a', max_iterations: 40 }]);
  await untilNoted(scene, ({ kind }) => kind === 'START');
  /** The starts of its agents when a request had to be known, up to the iteration that has heard of it. */
  const lateStarts = (requestMs: number, first = Number.POSITIVE_INFINITY) =>
    stubRuns(scene.stub.notes()).filter(
      ({ startedMs, iteration }) => startedMs > requestMs + REACH_MS && iteration < first,
    );
  await steer('tell', 'a', 'Mind the gap.');
  const toldMs = Date.now();
  const hearing = await until(
    () =>
      Array.from({ length: 20 }, (_, at) => at).find((at) =>
        scene.stub.prompt('a', at).includes('Mind the gap.'),
      ),
    () => `the words of the person in a prompt; ${worker.said()}`,
  );
  expect(lateStarts(toldMs, hearing)).toEqual([]);

  await steer('pause', 'a');
  const pausedMs = Date.now();
  await worker.untilSaid(/^ralph: a: .*pause/m);
  await untilOnly(first, [worker]);
  expect(lateStarts(pausedMs)).toEqual([]);
  const before = notesOf('a');
  // Between the end of the agent and that of the leg nothing may run for a moment.
  const holder = async (): Promise<string | null> => (await scene.task('a')).worker;
  await expect.poll(holder).toBeNull();
  expect(await steer('status', 'a')).toMatch(/paused/);
  // The worker looks for tasks again and again, and leaves the paused one, though it is older.
  scene.stub.does({ seconds: 0 }, 'b');
  await scene.submit([{ task_id: 'b' }]);
  await expect.poll(async () => (await scene.task('b')).status).toBe('completed');
  expect(notesOf('a')).toBe(before);

  await steer('resume', 'a');
  await untilNoted(scene, () => notesOf('a') > before);
  await steer('stop', 'a');
  await untilOnly(first, [worker], 7_000 + SLACK_MS);
  await until(
    () => worker.said().includes('stopped'),
    () => worker.said(),
  );
  await expect.poll(holder).toBeNull();
  expect(await scene.task('a')).toMatchObject({ status: 'stopped' });
});

test('an approval from a third host starts the agent on another host at once', async () => {
  const scene = await makeScene();
  const [first, second, third] = [scene.host(1), scene.host(2), scene.host(3)];
  const asks = `[ "$RALPH_ITERATION" != 1 ] || text="<approval id='deploy'>deploy it</approval>"`;
  scene.stub.does({ seconds: 0, iterations: 2, after: asks });
  const old = await scene.startWorker(first);
  const ids = await scene.submit([{ task_id: 'a' }]);
  await old.untilSaid(/^ralph: a: parked \(approval\)/m);
  await untilOnly(first, [old]);
  old.signal('SIGTERM');
  expect(await old.ended).toBe(0);
  await scene.startWorker(second);

  const end = await scene.ralph(['approve', 'a'], {}, third);
  const answeredMs = Date.now();
  expect([end.exitCode, end.stderr]).toEqual([0, expect.any(String)]);
  const start = await untilNoted(scene, ({ host }) => host === second.name);
  expect(start).toMatchObject({ kind: 'START', task: 'a', iteration: 2 });
  expect(start.atMs - answeredMs).toBeLessThan(POLL_MS + 1_000 + SLACK_MS);
  await scene.untilEmpty();
  const audit = await auditFleet(scene, ids, 2);
  expect([audit.problems, audit.starts]).toEqual([[], 2]);
});
