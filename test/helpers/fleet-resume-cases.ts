import { describe, expect, test } from 'vitest';
import type { FleetInHand } from './fleet-cases.ts';
import { COMPLETED, checkpointAt, claimed, NOTHING, newFleetTask } from './fleet-tasks.ts';

/** As a worker ends a task that is out of iterations. */
const SPENT = {
  ...COMPLETED,
  ...({ status: 'max_iterations_reached', exitReason: 'max_iterations', exitCode: 3 } as const),
  ...{ resultCommit: null, resultRef: null, branchCommit: null },
};

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
