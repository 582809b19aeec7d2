import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { sized } from '../helpers/fleet-size.ts';
import { untilOnly } from '../helpers/fleet-stops.ts';
import { repeatedStarts } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';

// PostgreSQL that crashes under busy workers.

const makeScene = useFleetSite(2);
const SLOTS = ['--slots', '4'];

test('a database that is back before the leases run out costs nothing', async () => {
  const scene = await makeScene({
    lease: sized('2m', '30s'),
    turn: { seconds: 4, iterations: 2 },
  });
  const workers = await Promise.all(
    [scene.host(1), scene.host(2)].map((host) => scene.startWorker(host, SLOTS)),
  );
  const ids = await scene.submit(Array.from({ length: 8 }, (_, at) => ({ task_id: `t${at}` })));
  await untilNoted(scene, () => scene.stub.notes().length >= 8);
  await scene.site.postgres.crash();
  await sleep(sized(8_000, 15_000));
  await scene.site.postgres.start();
  await scene.untilEmpty();

  const audit = await auditFleet(scene, ids, 2);
  expect(audit).toMatchObject({ problems: [], ended: 8, starts: 16 });
  for (const worker of workers) worker.signal('SIGTERM');
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
  // Their guards end soon after them.
  for (const host of scene.hosts) await untilOnly(host, []);
});

test('a database that is away for longer costs each slot one iteration at most', async () => {
  const scene = await makeScene({ lease: '10s', turn: { seconds: 14, iterations: 2 } });
  for (const host of [scene.host(1), scene.host(2)]) await scene.startWorker(host, SLOTS);
  const ids = await scene.submit(Array.from({ length: 8 }, (_, at) => ({ task_id: `t${at}` })));
  await untilNoted(scene, () => scene.stub.notes().length >= 8);
  await scene.site.postgres.crash();
  await sleep(sized(20_000, 60_000));
  scene.stub.does({ seconds: 2, iterations: 2 });
  await scene.site.postgres.start();
  await scene.untilEmpty();

  expect((await auditFleet(scene, ids, 2)).problems).toEqual([]);
  const repeated = repeatedStarts(scene.stub.notes());
  expect(repeated).toBeGreaterThan(0);
  expect(repeated).toBeLessThanOrEqual(8);
});
