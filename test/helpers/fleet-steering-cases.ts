import { describe, expect, test } from 'vitest';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import type { FleetInHand } from './fleet-cases.ts';
import {
  ANY,
  ASKING,
  COMPLETED,
  checkpointAt,
  claimed,
  fleetEvent,
  LATE,
  NOTHING,
  newFleetTask,
} from './fleet-tasks.ts';

/** What the port promises to commands, of one of its implementations. */
export function describeSteering(name: string, fresh: () => Promise<FleetInHand>): void {
  describe(name, () => {
    const next = (queue: FleetQueue, request = {}) => queue.claim({ ...ANY, ...request });

    test('accepts the same task once', async () => {
      const { queue } = await fresh();
      const task = newFleetTask('a');
      expect(await queue.submit([task])).toEqual([{ kind: 'queued', taskId: 'a' }]);
      expect(await queue.submit([task])).toEqual([{ kind: 'already-queued', taskId: 'a' }]);
      const claim = await claimed(queue);
      expect(await next(queue)).toBeNull();
      await queue.settle(claim, null, NOTHING, COMPLETED);
      expect(await queue.submit([task])).toEqual([
        { kind: 'already-ended', taskId: 'a', status: 'completed' },
      ]);
      expect(await next(queue)).toBeNull();
    });

    test('queues all of a batch, or nothing', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('b')]);
      const outcome = await queue.submit([
        newFleetTask('a'),
        newFleetTask('b', { prompt: 'Something else.' }),
        newFleetTask('c'),
      ]);
      expect(outcome[1]).toEqual({ kind: 'taken', taskId: 'b', isOpen: true });
      expect((await queue.tasks({})).map(({ spec }) => spec.task_id)).toEqual(['b']);
      const again = await queue.submit([newFleetTask('d'), newFleetTask('b', {}, { again: true })]);
      expect(again[1]).toEqual({ kind: 'taken', taskId: 'b', isOpen: true });
      expect(await queue.task('d')).toBeNull();
    });

    test('starts an ended task afresh, with its fence and branch', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      await queue.save(claim, checkpointAt(3), { events: [fleetEvent('one')], requestsDone: [] });
      await queue.settle(claim, null, NOTHING, COMPLETED);
      const fresher = newFleetTask('a', { prompt: 'Once more.', priority: 5 });
      expect(await queue.submit([fresher])).toEqual([
        { kind: 'taken', taskId: 'a', isOpen: false },
      ]);
      expect(await queue.submit([{ ...fresher, again: true }])).toEqual([
        { kind: 'queued', taskId: 'a' },
      ]);
      expect(await queue.task('a')).toMatchObject({
        ...{ status: 'pending', fence: 1, iterations: 0, cost_usd: 0, ended_at: null },
        ...{ branch_commit: 'c2', result_commit: null, result_ref: null, exit_reason: null },
      });
      expect(await queue.events('a', 0)).toEqual([]);
      const second = await claimed(queue);
      expect(second).toMatchObject({ fence: 2, checkpoint: null });
      expect(second.task.spec).toEqual(fresher.spec);
    });

    test('forgets the branch of an ended task that is started afresh on another one', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      await queue.settle(await claimed(queue), null, NOTHING, COMPLETED);
      await queue.submit([newFleetTask('a', { branch: 'other' }, { again: true })]);
      expect(await queue.task('a')).toMatchObject({ fence: 1, branch_commit: null });
    });

    test('leaves tasks of a newer schema to newer workers', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('new', { schema: 2, priority: 9 }), newFleetTask('old')]);
      expect((await claimed(queue)).taskId).toBe('old');
      expect(await next(queue)).toBeNull();
      expect((await queue.queues()).find(({ schema }) => schema === 2)).toMatchObject({
        waiting: 1,
      });
      expect((await claimed(queue, { schema: 2 })).taskId).toBe('new');
    });

    test('leaves what a newer worker has claimed to newer workers', async () => {
      const { queue, later } = await fresh();
      await queue.submit([newFleetTask('a'), newFleetTask('b')]);
      const claim = await claimed(queue, { schema: 3 });
      expect(claim).toMatchObject({ taskId: 'a', fence: 1, task: { spec: { schema: 3 } } });
      expect([...(await queue.beat([claim]))]).toEqual(['a']);
      await queue.park(claim, checkpointAt(1), NOTHING, { kind: 'handover', why: 'it drains' });
      expect((await claimed(queue)).taskId).toBe('b');
      expect(await next(queue)).toBeNull();
      expect(await claimed(queue, { schema: 4 })).toMatchObject({ taskId: 'a', fence: 2 });
      await later(queue.leaseMs + 1_000);
      await queue.sweep();
      expect((await claimed(queue, { schema: 3 })).taskId).toBe('b');
      expect(await next(queue, { schema: 3 })).toBeNull();
      expect((await claimed(queue, { schema: 4 })).taskId).toBe('a');
    });

    test('leaves requests to the worker that runs the task', async () => {
      const { queue, other } = await fresh();
      await queue.submit([newFleetTask('a')]);
      expect(await other.request('b', { kind: 'stop', by: 'ann' })).toEqual({
        kind: 'unknown-task',
      });
      expect(await other.request('a', { kind: 'tell', text: 'Early.', by: 'ann' })).toEqual({
        kind: 'done',
      });
      const claim = await claimed(queue);
      expect(await other.request('a', { kind: 'stop', by: 'ann' })).toEqual({
        kind: 'left',
        worker: 'w1',
        host: 'host1',
      });
      const requests = await queue.requestsTo([claim]);
      expect(requests).toMatchObject([
        { taskId: 'a', kind: 'tell', text: 'Early.', by: 'ann' },
        { taskId: 'a', kind: 'stop', by: 'ann' },
      ]);
      const [first] = requests;
      await queue.save(claim, checkpointAt(1), { events: [], requestsDone: [first?.id ?? ''] });
      expect(await queue.requestsTo([claim])).toMatchObject([{ kind: 'stop' }]);
      await queue.settle(claim, null, NOTHING, {
        ...COMPLETED,
        status: 'stopped',
        exitReason: 'stopped:request',
        exitCode: 143,
      });
      expect(await other.request('a', { kind: 'pause', by: 'ann' })).toMatchObject({
        kind: 'refused',
      });
      expect(await other.resume('a')).toEqual({ kind: 'done' });
      expect(await queue.requestsTo([await claimed(queue)])).toEqual([]);
    });

    test('what was left for a lost worker does not come back after a resume', async () => {
      const { queue, later } = await fresh();
      await queue.submit([newFleetTask('a')]);
      await claimed(queue);
      await queue.request('a', { kind: 'pause', by: 'ann' });
      await queue.request('a', { kind: 'tell', text: 'Be quick.', by: 'ann' });
      await later(queue.leaseMs + 1_000);
      await queue.sweep();
      expect(await queue.request('a', { kind: 'stop', by: 'ann' })).toEqual({ kind: 'done' });
      expect(await queue.resume('a')).toEqual({ kind: 'done' });
      const claim = await claimed(queue);
      expect(await queue.requestsTo([claim])).toMatchObject([{ kind: 'tell' }]);
    });

    test('what a person asks while the leg parks is in force at once', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a'), newFleetTask('b')]);
      for (const kind of ['stop', 'pause'] as const) {
        const claim = await claimed(queue);
        await queue.request(claim.taskId, { kind, by: 'ann' });
        const parked = await queue.park(claim, checkpointAt(1), NOTHING, {
          ...{ kind: 'handover', why: 'the worker stops' },
        });
        expect(parked).toBe(true);
      }
      expect(await queue.task('a')).toMatchObject({ status: 'stopped', exit_code: 143 });
      expect(await queue.task('b')).toMatchObject({ paused: true, ended_at: null, worker: null });
      expect(await next(queue)).toBeNull();
      await queue.resume('b');
      expect((await claimed(queue)).taskId).toBe('b');
    });

    test('pauses, stops and resumes at once what nobody runs', async () => {
      const { queue, now, later } = await fresh();
      await queue.submit([newFleetTask('a'), newFleetTask('b')]);
      expect(await queue.resume('a')).toMatchObject({ kind: 'refused' });
      expect(await queue.request('a', { kind: 'pause', by: 'ann' })).toEqual({ kind: 'done' });
      expect(await queue.task('a')).toMatchObject({
        paused: true,
        status: 'paused',
        ended_at: null,
      });
      expect(await queue.request('b', { kind: 'stop', by: 'ann' })).toEqual({ kind: 'done' });
      expect(await queue.task('b')).toMatchObject({
        ...{ status: 'stopped', exit_reason: 'stopped:request', exit_code: 143, parked: null },
      });
      await queue.sweep();
      expect(await next(queue)).toBeNull();
      expect(await queue.resume('a')).toEqual({ kind: 'done' });
      expect(await queue.resume('b')).toEqual({ kind: 'done' });
      expect(await queue.task('b')).toMatchObject({
        status: 'pending',
        exit_code: null,
        ended_at: null,
      });
      const claim = await claimed(queue);
      expect(await queue.resume('a')).toMatchObject({ kind: 'refused' });
      const until = new Date(now() + 60_000).toISOString();
      await queue.park(claim, checkpointAt(1), NOTHING, { kind: 'wait', until, account: false });
      await queue.request('a', { kind: 'pause', by: 'ann' });
      await later(61_000);
      expect((await next(queue))?.taskId).toBe('b');
      expect(await next(queue)).toBeNull();
      expect(await queue.resume('a')).toEqual({ kind: 'done' });
      await later(61_000);
      const last = await claimed(queue);
      await queue.settle(last, null, NOTHING, COMPLETED);
      expect(await queue.resume('a')).toMatchObject({ kind: 'refused' });
      expect(await queue.resume('nobody')).toEqual({ kind: 'unknown-task' });
    });

    test('does not wake a paused task by an answer', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      await queue.askApproval(claim, { id: 'p1', text: 'May I?', expiresInMs: 3_600_000 });
      await queue.park(claim, null, NOTHING, ASKING);
      await queue.request('a', { kind: 'pause', by: 'ann' });
      await queue.answer('a', { verdict: 'approved', by: 'ann', comment: null });
      expect(await next(queue)).toBeNull();
      await queue.resume('a');
      expect((await claimed(queue)).answer?.verdict).toBe('approved');
    });

    test('keeps events and logs as a journal would', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a')]);
      const claim = await claimed(queue);
      const activity = {
        ...fleetEvent('x'),
        event: 'agent_activity',
        activity: { kind: 'thinking' },
      };
      await queue.tell(claim, [fleetEvent('one'), activity as never, fleetEvent('two')]);
      await queue.save(claim, checkpointAt(1), { events: [fleetEvent('three')], requestsDone: [] });
      const events = await queue.events('a', 0);
      expect(events.map(({ event }) => 'line' in event && event.line)).toEqual([
        'one',
        'two',
        'three',
      ]);
      expect(events[0]?.event).toMatchObject({
        ...{ worker: 'w1', host: 'host1', fence: 1, task_id: 'a' },
      });
      expect(await queue.events('a', events[1]?.number ?? 0)).toEqual(events.slice(2));
      const log = { name: 'iteration-0001.jsonl', iteration: 1, packed: new Uint8Array([1]) };
      await queue.keepLog(claim, log);
      await queue.keepLog(claim, { ...log, packed: new Uint8Array([2]) });
      const logs = await queue.logs('a', 0);
      expect(logs.map(({ name, iteration, packed }) => [name, iteration, [...packed]])).toEqual([
        ['iteration-0001.jsonl', 1, [2]],
      ]);
      expect(await queue.logs('a', 1)).toEqual([]);
    });

    test('ends a task in one step with its last checkpoint, and prunes it', async () => {
      const { queue } = await fresh();
      await queue.submit([newFleetTask('a'), newFleetTask('b')]);
      const claim = await claimed(queue);
      // A checkpoint of an ended state does not end the task: settling does.
      await queue.save(claim, checkpointAt(2, { status: 'completed' }), NOTHING);
      expect(await queue.task('a')).toMatchObject({ status: 'running', ended_at: null });
      const done = { ...COMPLETED, warning: 'look', note: '# Note' };
      expect(await queue.settle(claim, checkpointAt(3), NOTHING, done)).toBe(true);
      expect(await queue.task('a')).toMatchObject({
        ...{ status: 'completed', exit_code: 0, warning: 'look', note: '# Note', iterations: 3 },
        ...{ result_commit: 'c2', result_ref: 'refs/heads/x', branch_commit: 'c2', worker: null },
      });
      expect((await queue.checkpoint('a'))?.iterations).toBe(3);
      expect((await queue.tasks({ open: true })).map(({ spec }) => spec.task_id)).toEqual(['b']);
      expect((await queue.tasks({ limit: 1 })).map(({ spec }) => spec.task_id)).toEqual(['b']);
      expect(await queue.prune(['a', 'b', 'c'], LATE)).toEqual(['a']);
      expect(await queue.task('a')).toBeNull();
      expect(await queue.checkpoint('a')).toBeNull();
    });

    test('knows the workers that are there', async () => {
      const { queue } = await fresh();
      const facts = {
        ...{ id: 'w1', host: 'host1', pid: 7, version: '1.2.3', schema: 1, queues: ['default'] },
        ...{ slots: 2, idle: null, accounts: null },
      };
      await queue.present({ ...facts, slots: 1 });
      await queue.present(facts);
      await queue.submit([newFleetTask('a')]);
      await next(queue, { workerId: 'w1' });
      await queue.present({ ...facts, id: 'w2' });
      await queue.leave('w2');
      expect(await queue.workers()).toEqual([
        {
          ...{ ...facts, running: ['a'] },
          seenAt: expect.any(String),
        },
      ]);
    });
  });
}
