import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { accountFleet } from '../../src/fleet/cli/account.ts';
import type { OpenFleet } from '../../src/fleet/cli/on-fleet.ts';
import { showFleet } from '../../src/fleet/cli/overview.ts';
import { fleetTasks } from '../../src/fleet/cli/status.ts';
import { fleetPause, fleetResume, fleetStop, fleetTell } from '../../src/fleet/cli/steer.ts';
import { captureOutput } from '../helpers/captured-output.ts';
import { packedLog } from '../helpers/fleet-on-hand.ts';
import { installedRalph } from '../helpers/fleet-scene.ts';
import { ANY, claimed, newFleetTask } from '../helpers/fleet-tasks.ts';
import { openTestFleet, type Postgres, startPostgres } from '../helpers/postgres.ts';
import { runRalph } from '../helpers/run-ralph.ts';

// What a person sees and steers, on a real database.

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

async function opened(): Promise<OpenFleet> {
  const queue = await openTestFleet(await postgres.url(), 'worker');
  onTestFinished(() => queue.close());
  return { queue, words: [] };
}

test('the clock of the database is an ISO instant that goes on', async () => {
  const { queue } = await opened();
  const first = await queue.readClock();
  expect(new Date(first).toISOString()).toBe(first);
  expect((await queue.readClock()) >= first).toBe(true);
});

test('tasks are listed, paused, resumed, told and stopped', async () => {
  const fleet = await opened();
  await fleet.queue.submit([newFleetTask('a'), newFleetTask('b')]);
  const said = captureOutput();
  await fleetPause(fleet, 'b');
  await fleetTasks(fleet, undefined, {});
  expect(said.out()).toMatch(/^fleet .*\n/);
  expect(said.out()).toContain('waits for ralph resume, since it was paused');
  await fleetResume(fleet, { taskId: 'b', limits: {} });
  expect(said.err()).toContain('b is queued again');
  await claimed(fleet.queue);
  await fleetTell(fleet, 'a', 'Look in src.');
  expect(said.err()).toContain('the next iteration of a gets the hint; worker ');
  expect(await fleetStop(fleet, 'b')).toBe(0);
  expect((await fleet.queue.task('b'))?.status).toBe('stopped');
  await fleetTasks(fleet, 'a', {});
  expect(said.out()).toMatch(/^claims +1$/m);
});

test('a fleet is shown with its workers, queues and accounts', async () => {
  const fleet = await opened();
  await fleet.queue.submit([newFleetTask('a')]);
  const { host, queues, schema } = ANY;
  const worker = { id: 'w1', pid: 1, version: '1', slots: 2, idle: null, accounts: null };
  await fleet.queue.present({ ...worker, host, queues, schema });
  const said = captureOutput();
  await accountFleet(fleet, 'work', { pause: true, slots: '2' });
  await showFleet(fleet, { json: true });
  expect(JSON.parse(said.out())).toMatchObject({
    workers: [{ id: 'w1', state: 'alive', slots: 2, busy: 0 }],
    queues: [{ queue: 'default', waiting: 1, running: 0, parked: 0 }],
    warnings: [{ kind: 'account-paused' }],
  });
});

test('a command that only reads a task reads a copy of it', async () => {
  const url = await postgres.url();
  const queue = await openTestFleet(url, 'worker');
  onTestFinished(() => queue.close());
  await queue.submit([newFleetTask('a')]);
  await queue.keepLog(await claimed(queue), packedLog(1, 'I have read the parser.\n'));
  const program = installedRalph();
  const { stdout } = await runRalph(['logs', 'a'], { program, env: { RALPH_FLEET: url } });
  expect(stdout).toMatch(/^fleet .*\n── iteration 1 ──\nI have read the parser\.\n$/);
});
