import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FleetLeg } from '../../src/compose/held-run.ts';
import { startRun } from '../../src/compose/run.ts';
import type { RalphEvent } from '../../src/core/machine/events.ts';
import type { Approval } from '../../src/core/task/task-state.ts';
import { watchAbort } from '../../src/effects/processes/signals.ts';
import { RunDropped } from '../../src/loop/run-dropped.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { legPlan } from '../helpers/leg-plan.ts';
import { makeScene } from '../helpers/scene.ts';

// A run as a worker of a fleet starts it. No guard is bundled beside the sources; its own tests have one.

const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const ASKING: Turn = { text: '<approval id="deploy">deploy it</approval>' };
const LOST = new RunDropped('the claim is lost');

/** A leg that notes what it is told, in order, and a run with it. */
async function stage(
  turns: readonly Turn[],
  change: (log: string[]) => Partial<FleetLeg> = () => ({}),
) {
  const scene = await makeScene(turns);
  const log: string[] = [];
  const dropped = new AbortController();
  const asked: Approval[] = [];
  const leg: FleetLeg = {
    lease: {
      ms: 600_000,
      ageMs: () => 0,
      onBeat: () => () => {},
      async fresh() {
        log.push('fresh');
      },
    },
    notes: { folder: scene.folder, again: 'ralph resume t' },
    approvals: {
      async request(approval) {
        asked.push(approval);
        return { approved: null, rejected: null };
      },
      answer: async () => ({ kind: 'none', why: 'not-waited' }),
    },
    opened: (keeper) => void log.push(`opened ${keeper === null ? 'no tree' : 'a tree'}`),
    async saved(state) {
      const { status, current_iteration } = state.task;
      const { calls } = scene.fake;
      const isOnDisk =
        scene.state().save === log.filter((each) => each.startsWith('saved')).length + 1;
      log.push(`saved ${state.step.kind} ${current_iteration} ${status}, ${calls().length} starts`);
      expect(isOnDisk).toBe(true);
    },
    dropped: dropped.signal,
    ...change(log),
  };
  const plan = await legPlan(scene.folder, scene.env);
  const events: RalphEvent[] = [];
  const view = {
    ...{ showsActivity: false, showsText: false, agentText() {}, notice() {}, close() {} },
    event(event: RalphEvent) {
      events.push(event);
      if (!['agent_activity', 'finding'].includes(event.event)) log.push(`told ${event.event}`);
    },
  };
  return {
    scene,
    log,
    asked,
    events,
    dropped,
    run: () => startRun({ plan, view, leg, stops: watchAbort(null) }),
  };
}

test('each step is saved in the fleet after it is on disk, and before it is told or acted on', async () => {
  const { scene, log, run } = await stage([WORKING, DONE]);
  scene.makeRepository();
  const { fields } = await run();
  expect(fields.status).toBe('completed');
  expect(log).toEqual([
    'opened a tree',
    'saved working 1 running, 0 starts',
    'told task_started',
    'told iteration_started',
    'fresh',
    'saved looking 1 running, 1 starts',
    'saved working 2 running, 1 starts',
    'told task_iterated',
    'told iteration_started',
    'fresh',
    'saved looking 2 running, 2 starts',
    'saved ended 2 completed, 2 starts',
    'told task_iterated',
    'told task_completed',
  ]);
});

test('a leg that is dropped while its agent works kills it, and writes and tells nothing more', async () => {
  const { scene, log, events, dropped, run } = await stage([{ text: 'Working…', hangs: true }]);
  const end = run();
  await scene.fake.untilCalls(1);
  const [before, told] = [scene.read('.ralph_state/t.json'), events.length];
  dropped.abort(LOST);
  await expect(end).rejects.toBe(LOST);
  expect(scene.read('.ralph_state/t.json')).toBe(before);
  expect(events).toHaveLength(told);
  expect(log.filter((each) => each.startsWith('saved'))).toHaveLength(1);
});

test('a save that drops the leg leaves the task as it was saved', async () => {
  const { scene, events, run } = await stage([WORKING, DONE], () => ({
    async saved(state) {
      if (state.step.kind === 'ended') throw LOST;
    },
  }));
  await expect(run()).rejects.toBe(LOST);
  expect(scene.state()).toMatchObject({ status: 'completed' });
  expect(existsSync(join(scene.folder, '.ralph_state/history/t.json'))).toBe(false);
  expect(events.map(({ event }) => event)).not.toContain('task_completed');
});

test('an agent is not started before the lease is fresh, and not at all if the claim is lost', async () => {
  const { scene, run } = await stage([DONE], () => ({
    lease: {
      ms: 600_000,
      ageMs: () => 400_000,
      onBeat: () => () => {},
      fresh: () => Promise.reject(LOST),
    },
  }));
  await expect(run()).rejects.toBe(LOST);
  expect(scene.fake.calls()).toEqual([]);
});

test('people are asked through the fleet, and no file is left for them', async () => {
  const { scene, asked, run } = await stage([ASKING]);
  const { fields } = await run();
  expect(fields.status).toBe('paused_awaiting_approval');
  expect(asked).toMatchObject([{ id: expect.stringMatching(/^deploy/) }]);
  expect(scene.names('Pending_Approval')).toEqual([]);
});
