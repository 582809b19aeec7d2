import { expect, test } from 'vitest';
import { FleetError } from '../../../../src/errors.ts';
import { orOnFleet } from '../../../../src/fleet/cli/or-on-fleet.ts';
import { TaskNotFoundError } from '../../../../src/task-errors.ts';
import { captureOutput } from '../../../helpers/captured-output.ts';
import { COMPLETED, claimed, NOTHING, newFleetTask } from '../../../helpers/fleet-tasks.ts';
import { type MemoryFleet, memoryFleet } from '../../../helpers/memory-fleet.ts';

const FLEET = { RALPH_FLEET: 'postgres://host/fleet' };

/** What `ralph diff t --state-dir /w` of a task that no vault has ends with. */
async function said(fleet: MemoryFleet | null, env: NodeJS.ProcessEnv, options = {}) {
  const open = async () => {
    if (fleet === null) throw new FleetError('pg-boss is missing.');
    // One of them is asked several times.
    return { name: fleet.name, task: fleet.task, close: async () => {} };
  };
  const run = async (): Promise<number> => {
    throw new TaskNotFoundError('t', '/w');
  };
  return orOnFleet({ command: 'diff', taskId: 't', options }, run, { env, open }).then(
    () => 'nothing',
    (error: TaskNotFoundError) => error.toJSON().error.message,
  );
}

const UNKNOWN = "there is no task 't' in /w; check the id and --vault.";

test('a task that only the fleet has', async () => {
  const fleet = memoryFleet();
  const env = { ...FLEET, RALPH_STATE_DIR: '/v' };
  const only =
    "there is no task 't' in /v, but fleet memory/test has it, and ralph diff works on tasks of this machine alone; ";
  expect(await said(fleet, env)).toBe(UNKNOWN);
  await fleet.submit([newFleetTask('t')]);
  expect(await said(fleet, env)).toBe(
    `${only}it has no result yet.\nto look at it: ralph status t`,
  );
  const claim = await claimed(fleet);
  const resultRef = 'refs/ralph/t/result';
  await fleet.settle(claim, null, NOTHING, { ...COMPLETED, resultRef });
  expect(await said(fleet, env)).toBe(
    `${only}its result is refs/ralph/t/result at c2: git fetch https://git.example.org/app.git refs/ralph/t/result`,
  );
});

test('a task that has failed has no result', async () => {
  const fleet = memoryFleet();
  await fleet.submit([newFleetTask('t')]);
  const none = { resultCommit: null, resultRef: null };
  const failed = { ...COMPLETED, ...none, status: 'failed', exitReason: 'failed:policy' } as const;
  await fleet.settle(await claimed(fleet), null, NOTHING, failed);
  expect(await said(fleet, FLEET)).toContain(
    '; it ended failed without a result.\nto look at it: ralph status t',
  );
});

test.for([
  ['no fleet is named', {}, {}],
  ['a vault is named', FLEET, { vault: '/v' }],
  ['an agent asks', { ...FLEET, RALPH_RUN_ID: 'x' }, {}],
] as const)('%s: the fleet is not asked', async ([, env, options]) => {
  const fleet = memoryFleet();
  await fleet.submit([newFleetTask('t')]);
  expect(await said(fleet, env, options)).toBe(UNKNOWN);
});

test('a fleet that does not answer is named, and changes nothing else', async () => {
  const out = captureOutput();
  expect(await said(Object.assign(memoryFleet(), { isAway: true }), FLEET)).toBe(UNKNOWN);
  expect(out.err()).toContain(
    "cannot be reached (the test says so). So it is unknown whether the fleet has 't'.",
  );
  expect(await said(null, FLEET)).toBe(UNKNOWN);
  expect(out.err()).toContain('pg-boss is missing. So it is unknown');
});
