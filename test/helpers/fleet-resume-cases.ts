import { describe, expect, test } from 'vitest';
import type { FleetRequest } from '../../src/fleet/database/fleet-queue.ts';
import type { FleetInHand } from './fleet-cases.ts';
import {
  ANY,
  ASKING,
  COMPLETED,
  checkpointAt,
  claimed,
  LATE,
  NOTHING,
  newFleetTask,
} from './fleet-tasks.ts';

/** As a worker ends a task that is out of iterations. */
const SPENT = {
  ...COMPLETED,
  ...({ status: 'max_iterations_reached', exitReason: 'max_iterations', exitCode: 3 } as const),
  ...{ resultCommit: null, resultRef: null, branchCommit: null },
};

/** As a worker ends a leg after a request to pause. */
const PAUSED = {
  ...SPENT,
  ...({ status: 'paused', exitReason: 'paused', exitCode: 6 } as const),
};

const takesIn = (request: FleetRequest | undefined) => ({
  events: [],
  requestsDone: request === undefined ? [] : [request.id],
});

/** What the port promises of tasks that are held, or go on with other limits, of one of its implementations. */
export function describeResuming(name: string, fresh: () => Promise<FleetInHand>): void {
  describe(name, () => {
    test('resumes a task with other settings, which is still the task that was submitted', async () => {
      const { queue, other } = await fresh();
      const task = newFleetTask('a');
      await queue.submit([task, newFleetTask('b')]);
      await queue.settle(await claimed(queue), checkpointAt(3), NOTHING, SPENT);
      const { updated_at: since } = (await queue.task('a')) ?? { updated_at: '' };
      const settings = { maxIterations: { value: 8, source: '-n', from: 'flag' } } as const;
      const packed = Buffer.from('more time');
      expect(await other.resume('a', { since, settings, packed })).toEqual({ kind: 'done' });
      expect((await queue.task('b'))?.spec).toEqual(newFleetTask('b').spec);
      const claim = await claimed(queue);
      expect(claim.task.spec).toEqual({ ...task.spec, settings });
      expect(Buffer.from(claim.checkpoint?.packed ?? []).toString()).toBe('more time');
      expect(claim.checkpoint?.iterations).toBe(3);
      await queue.settle(claim, null, NOTHING, SPENT);
      expect(await queue.submit([task])).toMatchObject([{ kind: 'already-ended' }]);
    });

    test('keeps a task that its worker has paused open: told, stopped, submitted and resumed', async () => {
      const { queue, later } = await fresh();
      const task = newFleetTask('a');
      await queue.submit([task]);
      for (const next of ['resume', 'stop'] as const) {
        const claim = await claimed(queue);
        const hint = { kind: 'tell', text: 'Early.', by: 'ann' } as const;
        await queue.request('a', hint);
        const [early] = await queue.requestsTo([claim]);
        await queue.request('a', { kind: 'pause', by: 'ann' });
        await queue.request('a', { ...hint, text: 'Late.' });
        await queue.settle(claim, checkpointAt(1), takesIn(early), PAUSED);
        expect(await queue.task('a')).toMatchObject({
          ...{ status: 'paused', paused: true, ended_at: null, worker: null, parked: null },
          ...{ exit_reason: null, exit_code: null, iterations: 1 },
        });
        expect(await queue.submit([task])).toEqual([{ kind: 'already-queued', taskId: 'a' }]);
        expect((await queue.tasks({ open: true })).length).toBe(1);
        expect(await queue.prune(['a'], LATE)).toEqual([]);
        await later(queue.leaseMs + 1_000);
        await queue.sweep();
        expect(await queue.claim(ANY)).toBeNull();
        expect(await queue.request('a', { kind: 'pause', by: 'ann' })).toEqual({ kind: 'done' });
        expect(await queue.request('a', { ...hint, text: 'Later.' })).toEqual({ kind: 'done' });
        if (next === 'stop') break;
        expect(await queue.resume('a')).toEqual({ kind: 'done' });
        expect(await queue.task('a')).toMatchObject({ status: 'pending', paused: false });
        const again = await claimed(queue);
        const told = await queue.requestsTo([again]);
        expect(told).toMatchObject([{ text: 'Late.' }, { text: 'Later.' }]);
        const done = { events: [], requestsDone: told.map(({ id }) => id) };
        await queue.park(again, null, done, { kind: 'handover', why: 'the worker stops' });
      }
      expect(await queue.request('a', { kind: 'stop', by: 'ann' })).toEqual({ kind: 'done' });
      expect(await queue.task('a')).toMatchObject({ status: 'stopped', exit_code: 143 });
    });

    test('a task that waits for an approval has the status that it has in a vault', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      await queue.askApproval(claim, { id: 'p1', text: 'May I?', expiresInMs: 3_600_000 });
      const status = async () => (await queue.task('a'))?.status;
      await queue.park(claim, checkpointAt(1), NOTHING, ASKING);
      expect(await status()).toBe('paused_awaiting_approval');
      await queue.request('a', { kind: 'pause', by: 'ann' });
      expect(await status()).toBe('paused');
      await queue.resume('a');
      expect(await status()).toBe('paused_awaiting_approval');
      expect(await queue.task('a')).toMatchObject({ ended_at: null, exit_code: null });
      await queue.answer('a', { verdict: 'approved', by: 'ann', comment: null });
      expect(await status()).toBe('running');
      const again = await claimed(queue);
      // It was answered before it parked, so nobody is asked any more.
      await queue.park(again, null, NOTHING, ASKING);
      expect(await status()).toBe('running');
    });

    test('a worker that goes on after a request has expired makes its task running', async () => {
      const { queue, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      await queue.askApproval(claim, { id: 'p1', text: 'May I?', expiresInMs: 60_000 });
      await queue.park(claim, null, NOTHING, { ...ASKING, inMs: 60_000 });
      await later(61_000);
      expect((await claimed(queue)).task.status).toBe('running');
    });

    test('stops a task that its worker pauses if a person has asked for both', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      await queue.request('a', { kind: 'pause', by: 'ann' });
      await queue.request('a', { kind: 'stop', by: 'ann' });
      await queue.settle(claim, checkpointAt(1), NOTHING, PAUSED);
      expect(await queue.task('a')).toMatchObject({ status: 'stopped', paused: false });
    });

    test('changes nothing of a task that has changed since its settings were made', async () => {
      const { queue, other } = await fresh();
      const task = newFleetTask('a');
      await queue.submit([task]);
      await queue.settle(await claimed(queue), checkpointAt(3), NOTHING, SPENT);
      const changed = { since: '2020-01-01T00:00:00.000Z', settings: {}, packed: Buffer.from('x') };
      expect(await other.resume('a', changed)).toMatchObject({ kind: 'refused' });
      expect(await queue.task('a')).toMatchObject({
        spec: task.spec,
        ended_at: expect.any(String),
      });
      expect([...((await queue.checkpoint('a'))?.packed ?? [])]).toEqual([1, 2, 3]);
    });
  });
}
