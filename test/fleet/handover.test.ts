import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { isDead, until } from '../helpers/processes.ts';

// Tasks that are steered from another host.

const makeScene = useFleetSite(3);

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
  expect(await scene.task('a')).toMatchObject({ worker: null });
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
  expect(await scene.task('a')).toMatchObject({ status: 'stopped', worker: null });
});
