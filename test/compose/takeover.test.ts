import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FleetLeg } from '../../src/compose/held-run.ts';
import { startRun } from '../../src/compose/run.ts';
import { watchAbort } from '../../src/effects/processes/signals.ts';
import { unpackState } from '../../src/effects/state/packed-state.ts';
import { taskPaths } from '../../src/effects/state/task-folder.ts';
import { sealAt } from '../../src/effects/trust/seal.ts';
import { RunDropped } from '../../src/loop/run-dropped.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { legPlan } from '../helpers/leg-plan.ts';
import { packState } from '../helpers/packed-task.ts';
import { makeScene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// One leg is dropped after its first iteration, and another one goes on in another folder.

const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const VIEW = {
  ...{
    showsActivity: false,
    showsText: false,
    agentText() {},
    notice() {},
    close() {},
    event() {},
  },
};

/** A leg whose first save with a second iteration drops it, if `drops`. */
function leg(drops: boolean): FleetLeg {
  return {
    lease: { ms: 600_000, ageMs: () => 0, onBeat: () => () => {}, fresh: async () => {} },
    approvals: {
      request: async () => null,
      answer: async () => ({ kind: 'none', why: 'not-waited' }),
    },
    notes: { folder: tmpdir(), again: 'ralph resume t' },
    opened() {},
    async saved({ task }) {
      if (drops && task.metrics.iterations === 1) throw new RunDropped('the worker drains');
    },
    dropped: new AbortController().signal,
  };
}

/** Plays the first leg, and carries its work and its state to another folder. */
async function takenOver(turns: readonly Turn[], settings: Record<string, unknown>) {
  const scene = await makeScene(turns);
  writeFileSync(join(scene.folder, 'README.md'), 'As it was.\n');
  scene.makeRepository();
  const base = () => ({ view: VIEW, stops: watchAbort(null) });
  const state = join(await tempFolder(), 'state');
  const first = await legPlan(scene.folder, scene.env, { ...settings, stateDir: state });
  await expect(startRun({ ...base(), plan: first, leg: leg(true) })).rejects.toThrow('drains');
  const packed = packState(taskPaths(first.stateDir, 't'), sealAt(first));

  const root = await tempFolder();
  const [folder, stateDir] = [join(root, 'tree'), join(root, 'state')];
  cpSync(scene.folder, folder, { recursive: true });
  for (const gone of [scene.folder, state]) rmSync(gone, { recursive: true });
  // What a clone does to the times of files.
  execFileSync('touch', ['-d', '2020-01-01', join(folder, 'README.md')]);
  const plan = await legPlan(folder, scene.env, { ...settings, stateDir });
  const paths = taskPaths(plan.stateDir, 't');
  const state2 = unpackState(paths, packed, sealAt(plan, true));
  expect(state2).toMatchObject({ status: 'running', driver: null, metrics: { iterations: 1 } });
  const resume = {
    ...{ previousTimeoutMs: plan.taskTimeoutMs, previousCwd: first.cwd },
    ...{ isTrusted: false, announcesOnly: false },
  };
  const end = await startRun({ ...base(), plan, resume, leg: leg(false) });
  return { scene, folder, end };
}

test('a task goes on where it was, as its own', async () => {
  const { scene, end } = await takenOver([WORKING, DONE], {});
  expect(end.fields).toMatchObject({ status: 'completed', iterations_used: 2 });
  expect(end.fields.usage.cost_usd).toBeCloseTo(0.02);
  expect(scene.prompt(2)).toContain('Not yet.');
});

test('a file that was there from the start does not complete it', async () => {
  const { end } = await takenOver([WORKING, WORKING], { watchGlob: ['READ*'], maxIterations: 2 });
  expect(end.fields.exit_reason).toBe('max_iterations');
});

test('a new file completes it', async () => {
  const { end } = await takenOver([WORKING, { ...WORKING, shell: 'echo x > RESULT.md' }], {
    watchGlob: ['*.md'],
  });
  expect(end.fields).toMatchObject({ status: 'completed', evidence: { kind: 'watch-glob' } });
});

test('a protected file that the first leg has changed holds the claim of the second', async () => {
  const { end, folder } = await takenOver(
    [{ ...WORKING, shell: 'echo Changed. > README.md' }, DONE],
    { protect: ['README.md'], maxIterations: 2 },
  );
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('Changed.\n');
  expect(end.fields.exit_reason).toBe('max_iterations');
});

test('a protected file that nobody has changed holds no claim', async () => {
  const { end } = await takenOver([WORKING, DONE], { protect: ['README.md'], maxIterations: 2 });
  expect(end.fields.status).toBe('completed');
});
