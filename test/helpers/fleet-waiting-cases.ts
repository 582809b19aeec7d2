import { describe, expect, test } from 'vitest';
import type { FleetQueue, TaskFilter } from '../../src/fleet/database/fleet-queue.ts';
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

const HOUR_MS = 3_600_000;
/** As a worker ends a task whose request nobody has answered. */
const EXPIRED = {
  ...COMPLETED,
  ...({ status: 'paused_awaiting_approval', exitReason: 'approval-expired' } as const),
  ...{ exitCode: 6, resultCommit: null, resultRef: null, branchCommit: null },
};

/** What the port promises of tasks that wait, and of rows that nobody submitted, of one of its implementations. */
export function describeWaiting(name: string, fresh: () => Promise<FleetInHand>): void {
  describe(name, () => {
    const next = (queue: FleetQueue, request = {}) => queue.claim({ ...ANY, ...request });
    const yes = { verdict: 'approved', by: 'ann', comment: null } as const;

    test('a task waits by the clock of the fleet, whatever the clock of its worker says', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const wrong = new Date(now() + 100 * HOUR_MS).toISOString();
      const before = now();
      await queue.park(await claimed(queue), checkpointAt(1), NOTHING, {
        ...{ kind: 'wait', until: wrong, inMs: HOUR_MS, account: false },
      });
      const parked = (await queue.task('a'))?.parked;
      expect(parked).toEqual({ kind: 'wait', until: expect.any(String), account: false });
      const waitsMs = parked?.kind === 'wait' ? Date.parse(parked.until) - before : 0;
      expect(Math.abs(waitsMs - HOUR_MS)).toBeLessThan(60_000);
      await queue.request('a', { kind: 'pause', by: 'ann' });
      await queue.resume('a');
      expect(await next(queue)).toBeNull();
      await later(HOUR_MS + 60_000);
      expect((await next(queue))?.taskId).toBe('a');
    });

    test('an account is paused until the reset that its service has named, and all its tasks begin again within 30 s', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit(['a', 'b', 'c', 'd'].map((id) => newFleetTask(id)));
      const until = new Date(now() + HOUR_MS).toISOString();
      await queue.park(await claimed(queue), null, NOTHING, {
        ...{ kind: 'wait', until, account: true },
      });
      expect((await queue.accounts())[0]?.paused_until).toBe(until);
      await later(HOUR_MS - 60_000);
      expect(await next(queue)).toBeNull();
      await later(60_000 + 31_000);
      const ids = [await next(queue), await next(queue), await next(queue), await next(queue)];
      expect(ids.map((claim) => claim?.taskId)).toEqual(['a', 'b', 'c', 'd']);
    });

    test('an account whose reset nobody knows is paused by the clock of the fleet', async () => {
      const { queue, now } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const wrong = new Date(now() + 100 * HOUR_MS).toISOString();
      const before = now();
      await queue.park(await claimed(queue), null, NOTHING, {
        ...{ kind: 'wait', until: wrong, inMs: HOUR_MS, account: true },
      });
      const pausedMs = Date.parse((await queue.accounts())[0]?.paused_until ?? '') - before;
      expect(Math.abs(pausedMs - HOUR_MS)).toBeLessThan(60_000);
    });

    test('a request that nobody has answered in time is open again after a resume', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const asks = { id: 'p1', text: 'May I?', expiresInMs: HOUR_MS };
      const claim = await claimed(queue);
      await queue.askApproval(claim, asks);
      await queue.park(claim, checkpointAt(1), NOTHING, {
        ...{ kind: 'approval', until: new Date(now()).toISOString(), inMs: HOUR_MS },
      });
      await later(HOUR_MS + 1_000);
      await queue.settle(await claimed(queue), null, NOTHING, EXPIRED);
      expect(await queue.approvals()).toEqual([]);
      await later(HOUR_MS);

      expect(await queue.resume('a')).toEqual({ kind: 'done' });
      const again = await claimed(queue);
      expect(again.answer).toBeNull();
      // As each leg does that goes on with a request.
      await queue.askApproval(again, asks);
      const [open] = await queue.approvals();
      const leftMs = Date.parse(open?.expiresAt ?? '') - now();
      expect(Math.abs(leftMs - HOUR_MS)).toBeLessThan(60_000);
      expect(await queue.answer('a', yes)).toEqual({ kind: 'done' });
    });

    test('a paused task that waits for a person does so as long as ever after a resume', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      const asks = { id: 'p1', text: 'May I?', expiresInMs: HOUR_MS };
      await queue.askApproval(claim, asks);
      await queue.park(claim, checkpointAt(1), NOTHING, {
        ...{ kind: 'approval', until: new Date(now()).toISOString(), inMs: HOUR_MS },
      });
      await queue.request('a', { kind: 'pause', by: 'ann' });
      await later(HOUR_MS + 1_000);
      await queue.resume('a');
      expect(await next(queue)).toBeNull();
      await later(HOUR_MS / 2);
      expect(await queue.answer('a', yes)).toEqual({ kind: 'done' });
      expect((await claimed(queue)).answer?.verdict).toBe('approved');
    });

    test('a person is asked once more under an id whose answer was taken in', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      const asks = { id: 'deploy', text: 'May I deploy?', expiresInMs: 3_600_000 };
      await queue.askApproval(claim, asks);
      expect(await queue.answer('a', yes)).toEqual({ kind: 'done' });
      // A call that is repeated does not lose the answer.
      await queue.askApproval(claim, asks);
      await queue.save(claim, checkpointAt(1), { events: [], requestsDone: ['deploy'] });
      await queue.askApproval(claim, { ...asks, text: 'Once more?' });
      expect(await queue.approvals()).toMatchObject([
        { id: 'deploy', text: 'Once more?', answer: null },
      ]);
      await queue.park(claim, null, NOTHING, ASKING);
      expect(await next(queue)).toBeNull();
      expect(await queue.answer('a', { ...yes, verdict: 'rejected' })).toEqual({ kind: 'done' });
      expect((await claimed(queue)).answer?.verdict).toBe('rejected');
    });

    test('finds tasks by when they ended, and leaves out prompts and settings', async () => {
      const { queue, later } = await fresh();
      await queue.submit(['a', 'b', 'c'].map((id) => newFleetTask(id)));
      const ended: string[] = [];
      for (const id of ['a', 'b']) {
        await queue.settle(await claimed(queue), null, NOTHING, COMPLETED);
        const endedAt = (await queue.task(id))?.ended_at ?? '';
        // The next one ends later than this.
        await later(10);
        const isLater = async () => (await queue.readClock()) > endedAt;
        await expect.poll(isLater).toBe(true);
        ended.push(await queue.readClock());
        await later(10);
      }
      const idsOf = async (filter: TaskFilter) =>
        (await queue.tasks(filter)).map(({ spec }) => spec.task_id);
      const [between] = ended;
      expect(await idsOf({ endedBefore: between ?? '' })).toEqual(['a']);
      expect(await idsOf({ endedBefore: ended[1] ?? '' })).toEqual(['a', 'b']);
      expect(await idsOf({ endedSince: between ?? '' })).toEqual(['b', 'c']);
      expect(await queue.prune(['a', 'b', 'c'], between ?? '')).toEqual(['a']);
      const lean = await queue.tasks({ lean: true });
      const whole = await queue.tasks({});
      expect(lean).toEqual(
        whole.map((task) => ({ ...task, spec: { ...task.spec, prompt: '', settings: {} } })),
      );
      expect(whole[0]?.spec).toEqual(newFleetTask('b').spec);
    });

    test('names the rows that cannot be read, and shows nothing else of them', async () => {
      const { queue } = await fresh();
      const bad = newFleetTask('bad', { repo: 'ext::sh -c id' });
      await queue.submit([bad, newFleetTask('good'), newFleetTask('odd', { branch: 'a..b' })]);
      expect((await queue.tasks({})).map(({ spec }) => spec.task_id)).toEqual(['good']);
      expect(await queue.task('bad')).toBeNull();
      expect(await queue.unreadable({})).toEqual([
        { taskId: 'bad', endedAt: null },
        { taskId: 'odd', endedAt: null },
      ]);
      expect(await queue.unreadable({ limit: 2 })).toMatchObject([{ taskId: 'odd' }]);
      expect(await queue.unreadable({ taskId: 'good' })).toEqual([]);
      expect(await queue.request('bad', { kind: 'stop', by: 'ann' })).toEqual({ kind: 'done' });
      expect(await queue.unreadable({ taskId: 'bad' })).toEqual([
        { taskId: 'bad', endedAt: expect.any(String) },
      ]);
      expect(await queue.prune(['bad', 'odd'], LATE)).toEqual(['bad']);
    });
  });
}
