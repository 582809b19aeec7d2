import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { sized, slack } from '../helpers/fleet-size.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';

// Tasks that are hard on a fleet: much output, and agents that kill their worker.

const makeScene = useFleetSite(2);
const MB = 1024 * 1024;
/** Iterations with a megabyte of output each. */
const LOUD = sized(30, 1_000);

test('a checkpoint stays small however much the agents say, and another worker is quick to go on', {
  timeout: 1_200_000 + LOUD * 10_000,
}, async ({ annotate }) => {
  const line =
    '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"&"}]},"session_id":"s","uuid":"u"}';
  const scene = await makeScene();
  // The last but one goes on until its worker is killed, however long the other one takes to start.
  const stays = `[ "$RALPH_ITERATION $FLEET_HOST" != '${LOUD - 1} host1' ] || sleep 600`;
  const talks = `head -c 750000 /dev/urandom | base64 -w 4000 | sed 's@.*@${line}@'`;
  scene.stub.does({ before: `${talks}\n${stays}`, seconds: 0, iterations: LOUD });
  const first = await scene.startWorker(scene.host(1));
  const ids = await scene.submit([{ task_id: 'a', timeout: '5h', max_iterations: LOUD }]);
  await untilNoted(scene, ({ iteration }) => iteration === LOUD - 1, 150_000 + LOUD * 5_000);
  const second = await scene.startWorker(scene.host(2));
  first.signal('SIGKILL');
  await second.untilSaid(/took a\b/);
  const claimedMs = Date.now();
  const start = await untilNoted(scene, ({ host }) => host === scene.host(2).name);
  expect(start.atMs - claimedMs).toBeLessThan(2_000 + slack(PATIENCE_MS));
  await scene.untilEmpty();
  expect((await auditFleet(scene, ids, LOUD)).problems).toEqual([]);
  const size = await scene.site.postgres.sql(
    scene.url,
    'select max(octet_length(packed)) from ralph.checkpoint',
  );
  await annotate(
    `${size} bytes packed; the agent started ${start.atMs - claimedMs} ms after the claim`,
  );
  expect(Number(size)).toBeGreaterThan(0);
  expect(Number(size)).toBeLessThan(4 * MB);
});

test('a task that kills its workers fails after five of them, and others go on', async () => {
  const scene = await makeScene();
  // The agent's parent is the worker.
  scene.stub.does({ before: 'kill -9 "$PPID"; sleep 60' }, 'deadly');
  scene.stub.does({ seconds: 1, iterations: 2 }, 'mild');
  const ids = await scene.submit([{ task_id: 'deadly' }, { task_id: 'mild', priority: 1 }]);
  let isOver = false;
  const keep = async (number: number): Promise<void> => {
    while (!isOver) {
      const worker = await scene.startWorker(scene.host(number), ['--slots', '2']);
      await worker.ended;
    }
  };
  const kept = [keep(1), keep(2)];
  await scene.untilEmpty(300_000);
  isOver = true;
  for (const host of scene.hosts) host.signalAll('SIGKILL');
  await Promise.all(kept);

  const task = await scene.task('deadly');
  expect(task).toMatchObject({
    status: 'failed',
    exit_reason: 'failed:worker-died',
    iterations: 0,
  });
  const notes = scene.stub.notes();
  const starts = notes.filter((note) => note.task === 'deadly' && note.kind === 'START');
  expect(starts.length).toBe(5);
  for (const { host } of starts) expect(task.warning).toContain(host);
  const mild = {
    ...scene,
    stub: { ...scene.stub, notes: () => notes.filter((note) => note.task === 'mild') },
  };
  const problems = (await auditFleet(mild, ids, 2)).problems.filter(
    (each) => !each.startsWith('deadly'),
  );
  expect(problems).toEqual([]);
});
