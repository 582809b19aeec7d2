import { describe, expect, test } from 'vitest';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import {
  ANY,
  ASKING,
  COMPLETED,
  checkpointAt,
  claimed,
  fleetEvent,
  NOTHING,
  newFleetTask,
} from './fleet-tasks.ts';

/** A fleet without tasks, for one case. */
export interface FleetInHand {
  readonly queue: FleetQueue;
  /** The same fleet from another machine. */
  readonly other: FleetQueue;
  /** The present by the clock of the fleet, in milliseconds. */
  now(): number;
  /** Lets time pass for the fleet. */
  later(ms: number): Promise<void>;
}

/** Everything that the port promises, of one of its implementations. */
export function describeQueue(name: string, fresh: () => Promise<FleetInHand>): void {
  describe(name, () => {
    const ids = async (queue: FleetQueue, request = {}): Promise<string[]> => {
      const found: string[] = [];
      for (;;) {
        const claim = await queue.claim({ ...ANY, ...request });
        if (claim === null) return found;
        found.push(claim.taskId);
      }
    };

    test('claims by priority, then by age, of the queues that were asked for', async () => {
      const { queue } = await fresh();
      const priorities = { old: 0, low: -100, high: 100, young: 0 };
      await queue.submit(
        Object.entries(priorities).map(([id, priority]) => newFleetTask(id, { priority })),
      );
      await queue.submit([newFleetTask('elsewhere', { queue: 'gpu', priority: 50 })]);
      expect(await ids(queue, { queues: ['default', 'gpu'] })).toEqual([
        ...['high', 'elsewhere', 'old', 'young', 'low'],
      ]);
      expect(await ids(queue, { queues: ['none'] })).toEqual([]);
    });

    test('keeps the age of a task that is handed over', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('first'), newFleetTask('second')]);
      const claim = await claimed(queue);
      expect(await queue.park(claim, null, NOTHING, { kind: 'handover', why: 'it drains' })).toBe(
        true,
      );
      expect((await queue.task('first'))?.parked).toEqual({ kind: 'handover', why: 'it drains' });
      expect(await ids(queue)).toEqual(['first', 'second']);
    });

    test('claims nothing before its time', async () => {
      const { queue, now, later } = await fresh();
      const at = new Date(now() + 60_000).toISOString();
      await queue.submit([
        newFleetTask('a', {}, { notBefore: at }),
        newFleetTask('b', {}, { notBefore: 30_000 }),
      ]);
      expect((await queue.task('a'))?.not_before).toBe(at);
      expect((await queue.queues())[0]).toMatchObject({ waiting: 0, oldest_waiting_at: null });
      expect(await ids(queue)).toEqual([]);
      await later(31_000);
      expect(await ids(queue)).toEqual(['b']);
      await later(31_000);
      expect(await ids(queue)).toEqual(['a']);
    });

    test('never gives one task to two claimers', async () => {
      const { queue, other } = await fresh();
      const all = Array.from({ length: 12 }, (_, index) => `t${index}`);
      await queue.submit(all.map((id) => newFleetTask(id)));
      const both = await Promise.all([ids(queue), ids(other), ids(queue), ids(other)]);
      expect(both.flat().sort()).toEqual([...all].sort());
    });

    test('says of a claim what its worker needs', async () => {
      const { queue, other } = await fresh();
      const task = newFleetTask('a', {
        prompt: 'Say \u{1f600}',
        settings: { maxIterations: { value: 3, source: '--max-iterations', from: 'flag' } },
      });
      await queue.submit([task]);
      const first = await claimed(queue);
      expect(first).toMatchObject({ taskId: 'a', fence: 1, checkpoint: null, answer: null });
      expect(first.task.spec).toEqual(task.spec);
      expect(first.task).toMatchObject({ status: 'pending', worker: 'w1', host: 'host1' });
      expect(await queue.noteBase(first, 'base1')).toBe(true);
      const snapshot = { commit: 'c1', ref: 'refs/ralph/a/1.1.1', head: 'h1', before: null };
      expect(await queue.save(first, checkpointAt(2, { snapshot }), NOTHING)).toBe(true);
      await queue.park(first, null, NOTHING, { kind: 'handover', why: 'old' });
      const second = await claimed(other, { workerId: 'w2', host: 'host2' });
      expect(second.fence).toBe(2);
      expect(second.task).toMatchObject({
        ...{ status: 'running', base_commit: 'base1', worker: 'w2', host: 'host2' },
        ...{ iterations: 2, cost_usd: 0.5, parked: null },
      });
      expect(second.checkpoint).toMatchObject({ iterations: 2, costUsd: 0.5, snapshot });
      expect([...(second.checkpoint?.packed ?? [])]).toEqual([1, 2, 2]);
    });

    test('refuses every write of a claim whose lease ran out', async () => {
      const { queue, other, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const old = await claimed(queue);
      await later(queue.leaseMs / 2);
      expect([...(await queue.beat([old]))]).toEqual(['a']);
      await later(queue.leaseMs / 2 + 1_000);
      await other.sweep();
      expect(await ids(other)).toEqual([]);
      await later(queue.leaseMs / 2);
      await other.sweep();
      expect(await queue.task('a')).toMatchObject({ worker: null, host: null });

      const refusesAll = async () => {
        expect([...(await queue.beat([old]))]).toEqual([]);
        expect(await queue.save(old, checkpointAt(9), NOTHING)).toBe(false);
        expect(await queue.tell(old, [fleetEvent('late')])).toBe(false);
        expect(
          await queue.keepLog(old, { name: 'x', iteration: 1, packed: new Uint8Array(1) }),
        ).toBe(false);
        expect(await queue.noteBase(old, 'late')).toBe(false);
        expect(
          await queue.askApproval(old, { id: 'p', text: 'late', expiresInMs: 3_600_000 }),
        ).toBe(false);
        expect(
          await queue.park(old, checkpointAt(9), NOTHING, { kind: 'handover', why: 'late' }),
        ).toBe(false);
        expect(await queue.settle(old, checkpointAt(9), NOTHING, COMPLETED)).toBe(false);
        expect(await queue.requestsTo([old])).toEqual([]);
      };
      await refusesAll();
      const next = await claimed(other, { workerId: 'w2' });
      expect(next.fence).toBe(2);
      await refusesAll();
      expect(await queue.task('a')).toMatchObject({
        ended_at: null,
        iterations: 0,
        worker: 'w2',
        base_commit: null,
      });
      expect(await queue.events('a', 0)).toEqual([]);
      expect([...(await other.beat([next, old]))]).toEqual(['a']);
      expect(await other.settle(next, null, NOTHING, COMPLETED)).toBe(true);
      expect([...(await other.beat([next]))]).toEqual([]);
      expect(await other.settle(next, null, NOTHING, COMPLETED)).toBe(false);
    });

    test('frees a lost claim again and again, and counts the claims and hosts without an iteration', async () => {
      const { queue, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      for (let fence = 1; fence <= 6; fence += 1) {
        const claim = await claimed(queue, { host: `h${fence}` });
        expect(claim.fence).toBe(fence);
        expect(claim.task.claims_without_iteration).toBe(fence);
        await later(queue.leaseMs + 1_000);
        await queue.sweep();
      }
      const claim = await claimed(queue, { host: 'h7' });
      expect(claim.task.hosts).toEqual(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7']);
      await queue.save(claim, checkpointAt(0), NOTHING);
      expect((await queue.task('a'))?.claims_without_iteration).toBe(7);
      await queue.save(claim, checkpointAt(0), { ...NOTHING, agentEnded: true });
      expect(await queue.task('a')).toMatchObject({ claims_without_iteration: 0, hosts: [] });
      await later(queue.leaseMs + 1_000);
      await queue.sweep();
      const another = await claimed(queue);
      expect(another.task).toMatchObject({ claims_without_iteration: 1, hosts: ['host1'] });
      await queue.save(another, checkpointAt(1), NOTHING);
      expect(await queue.task('a')).toMatchObject({ claims_without_iteration: 0, hosts: [] });
      await queue.park(another, null, NOTHING, { kind: 'handover', why: 'it drains' });
      const again = await claimed(queue, { host: 'h8' });
      // A leg that parks was not lost.
      await queue.park(again, null, NOTHING, { kind: 'handover', why: 'it drains' });
      expect(await queue.task('a')).toMatchObject({ claims_without_iteration: 0, hosts: [] });
    });

    test('counts how often a task was parked since its last iteration, or since somebody resumed it', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const parks = async () => (await queue.task('a'))?.parks_without_iteration;
      const park = async (iterations: number): Promise<void> => {
        const parking = { kind: 'handover', why: 'it drains' } as const;
        expect(
          await queue.park(await claimed(queue), checkpointAt(iterations), NOTHING, parking),
        ).toBe(true);
      };
      for (const expected of [1, 2]) {
        await park(0);
        expect(await parks()).toBe(expected);
      }
      await park(1);
      expect(await parks()).toBe(1);
      await queue.request('a', { kind: 'stop', by: 'ann@desk' });
      await queue.resume('a');
      expect(await parks()).toBe(0);
    });

    test('finds the tasks in trouble among any number of others', async () => {
      const { queue, later } = await fresh();
      await queue.submit([newFleetTask('failed'), newFleetTask('lost')]);
      await queue.settle(await claimed(queue), null, NOTHING, {
        ...COMPLETED,
        ...{ status: 'failed', exitReason: 'failed:setup', exitCode: 1 },
      });
      for (const _ of [1, 2]) {
        await claimed(queue);
        await later(queue.leaseMs + 1_000);
        await queue.sweep();
      }
      await queue.submit([newFleetTask('b'), newFleetTask('c')]);
      const troubled = await queue.tasks({ troubled: true, limit: 2 });
      expect(troubled.map(({ spec }) => spec.task_id)).toEqual(['failed', 'lost']);
    });

    test('wakes what is parked for a wait when it is over', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit([newFleetTask('a'), newFleetTask('b')]);
      const claim = await claimed(queue);
      const parking = {
        kind: 'wait',
        until: new Date(now() + 3_600_000).toISOString(),
        account: false,
      } as const;
      const event = fleetEvent('it waits');
      expect(
        await queue.park(claim, checkpointAt(1), { events: [event], requestsDone: [] }, parking),
      ).toBe(true);
      expect(await queue.task('a')).toMatchObject({
        parked: parking,
        worker: null,
        iterations: 1,
        status: 'running',
      });
      expect((await queue.events('a', 0)).map(({ event: { event: kind } }) => kind)).toEqual([
        'near_miss',
      ]);
      expect((await queue.queues())[0]).toMatchObject({ waiting: 1, parked: 1, running: 0 });
      expect(await ids(queue)).toEqual(['b']);
      await queue.sweep();
      expect(await ids(queue)).toEqual([]);
      await later(3_601_000);
      expect(await ids(queue)).toEqual(['a']);
    });

    test('asks people, parks, and wakes with the answer', async () => {
      const { queue, other } = await fresh();
      await queue.submit([newFleetTask('a')]);
      expect(await other.answer('b', { verdict: 'approved', by: 'eve', comment: null })).toEqual({
        kind: 'unknown-task',
      });
      expect(
        await other.answer('a', { verdict: 'approved', by: 'eve', comment: null }),
      ).toMatchObject({ kind: 'refused' });
      const claim = await claimed(queue);
      expect(
        await queue.askApproval(claim, { id: 'p1', text: 'May I?', expiresInMs: 3_600_000 }),
      ).toBe(true);
      await queue.park(claim, checkpointAt(1), NOTHING, ASKING);
      await queue.sweep();
      expect(await ids(queue)).toEqual([]);
      expect(await other.approvals()).toMatchObject([
        { taskId: 'a', id: 'p1', text: 'May I?', answer: null },
      ]);
      expect(
        await other.answer('a', { verdict: 'rejected', by: 'ann', comment: 'not now' }),
      ).toEqual({ kind: 'done' });
      expect(
        await other.answer('a', { verdict: 'approved', by: 'eve', comment: null }),
      ).toMatchObject({ kind: 'refused' });
      const next = await claimed(queue);
      expect(next.answer).toMatchObject({ verdict: 'rejected', by: 'ann', comment: 'not now' });
      expect(next.answer?.sessionUser).toBeTruthy();
      await queue.save(next, checkpointAt(1), { events: [], requestsDone: ['p1'] });
      await queue.park(next, null, NOTHING, { kind: 'handover', why: 'it drains' });
      expect((await claimed(queue)).answer).toBeNull();
      expect(await queue.approvals()).toEqual([]);
    });

    test('wakes at once if the answer came before the leg was parked', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      await queue.askApproval(claim, { id: 'p1', text: 'May I?', expiresInMs: 3_600_000 });
      expect(await queue.answer('a', { verdict: 'approved', by: 'ann', comment: null })).toEqual({
        kind: 'done',
      });
      await queue.park(claim, null, NOTHING, ASKING);
      expect((await claimed(queue)).answer?.verdict).toBe('approved');
    });

    test('wakes the task of an approval that expired', async () => {
      const { queue, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      await queue.askApproval(claim, { id: 'p1', text: 'May I?', expiresInMs: 60_000 });
      await queue.park(claim, null, NOTHING, { ...ASKING, inMs: 60_000 });
      expect(await ids(queue)).toEqual([]);
      await later(61_000);
      expect(
        await queue.answer('a', { verdict: 'approved', by: 'ann', comment: null }),
      ).toMatchObject({ kind: 'refused' });
      expect((await claimed(queue)).answer).toBeNull();
    });
  });
}
