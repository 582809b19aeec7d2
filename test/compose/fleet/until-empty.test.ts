import { expect, test } from 'vitest';
import { tasksForLater } from '../../../src/fleet/worker/until-empty.ts';
import { ANY, claimed, NOTHING, newFleetTask } from '../../helpers/fleet-tasks.ts';
import { originOfTest, taskOfTest, workerOfTest } from '../../helpers/fleet-worker.ts';
import { memoryFleet } from '../../helpers/memory-fleet.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SOON = '2026-01-01T00:05:00.000Z';

/** A fleet with one task, and what a worker of the queue `default` asks of it. */
async function fleetWith(...[id, spec, options]: Parameters<typeof newFleetTask>) {
  const queue = memoryFleet({ now: () => Date.parse(AT) });
  await queue.submit([newFleetTask(id, spec, options)]);
  return { queue, taking: { queue, queues: ['default'], accounts: null, schema: 1 } };
}

test('a worker waits for a task that it may claim, that runs, or that is handed over', async () => {
  const { queue, taking } = await fleetWith('a');
  expect(await tasksForLater(taking)).toBe(null);
  const claim = await claimed(queue);
  await queue.pauseAccount('default', SOON, 'by hand');
  expect(await tasksForLater(taking)).toBe(null);
  await queue.setAccount('default', { resume: true });
  await queue.park(claim, null, NOTHING, { kind: 'handover', why: 'the worker stops' });
  expect(await tasksForLater(taking)).toBe(null);
});

test('a worker does not wait for a task that it never takes', async () => {
  const { queue, taking } = await fleetWith('a', { account: 'team' });
  expect(await tasksForLater({ ...taking, queues: ['gpu'] })).toEqual([]);
  expect(await tasksForLater({ ...taking, accounts: new Map([['other', {}]]) })).toEqual([]);
  await queue.submit([newFleetTask('b', { schema: 2, account: 'next' })]);
  expect(await tasksForLater({ ...taking, accounts: new Map([['next', {}]]) })).toEqual([]);
});

test('tasks that may be claimed later are not waited for, and are named', async () => {
  const { taking: early } = await fleetWith('a', {}, { notBefore: SOON });
  expect(await tasksForLater(early)).toEqual([`a (not before ${SOON})`]);

  const { queue, taking } = await fleetWith('a');
  await queue.pauseAccount('default', 'until-released', 'by hand');
  expect(await tasksForLater(taking)).toEqual(['a (its account default is paused)']);
  await queue.setAccount('default', { resume: true });
  const wait = { kind: 'wait', until: SOON, inMs: 300_000, account: false } as const;
  await queue.park(await claimed(queue), null, NOTHING, wait);
  expect(await tasksForLater(taking)).toEqual([`a (waits until ${SOON})`]);
  await queue.request('a', { kind: 'pause', by: 'ann' });
  expect(await tasksForLater(taking)).toEqual(['a (paused)']);
});

test('a worker that is to end when nothing is left waits for no time of day', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const done = 'echo "<promise>TASK_COMPLETE</promise>"';
  await queue.submit([
    { ...(await taskOfTest(done, { id: 'later', repo: origin.url })), notBefore: 86_400_000 },
    await taskOfTest(done, { id: 'now', repo: origin.url }),
  ]);
  const worker = await workerOfTest(queue);
  await worker.run();
  expect(await queue.task('now')).toMatchObject({ status: 'completed' });
  expect(worker.said.at(-1)).toMatch(
    /^no task can be claimed now; left for later: later \(not before /,
  );
  expect(await queue.claim(ANY)).toBe(null);
});
