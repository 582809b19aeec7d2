import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { SEED, sized, slack } from '../helpers/fleet-size.ts';
import { soakFleet } from '../helpers/fleet-soak.ts';
import { stubRuns } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';

// Workers that are killed: no iteration is lost or counted twice, and no two agents of a task run at once.

const KILLS = sized(5, 20);
/** Enough work to be there at the last kill. */
const WORK = sized(
  { tasks: 6, turn: { seconds: 1, iterations: 4 }, everyMs: 3_000 },
  { tasks: 10, turn: { seconds: 5, iterations: 5 }, everyMs: 5_000 },
);
const LEASE_MS = 10_000;
/** How long after a lease ran out another worker may take to claim: a sweep and a look. */
const CLAIM_MS = 10_500;

const makeScene = useFleetSite(2);

test('killed workers lose and repeat nothing that was counted', {
  timeout: 1_200_000 + KILLS * 10_000,
}, async ({ annotate }) => {
  const { tasks, turn, everyMs } = WORK;
  const scene = await makeScene({ turn });
  const ids = await scene.submit(Array.from({ length: tasks }, (_, at) => ({ task_id: `t${at}` })));
  const soaked = await soakFleet(scene, {
    ...{ seed: SEED, slots: 2, leaseMs: LEASE_MS, everyMs, kinds: ['killed'] },
    // However slow the machine is, one of the kills hits an agent at work.
    firstWhen: ({ host }) =>
      stubRuns(scene.stub.notes()).some((run) => run.host === host.name && run.endedMs === null),
    goesOn: (count) => count < KILLS,
    patienceMs: 200_000,
    tell: () => {},
  });
  const audit = await auditFleet(scene, ids, turn.iterations);
  expect([...soaked.problems, ...audit.problems]).toEqual([]);
  expect(audit).toMatchObject({ ended: tasks, iterations: tasks * turn.iterations });
  expect(soaked.counts.killed).toBe(KILLS);
  expect(audit.starts).toBeGreaterThan(audit.iterations);
  await annotate(
    `${KILLS} kills; ${audit.starts} starts for ${audit.iterations} iterations, $${audit.costUsd}`,
  );
});

test('another worker goes on soon after a kill, and the next worker there removes what was left', async () => {
  const turn = { seconds: 1, iterations: 2 };
  // The second iteration goes on until its worker is killed.
  const scene = await makeScene({
    turn: { ...turn, before: '[ "$RALPH_ITERATION" = 1 ] || sleep 90' },
  });
  const [first, second] = [scene.host(1), scene.host(2)];
  const killed = await scene.startWorker(first);
  const ids = await scene.submit([{ task_id: 'a' }]);
  await untilNoted(scene, ({ kind, iteration }) => kind === 'START' && iteration === 2);
  const other = await scene.startWorker(second);
  scene.stub.does(turn);
  killed.signal('SIGKILL');
  const killedMs = Date.now();

  await other.untilSaid(/took a\b/);
  expect(Date.now() - killedMs).toBeLessThan(LEASE_MS + CLAIM_MS + slack(PATIENCE_MS));
  const start = await untilNoted(scene, ({ host }) => host === second.name);
  expect(start).toMatchObject({ kind: 'START', task: 'a', iteration: 2 });
  await scene.untilEmpty();
  expect((await auditFleet(scene, ids, 2)).problems).toEqual([]);

  const legs = join(first.home, 'state', 'ralph-worker', 'legs');
  expect(readdirSync(legs)).toContain('a.1');
  const next = await scene.startWorker(first, ['--verbose']);
  await next.untilSaid(/removed the old leg a\.1/);
  expect(readdirSync(legs)).not.toContain('a.1');
});
