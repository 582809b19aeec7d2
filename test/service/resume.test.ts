import { join } from 'node:path';
import {
  type RalphEvent,
  type RunTaskOptions,
  runTask,
  TaskAlreadyActiveError,
  TaskNotFoundError,
  UntrustedTaskError,
  UsageError,
} from 'ralph-headless';
import { expect, onTestFinished, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater } from '../helpers/living-in.ts';
import { makeScene } from '../helpers/scene.ts';

// `runTask` with an open task: the program's `ralph resume`.

const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const ASKING: Turn = { text: '<approval id="deploy">deploy it</approval>' };

/** What begins a task in a scene, and what resumes it. */
async function stage(turns: readonly Turn[]) {
  const scene = await makeScene(turns);
  endAllInLater(scene.home);
  const events: RalphEvent[] = [];
  const place = {
    vault: scene.folder,
    env: { ...scene.env },
    onEvent: (event: RalphEvent) => void events.push(event),
  };
  return {
    scene,
    events,
    begin: (options: RunTaskOptions = {}) =>
      runTask({
        ...{ ...place, prompt: 'Fix it', cwd: scene.folder, taskId: 't', delay: 0 },
        ...options,
      }),
    resume: (options: RunTaskOptions = {}) => runTask({ ...place, resume: 't', ...options }),
  };
}

test('a task goes on with its own settings and what it remembers', async () => {
  const { scene, begin, resume, events } = await stage([WORKING, WORKING, DONE]);
  expect(await begin({ maxIterations: 1, promise: 'TASK_COMPLETE' })).toMatchObject({
    exitCode: 3,
  });
  events.length = 0;
  const result = await resume({ maxIterations: '+2' });
  expect(result).toMatchObject({ status: 'completed', exitCode: 0, iterations: 3 });
  expect(scene.prompt(2)).toContain('Not yet.');
  expect(scene.fake.calls()[1]?.cwd).toBe(scene.folder);
  expect(events[0]).toMatchObject({ event: 'task_resumed' });
});

test('options that say what the task is are refused, each in a sentence, and nothing is started', async () => {
  const { scene, begin, resume } = await stage([WORKING, DONE]);
  await begin({ maxIterations: 1 });
  const error = await resume({ prompt: 'Do more', taskType: 'coding' }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(error.problems).toEqual([
    'the option prompt cannot change when a task is resumed; start another with ralph run, or add a hint with ralph tell.',
    'the option taskType cannot change when a task is resumed; start another with ralph run, or add a hint with ralph tell.',
  ]);
  expect(scene.fake.calls()).toHaveLength(1);
});

test('an invalid id, and the id of no task, are refused', async () => {
  const { resume } = await stage([]);
  await expect(resume()).rejects.toThrow(TaskNotFoundError);
  await expect(resume({ resume: '../t' })).rejects.toThrow(TaskNotFoundError);
  // @ts-expect-error: it is no text
  await expect(resume({ resume: 5 })).rejects.toThrow('resume expects the id of a task; found 5.');
});

test('a task that has a live loop is refused', async () => {
  const { scene, begin, resume } = await stage([{ hangs: true }]);
  const abort = new AbortController();
  const running = begin({ signal: abort.signal });
  await scene.fake.untilCalls(1);
  await expect(resume()).rejects.toThrow(TaskAlreadyActiveError);
  abort.abort();
  expect(await running).toMatchObject({ status: 'stopped' });
});

test("somebody else's task is refused", async () => {
  const { scene, begin, resume } = await stage([WORKING, DONE]);
  await begin({ maxIterations: 1 });
  await scene.write('.ralph_state/t.json', scene.read('.ralph_state/t.json').replace('Fix', 'Fox'));
  await expect(resume()).rejects.toThrow(UntrustedTaskError);
  expect(scene.fake.calls()).toHaveLength(1);
});

test('a task that is completed is the result, and nothing is started', async () => {
  const { scene, begin, resume } = await stage([DONE]);
  const { usage, evidence, stateFile } = await begin();
  expect(await resume()).toEqual({
    message: 'completed already, so nothing was started',
    ...{ status: 'completed', exitCode: 0, exitReason: 'completed', iterations: 1 },
    ...{ usage, evidence, stateFile, finalMessage: null, note: null },
  });
  expect(scene.fake.calls()).toHaveLength(1);
});

test('a task that waits for a person goes on with the answer', async () => {
  const { scene, begin, resume } = await stage([ASKING, DONE]);
  expect(await begin({ noWait: true })).toMatchObject({ status: 'paused_awaiting_approval' });
  expect(await scene.ralph(['approve', 't'])).toMatchObject({ exitCode: 0 });
  expect(await resume()).toMatchObject({ status: 'completed', iterations: 2 });
});

test('without a vault it is looked for upward, as a new task looks for it', async () => {
  const { scene, begin } = await stage([WORKING, DONE]);
  scene.makeRepository();
  await begin({ maxIterations: 1 });
  await scene.write('src/a.js', '');
  const here = process.cwd();
  onTestFinished(() => process.chdir(here));
  process.chdir(join(scene.folder, 'src'));
  const options = { env: { ...scene.env }, maxIterations: '+1' } as const;
  expect(await runTask({ ...options, resume: 't' })).toMatchObject({ status: 'completed' });
});
