import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { stubRuns } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';

// A usage limit of one account.

const makeScene = useFleetSite(2);
const SLOTS = 2;
/** Long enough for a leg to be parked instead of waiting in its slot. */
const LIMIT_S = 90;

test('a limit is hit by what runs just then, holds no other account, and costs no iteration', {
  timeout: 300_000,
}, async () => {
  const scene = await makeScene();
  const limited = join(scene.folder, 'limited');
  const turn = { seconds: 1, iterations: 2 };
  scene.stub.does({ ...turn, limited });
  const own = Array.from({ length: 10 }, (_, at) => `own${at}`);
  const others = Array.from({ length: 4 }, (_, at) => `other${at}`);
  for (const id of others) scene.stub.does({ ...turn, limited: '' }, id);
  const ids = await scene.submit([
    ...own.map((task_id) => ({ task_id, account: 'small' })),
    ...others.map((task_id) => ({ task_id, account: 'large' })),
  ]);
  const resetMs = (Math.floor(Date.now() / 1_000) + LIMIT_S) * 1_000;
  writeFileSync(limited, String(resetMs / 1_000));
  for (const host of [scene.host(1), scene.host(2)]) {
    await scene.startWorker(host, ['--slots', String(SLOTS)]);
  }

  const done = others.length * turn.iterations;
  await untilNoted(scene, () => {
    const ends = scene.stub.notes().filter(({ kind }) => kind === 'END');
    return ends.length >= done;
  });
  // The other account is done before the limit is over, while nobody works for the limited one.
  expect(Date.now()).toBeLessThan(resetMs);
  const tasks = await scene.tasks();
  expect(tasks.filter(({ worker, spec }) => worker !== null && spec.account === 'small')).toEqual(
    [],
  );
  expect((await scene.queue.accounts()).find(({ name }) => name === 'small')).toMatchObject({
    pausedUntil: expect.any(String),
  });

  await scene.untilEmpty(200_000);
  const notes = scene.stub.notes();
  const hits = notes.filter(({ kind }) => kind === 'LIMIT');
  expect(hits.length).toBeGreaterThan(0);
  expect(hits.length).toBeLessThanOrEqual(2 * SLOTS);
  expect((await auditFleet(scene, ids, turn.iterations)).problems).toEqual([]);
  const early = stubRuns(notes).filter(
    ({ task, startedMs }) => task.startsWith('own') && startedMs < resetMs,
  );
  expect(early.length).toBe(hits.length);
});
