import { describe, expect, test } from 'vitest';
import type { Parking } from '../../src/fleet/core/fleet-task.ts';
import type { FleetClaim, FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import type { FleetInHand } from './fleet-cases.ts';
import { ANY, ASKING, claimed, NOTHING, newFleetTask } from './fleet-tasks.ts';

/** What the port promises of accounts, of one of its implementations. */
export function describeAccounts(name: string, fresh: () => Promise<FleetInHand>): void {
  describe(name, () => {
    const next = (queue: FleetQueue, request = {}) => queue.claim({ ...ANY, ...request });

    test('pauses an account by the clock of the fleet, and no longer', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit([
        newFleetTask('a', { account: 'team' }),
        newFleetTask('b', { account: 'team' }),
        newFleetTask('c', { account: 'own', priority: -1 }),
      ]);
      const claim = await claimed(queue);
      const until = new Date(now() + 60_000).toISOString();
      await queue.park(claim, null, NOTHING, { kind: 'wait', until, account: true });
      // An earlier end does not shorten it.
      await queue.pauseAccount('team', 1_000, 'w1');
      expect((await claimed(queue)).taskId).toBe('c');
      expect(await next(queue)).toBeNull();
      const accounts = await queue.accounts();
      expect(accounts.find(({ account }) => account === 'team')).toMatchObject({
        ...{ paused_until: until, held: false, why: 'usage limit', waiting: 1, parked: 1 },
      });
      await later(61_000);
      expect(
        (await queue.accounts()).find(({ account }) => account === 'team')?.paused_until,
      ).toBeNull();
      // Claims begin again spread over 30 s.
      await later(30_000);
      expect([(await next(queue))?.taskId, (await next(queue))?.taskId]).toEqual(['a', 'b']);
    });

    test('holds an account until it is released, and wakes what is parked for it', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit([newFleetTask('a'), newFleetTask('b')]);
      const claim = await claimed(queue);
      const until = new Date(now() + 86_400_000).toISOString();
      await queue.park(claim, null, NOTHING, { kind: 'wait', until, account: true });
      await queue.setAccount('default', { pause: 'until-released' });
      expect((await queue.accounts())[0]).toMatchObject({ held: true, why: 'by hand' });
      await later(1_000);
      expect(await next(queue)).toBeNull();
      await queue.setAccount('default', { resume: true });
      expect((await queue.accounts())[0]).toMatchObject({
        held: false,
        paused_until: null,
        why: null,
      });
      expect([(await next(queue))?.taskId, (await next(queue))?.taskId]).toEqual(['a', 'b']);
    });

    test('counts what waits and what is parked as the queues do', async () => {
      const { queue } = await fresh();
      const later = { notBefore: 3_600_000 };
      await queue.submit([
        ...['waits', 'handed', 'parked', 'paused'].map((id) => newFleetTask(id)),
        newFleetTask('later', {}, later),
      ]);
      const claims = new Map<string, FleetClaim>();
      for (let at = 0; at < 4; at += 1) {
        const claim = await claimed(queue);
        claims.set(claim.taskId, claim);
      }
      const park = async (id: string, parking: Parking) => {
        const claim = claims.get(id);
        if (claim !== undefined) await queue.park(claim, null, NOTHING, parking);
      };
      const handover = { kind: 'handover', why: 'the worker stops' } as const;
      for (const id of ['waits', 'handed', 'paused']) await park(id, handover);
      await park('parked', ASKING);
      await queue.request('paused', { kind: 'pause', by: 'ann' });
      const counts = { running: 0, waiting: 2, parked: 2 };
      expect(await queue.accounts()).toMatchObject([counts]);
      expect(await queue.queues()).toMatchObject([counts]);
    });

    test('lets a paused task go on at once if its account was released meanwhile', async () => {
      const { queue, now } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const until = new Date(now() + 86_400_000).toISOString();
      await queue.park(await claimed(queue), null, NOTHING, { kind: 'wait', until, account: true });
      await queue.request('a', { kind: 'pause', by: 'ann' });
      await queue.setAccount('default', { resume: true });
      expect(await next(queue)).toBeNull();
      await queue.resume('a');
      expect((await next(queue))?.taskId).toBe('a');
    });

    test('bounds the slots of an account over all queues and workers', async () => {
      const { queue, other } = await fresh();
      const tasks = Array.from({ length: 6 }, (_, index) =>
        newFleetTask(`t${index}`, { account: 'team', queue: index % 2 ? 'one' : 'two' }),
      );
      await queue.submit([...tasks, newFleetTask('x', { queue: 'one' })]);
      await queue.setAccount('team', { slots: 2 });
      const request = { queues: ['one', 'two'] };
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, index) => next(index % 2 ? queue : other, request)),
      );
      // A task that lost the race for the last slot is there for the next poll.
      const rest = [await next(queue, request), await next(queue, request)];
      const got = [...all, ...rest].filter((claim) => claim !== null);
      expect(got.filter(({ task }) => task.spec.account === 'team')).toHaveLength(2);
      expect(got.filter(({ taskId }) => taskId === 'x')).toHaveLength(1);
      await queue.setAccount('team', { slots: 0 });
      expect(await next(queue, request)).not.toBeNull();
    });

    test('claims only for the accounts that a worker has', async () => {
      const { queue } = await fresh();
      await queue.submit([
        newFleetTask('a', { account: 'one' }),
        newFleetTask('b', { account: 'two' }),
      ]);
      expect((await claimed(queue, { accounts: ['two'] })).taskId).toBe('b');
      expect(await next(queue, { accounts: ['two', 'three'] })).toBeNull();
      expect(await next(queue, { accounts: [] })).toBeNull();
    });
  });
}
