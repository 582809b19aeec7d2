import { createHash } from 'node:crypto';
import { SETTINGS } from '../../src/core/settings/settings.ts';
import type { FleetSpec } from '../../src/fleet/core/fleet-task.ts';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import { ANY, COMPLETED, NOTHING, newFleetTask } from '../../test/helpers/fleet-tasks.ts';
import { installEngine } from '../../test/helpers/install-engine.ts';
import { openTestFleet, startPostgres } from '../../test/helpers/postgres.ts';

// How long the queue of a fleet takes with many tasks, on a PostgreSQL of its own: npm run bench:fleet.

const TASKS = 10_000;
const CLAIMS = 300;

/** All settings, as they are stored with each task. */
const settings = Object.fromEntries(
  Object.keys(SETTINGS).map((name) => [
    name,
    { value: 'some value', source: 'default', from: 'default' },
  ]),
) as FleetSpec['settings'];
const prompt = 'Mend the tests of this module, and leave the others alone. '.repeat(5);

function batch(count: number, account: string) {
  return Array.from({ length: count }, (_, index) =>
    newFleetTask(
      `${account}-${index}`,
      { account, settings, prompt: `${prompt}${index}` },
      { contentSha256: createHash('sha256').update(`${index}`).digest('hex') },
    ),
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** Prints the middle, the slowest of 100, and the slowest of many calls, in milliseconds, and the goal for the second. */
function print(what: string, times: readonly number[], goalMs?: number): void {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  const goal = goalMs === undefined ? '' : ` (goal: p99 ${goalMs} ms)`;
  console.log(`${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms${goal}`);
}

async function timeClaims(queue: FleetQueue, what: string, goalMs: number): Promise<void> {
  const claims: number[] = [];
  const settles: number[] = [];
  for (let count = 0; count < CLAIMS; count += 1) {
    let claim = null as Awaited<ReturnType<FleetQueue['claim']>>;
    claims.push(
      await timed(async () => {
        claim = await queue.claim(ANY);
      }),
    );
    const got = claim;
    if (got !== null) settles.push(await timed(() => queue.settle(got, null, NOTHING, COMPLETED)));
  }
  print(`claim ${what}`, claims, goalMs);
  if (settles.length > 0) print('  and settle', settles);
}

await installEngine();
const postgres = await startPostgres();
try {
  const url = await postgres.url();
  const queue = await openTestFleet(url, 'worker');
  const size = () =>
    postgres.sql(url, 'select pg_size_pretty(pg_database_size(current_database()))');
  const empty = await size();
  const held = await timed(() => queue.submit(batch(TASKS, 'held')));
  console.log(
    `submit of ${TASKS}: ${(held / 1_000).toFixed(2)} s; database: ${await size()} (${empty} empty)`,
  );
  const repeated = await timed(() => queue.submit(batch(TASKS, 'held')));
  console.log(`the same again: ${(repeated / 1_000).toFixed(2)} s; database: ${await size()}`);
  const fresh = [await timed(() => queue.sweep())];
  print('the first sweep', fresh);
  await timeClaims(queue, `of ${TASKS}`, 100);
  await queue.pauseAccount('held', 'until-released', 'bench');
  await timeClaims(queue, `with nothing but a paused account's`, 150);
  await queue.submit(batch(1_000, 'other'));
  await timeClaims(queue, `behind those of a paused account`, 150);
  print('sweep', await Promise.all(Array.from({ length: 10 }, () => timed(() => queue.sweep()))));
  print('tasks, open, 100', [await timed(() => queue.tasks({ open: true, limit: 100 }))]);
  print('accounts and queues', [
    await timed(() => Promise.all([queue.accounts(), queue.queues()])),
  ]);
  await queue.close();
} finally {
  await postgres.stop();
}
