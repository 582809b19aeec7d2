import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { dieAtPushes, endLeases, holdWrites } from '../helpers/fleet-faults.ts';
import { stubRuns } from '../helpers/fleet-stub.ts';
import { useFleetSite } from '../helpers/fleet-test.ts';
import { until } from '../helpers/processes.ts';

// Workers that die between two steps of keeping an iteration.

const makeScene = useFleetSite(2);

/** The points at which a worker dies, each with the iterations that the agents of its task begin. */
const POINTS = {
  'before-push': [1, 2, 2, 3],
  'before-answer': [1, 2, 2, 3],
  // The checkpoint with the answer is there, so that answer is judged.
  'before-judgement': [1, 2, 3],
  // The agent met a usage limit, and is started once more.
  'in-park': [1, 2, 2, 3],
  'before-settlement': [1, 2, 3],
} as const;
const NAMES = Object.keys(POINTS);

test('a worker that dies at any step loses no iteration and counts none twice', async () => {
  const turn = { seconds: 0, iterations: 3 };
  const scene = await makeScene({ turn });
  const [first, second] = [scene.host(1), scene.host(2)];
  dieAtPushes(scene, [
    { when: 'before', ref: 'refs/ralph/before-push/2.1.' },
    { when: 'after', ref: 'refs/ralph/before-answer/2.1.' },
    { when: 'after', ref: 'refs/heads/ralph/before-settlement' },
  ]);
  const writes = await holdWrites(scene, [
    {
      ...{ name: 'before-judgement', table: 'checkpoint' },
      when: "new.task_id = 'before-judgement' and old.iterations = 1 and new.iterations = 2",
    },
    {
      ...{ name: 'in-park', table: 'task' },
      when: "new.task_id = 'in-park' and old.parked is null and new.parked is not null",
    },
  ]);
  const limited = join(scene.folder, 'limited');
  const limits = `[ "$RALPH_ITERATION" != 1 ] || date -d '1 hour' +%s >'${limited}'`;
  scene.stub.does({ ...turn, limited, after: limits }, 'in-park');

  const workers = await Promise.all(
    NAMES.map((queue) => scene.startWorker(first, ['--queue', queue])),
  );
  const ids = await scene.submit(NAMES.map((name) => ({ task_id: name, queue: name })));
  await Promise.all(
    NAMES.map(async (name, at) => {
      const worker = workers[at];
      if (['before-judgement', 'in-park'].includes(name)) {
        await writes.untilHeld(name);
        worker?.signal('SIGKILL');
        await worker?.ended;
        await writes.release(name);
      }
      await until(
        () => worker?.isAlive() === false,
        () => `the death of the worker ${name}; ${worker?.said()}`,
      );
    }),
  );

  const sql = (query: string): Promise<string> => scene.site.postgres.sql(scene.url, query);
  // Nothing of the park is there, and no task has lost its job.
  expect(
    await sql(`select count(*) from ralph.task t where parked is not null or not exists (
      select from ralph_queue.job j where j.id = t.job and j.state <= 'active')`),
  ).toBe('0');
  expect(await sql('select count(*) from ralph.account where paused_until is not null')).toBe('0');

  rmSync(limited);
  await endLeases(scene);
  await scene.startWorker(second, [
    ...['--slots', String(NAMES.length)],
    ...NAMES.flatMap((name) => ['--queue', name]),
  ]);
  await scene.untilEmpty();
  const audit = await auditFleet(scene, ids, 3);
  expect(audit).toMatchObject({ problems: [], ended: NAMES.length });
  const runs = stubRuns(scene.stub.notes());
  const begun = NAMES.map((name) => [
    name,
    runs.filter(({ task }) => task === name).map(({ iteration }) => iteration),
  ]);
  expect(Object.fromEntries(begun)).toEqual(POINTS);
});
