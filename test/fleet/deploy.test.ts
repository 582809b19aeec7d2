import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { untilOnly } from '../helpers/fleet-stops.ts';
import { useFleetSite } from '../helpers/fleet-test.ts';
import { buildNewerRalph } from '../helpers/newer-ralph.ts';
import { until } from '../helpers/processes.ts';

// Workers that are replaced by those of a newer release while their tasks run.

const makeScene = useFleetSite(3);

test('newer workers take the place of older ones one by one, and no iteration is repeated', async () => {
  const program = await buildNewerRalph();
  const scene = await makeScene();
  const gate = join(scene.folder, 'gate');
  // No older worker is done with a task, and claims another one, before the release is newer.
  const waits = `until [ -e '${gate}' ]; do sleep 0.1; done`;
  scene.stub.does({ before: waits, seconds: 3, iterations: 4 });
  const slots = ['--slots', '2'];
  const old = await Promise.all(scene.hosts.map((host) => scene.startWorker(host, slots)));
  const claims = (): number => old.flatMap((worker) => worker.said().match(/took /g) ?? []).length;
  const ids = await scene.submit(Array.from({ length: 8 }, (_, at) => ({ task_id: `t${at}` })));
  await until(
    () => claims() === 6,
    () => `six claims; ${old.map((worker) => worker.said()).join('')}`,
  );

  const init = await scene.ralph(['fleet', 'init'], { program });
  expect([init.exitCode, init.stderr]).toEqual([0, expect.any(String)]);
  const newest = { task_id: 'newest', prompt: 'x', repo: scene.origin.url, max_iterations: 9 };
  const input = JSON.stringify({ ...newest, delay: '0s' });
  const submit = await scene.ralph(['submit', '--batch', '-'], { program, input });
  expect([submit.exitCode, submit.stderr]).toEqual([0, expect.any(String)]);
  const late = await scene.ralph(['worker'], {}, scene.host(1));
  expect([late.exitCode, late.stderr]).toEqual([1, expect.stringContaining('newer ralph')]);
  writeFileSync(gate, '');

  for (const worker of old) {
    // The last one stays until it would claim again.
    if (worker === old.at(-1)) await worker.untilSaid(/tables of a newer ralph/);
    worker.signal('SIGTERM');
    expect(await worker.ended).toBe(0);
    // Its guard ends soon after it.
    await untilOnly(worker.host, []);
    await scene.startWorker(worker.host, slots, program);
  }
  expect(claims()).toBe(6);
  await scene.untilEmpty();
  const audit = await auditFleet(scene, [...ids, 'newest'], 4);
  expect([audit.problems, audit.starts]).toEqual([[], 36]);
  expect(claims()).toBe(6);
});
