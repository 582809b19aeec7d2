import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { transform } from 'esbuild';
import {
  type RalphEvent,
  type RunTaskOptions,
  runTask,
  TaskAlreadyActiveError,
  UsageError,
} from 'ralph-headless';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { server, untilPid } from '../helpers/background.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater, livingIn } from '../helpers/living-in.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { isDead, until } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// The engine inside another program: this one.

const ROOT = join(import.meta.dirname, '../..');
const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const ASKING: Turn = { text: '<approval id="deploy">deploy it</approval>' };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'beforeExit', 'uncaughtException'];

/** What runs a task in a scene, and what was told meanwhile. */
async function stage(turns: Turn | readonly Turn[]) {
  const scene = await makeScene(turns);
  endAllInLater(scene.home);
  const events: RalphEvent[] = [];
  const notices: string[] = [];
  const run = (options: Partial<RunTaskOptions> = {}) =>
    runTask({
      ...('taskFile' in options ? {} : { prompt: 'Fix it' }),
      vault: scene.folder,
      cwd: scene.folder,
      taskId: 't',
      delay: 0,
      env: { ...scene.env },
      onEvent: (event) => void events.push(event),
      onNotice: (sentence) => void notices.push(sentence),
      ...options,
    });
  return { scene, run, events, notices };
}

function names(events: readonly RalphEvent[]): readonly string[] {
  return events.map(({ event }) => event).filter((event) => event !== 'agent_activity');
}

async function untilCalls(scene: Scene, count: number): Promise<void> {
  await scene.fake.untilCalls(count);
}

const IDLE = 'nothing was changed, and no tool of the agent succeeded';

describe('a task that is completed', () => {
  test('resolves to how it ended', async () => {
    const { scene, run, events, notices } = await stage([WORKING, DONE]);
    const result = await run();
    expect(result).toEqual({
      status: 'completed',
      exitCode: 0,
      exitReason: 'completed',
      message: expect.stringMatching(`^completed: .*; not proven: ${IDLE}$`),
      iterations: 2,
      usage: { cost_usd: 0.02, input_tokens: 200, output_tokens: 20 },
      finalMessage: 'Done.\n\nTASK_COMPLETE',
      evidence: {
        kind: 'promise',
        detail: 'TASK_COMPLETE',
        proof: { proven: false, text: IDLE, findings: [IDLE] },
      },
      stateFile: join(scene.folder, '.ralph_state/history/t.json'),
      note: null,
    });
    expect(existsSync(result.stateFile)).toBe(true);
    expect(names(events)).toEqual([
      'task_started',
      'iteration_started',
      'task_iterated',
      'iteration_started',
      'task_iterated',
      'finding',
      'task_completed',
    ]);
    // No guard is missing, and nothing else is odd.
    expect(notices).toEqual([]);
  });

  test("passes on the agent's text as it arrives, without control characters", async () => {
    const { run } = await stage([{ ...DONE, before: ['One \u001b[31mmoment\u001b[0m.'] }]);
    const texts: string[] = [];
    await run({ onText: (text) => void texts.push(text) });
    expect(texts.join('|')).toContain('One moment.');
  });

  test('is the same task to the command line', async () => {
    const { scene, run } = await stage([WORKING, DONE]);
    expect(await run({ maxIterations: 1 })).toMatchObject({ exitCode: 3 });
    expect(await scene.ralph(['resume', 't', '-n', '+1', '--delay', '0'])).toMatchObject({
      exitCode: 0,
    });
    expect(scene.state().metrics.iterations).toBe(2);
  });

  test('from a task file', async () => {
    const { scene, run } = await stage([DONE]);
    await scene.write('Needs_Action/x.md', 'Write it.');
    const { status } = await run({ taskFile: 'Needs_Action/x.md' });
    expect(status).toBe('completed');
    expect(scene.names('Done')).toEqual(['x.md']);
  });

  test('durations are milliseconds, or as on the command line', async () => {
    for (const delay of [0, '0s']) {
      const { run } = await stage([WORKING, DONE]);
      expect(await run({ delay, iterationTimeout: '1m', timeout: 120_000 })).toMatchObject({
        status: 'completed',
      });
    }
  });
});

describe('a task that is not completed is a result', () => {
  test.for<[name: string, turn: Turn, options: Partial<RunTaskOptions>, result: object]>([
    [
      'exhausted',
      WORKING,
      { maxIterations: 1 },
      { status: 'max_iterations_reached', exitCode: 3, iterations: 1, finalMessage: 'Not yet.' },
    ],
    [
      'failed',
      { isError: true, text: 'Not logged in · Please run /login' },
      {},
      {
        status: 'failed',
        exitCode: 1,
        exitReason: 'failed:not-logged-in',
        message: expect.stringMatching(/^failed .*: Not logged in · Please run \/login/),
      },
    ],
    [
      'out of time',
      { hangs: true },
      { timeout: 300, iterationTimeout: 300 },
      { status: 'timeout', exitCode: 4 },
    ],
    ['out of money', WORKING, { maxCost: 0.01 }, { status: 'budget_spent', exitCode: 8 }],
    [
      'waiting for a person',
      ASKING,
      { noWait: true },
      { status: 'paused_awaiting_approval', exitCode: 6, exitReason: 'approval-pending' },
    ],
  ])('%s', async ([, turn, options, expected]) => {
    const { scene, run } = await stage(turn);
    const result = await run(options);
    expect(result).toMatchObject(expected);
    if (result.status !== 'paused_awaiting_approval') {
      expect(result.note).toContain(join(scene.folder, 'Needs_Action/RALPH_'));
    }
    expect(livingIn(scene.home)).toEqual([]);
  });

  test('an agent that does not exist', async () => {
    const { run } = await stage([]);
    const result = await run({ claudeBin: '/nowhere/claude' });
    expect(result).toMatchObject({ status: 'failed', exitReason: 'failed:agent-not-found' });
  });

  test('an id that waits for a person is not replaced', async () => {
    const { scene, run } = await stage(ASKING);
    await run({ noWait: true });
    const again = await run();
    expect(again).toMatchObject({
      status: 'paused_awaiting_approval',
      exitCode: 6,
      exitReason: 'approval-pending',
      iterations: 1,
      stateFile: join(scene.folder, '.ralph_state/t.json'),
    });
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('an error that a listener throws is ignored', async () => {
    const { run } = await stage([DONE]);
    const fail = (): never => {
      throw new Error('the listener is broken');
    };
    expect(await run({ onEvent: fail, onText: fail, onNotice: fail })).toMatchObject({
      status: 'completed',
    });
  });
});

test('a listener that changes what it is told changes nothing of the task', async () => {
  const { run } = await stage([WORKING, DONE]);
  const spoil = (value: object): void => {
    for (const [name, field] of Object.entries(value)) {
      if (typeof field === 'object' && field !== null) spoil(field);
      else Reflect.set(value, name, 'spoilt');
    }
  };
  const result = await run({ onEvent: spoil });
  expect(result).toMatchObject({ usage: { input_tokens: 200 }, evidence: { kind: 'promise' } });
  expect(readFileSync(result.stateFile, 'utf8')).not.toContain('spoilt');
});

test('an async listener that rejects is its own business, and does not end the program', async () => {
  const { run } = await stage([DONE]);
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  const fail = async (): Promise<void> => {
    throw new Error('the listener is broken');
  };
  expect(await run({ onEvent: fail, onText: fail, onNotice: fail })).toMatchObject({
    status: 'completed',
  });
  await new Promise(setImmediate);
  expect(unhandled).not.toHaveBeenCalled();
});

describe('an earlier task with the same id whose end was not announced', () => {
  /** Kills ralph before it can tell how its task has ended, and takes down what it is told later. */
  const DIES = [
    '[ -e died ] || {',
    ': > died; rm -f Needs_Action/RALPH_*; : > .ralph_state/events.jsonl; kill -9 $PPID; exit;',
    '}; cat > end.json',
  ].join(' ');

  async function killed() {
    const set = await stage([WORKING, DONE]);
    const args = ['--prompt', 'Fix it', '--task-id', 't', '-n', '1', '--on-end', DIES];
    expect(await set.scene.ralph(['run', ...args])).toMatchObject({ signal: 'SIGKILL' });
    expect(set.scene.notes()).toEqual([]);
    return set;
  }

  test('is announced first, by its own settings', async () => {
    const { scene, run, events } = await killed();
    expect(await run()).toMatchObject({ status: 'completed', iterations: 1 });
    const own = names(events).lastIndexOf('task_started');
    expect(names(events)[own - 1]).toBe('max_iterations_reached');
    // The note about it went when the new run was completed.
    expect(scene.notes()).toEqual([]);
    // The new run has no such command.
    expect(scene.read('end.json')).toContain('max_iterations_reached');
  });

  test('is announced without starting its agent again, although it could go on', async () => {
    const { scene, run, events } = await stage([{ text: 'It cannot be.\n\nGIVEN UP' }, DONE]);
    const args = ['--prompt', 'Fix it', '--task-id', 't', '-n', '3', '--on-end', DIES];
    const killed = await scene.ralph(['run', ...args, '--abort-promise', 'GIVEN UP']);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    expect(await run()).toMatchObject({ status: 'completed', iterations: 1 });
    const own = names(events).lastIndexOf('task_started');
    expect(names(events)[own - 1]).toBe('task_failed');
    expect(names(events)).not.toContain('task_resumed');
    expect(scene.fake.calls()).toHaveLength(2);
  });

  test('is not announced if its settings are lost, and the new task still runs', async () => {
    const { scene, run, events, notices } = await killed();
    await scene.write('.ralph_state/t/settings.json', 'no JSON');
    expect(await run()).toMatchObject({ status: 'completed' });
    expect(names(events)).not.toContain('max_iterations_reached');
    expect(notices[0]).toMatch(/cannot announce how the earlier run of t ended/);
  });
});

describe('it rejects', () => {
  test.for<[name: string, options: Partial<RunTaskOptions>, problem: string]>([
    ['an empty prompt', { prompt: '' }, 'The prompt is empty'],
    ['two prompts', { promptFile: 'x.md' }, 'exactly one of'],
    ['a bad number', { maxIterations: 0 }, 'maxIterations'],
    ['a bad duration', { timeout: 'soon' }, 'timeout'],
    ['a bad choice', { match: 'exactly' as 'tag' }, 'match'],
    ['a bad id', { taskId: '../x' }, '--task-id'],
    ['a payment', { taskType: 'payment' }, 'never automates'],
    [
      'a task file that is not there',
      { prompt: undefined as never, taskFile: 'x.md' },
      'is not there',
    ],
  ])('%s: a usage error, and nothing was started', async ([, options, problem]) => {
    const { scene, run } = await stage([]);
    const error = await run(options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).problems.join('\n')).toContain(problem);
    expect(scene.names()).toEqual([]);
  });

  test('all problems at once', async () => {
    const { run } = await stage([]);
    const error = await run({ timeout: 'soon', maxIterations: 0 }).catch(
      (thrown: unknown) => thrown,
    );
    expect((error as UsageError).problems.length).toBeGreaterThanOrEqual(2);
  });

  test('a task that a live loop has, even in this process', async () => {
    const { scene, run } = await stage([{ hangs: true }]);
    const abort = new AbortController();
    const first = run({ signal: abort.signal });
    await untilCalls(scene, 1);
    const error = await run().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskAlreadyActiveError);
    expect((error as TaskAlreadyActiveError).toJSON().error).toMatchObject({
      type: 'TaskAlreadyActiveError',
      task_id: 't',
    });
    abort.abort();
    expect(await first).toMatchObject({ status: 'stopped' });
  });
});

describe('an AbortSignal', () => {
  test('stops the task and leaves no process; it can be resumed', async () => {
    const { scene, run, events } = await stage([
      { hangs: true, leaves: server('server.pid') },
      DONE,
    ]);
    const abort = new AbortController();
    const ended = run({ signal: abort.signal });
    await untilCalls(scene, 1);
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    abort.abort();
    expect(await ended).toMatchObject({
      status: 'stopped',
      exitCode: 143,
      exitReason: 'stopped:request',
    });
    expect(isDead(pid)).toBe(true);
    expect(livingIn(scene.home)).toEqual([]);
    expect(names(events).at(-1)).toBe('task_stopped');
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 0 });
  });

  test('that is aborted already starts nothing', async () => {
    const { scene, run } = await stage([]);
    expect(await run({ signal: AbortSignal.abort() })).toMatchObject({
      status: 'stopped',
      iterations: 0,
    });
    expect(scene.fake.calls()).toEqual([]);
  });

  test('ends a wait for a person', async () => {
    const { scene, run, events } = await stage([ASKING, DONE]);
    const abort = new AbortController();
    const ended = run({ signal: abort.signal });
    await until(
      () => names(events).includes('task_paused'),
      () => `a request; so far ${names(events)}`,
    );
    abort.abort();
    expect(await ended).toMatchObject({ status: 'stopped' });
    expect(scene.state().paused_for_approval).toBe(true);
  });

  test('has no listener left after the run', async () => {
    const { run } = await stage([DONE]);
    const abort = new AbortController();
    let listeners = 0;
    const { signal } = abort;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await run({ signal });
    expect(listeners).toBe(0);
  });
});

describe('in the process it runs in', () => {
  test('no signal handler is left, nor while it runs', async () => {
    const count = (): readonly number[] => SIGNALS.map((name) => process.listenerCount(name));
    const before = count();
    const { scene, run } = await stage([{ hangs: true }]);
    const abort = new AbortController();
    const ended = run({ signal: abort.signal });
    await untilCalls(scene, 1);
    expect(count()).toEqual(before);
    abort.abort();
    await ended;
    expect(count()).toEqual(before);
  });

  test('its RALPH_ settings and configuration file are not read', async () => {
    const { scene, run } = await stage(WORKING);
    await scene.write('ralph.config.yaml', 'max_iterations: 4\n');
    const env = { ...scene.env, RALPH_MAX_ITERATIONS: '3', RALPH_PROMISE: 'Not yet.' };
    expect(await run({ env, noProgressLimit: 0 })).toMatchObject({
      status: 'max_iterations_reached',
      iterations: 5,
    });
  });

  test('several at once do not get in each other’s way', async () => {
    const scenes = await Promise.all(
      [[WORKING, DONE], [ASKING], [{ hangs: true }], [DONE]].map(stage),
    );
    const aborts = scenes.map(() => new AbortController());
    const runs = scenes.map(({ run }, index) =>
      run({ taskId: `t${index}`, signal: aborts[index]?.signal as AbortSignal, noWait: true }),
    );
    await Promise.all([runs[0], runs[1], runs[3]]);
    await untilCalls(scenes[2]?.scene as Scene, 1);
    aborts[2]?.abort();
    const results = await Promise.all(runs);
    expect(results.map(({ status }) => status)).toEqual([
      'completed',
      'paused_awaiting_approval',
      'stopped',
      'completed',
    ]);
    scenes.forEach(({ events, scene }, index) => {
      expect(new Set(events.map(({ task_id }) => task_id))).toEqual(new Set([`t${index}`]));
      expect(livingIn(scene.home)).toEqual([]);
    });
  });

  test('several at once in one vault', async () => {
    const { scene, run } = await stage(DONE);
    const ids = ['a', 'b', 'c'];
    const results = await Promise.all(ids.map((taskId) => run({ taskId })));
    expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    expect(scene.names('.ralph_state/history').filter((name) => name.endsWith('.json'))).toEqual(
      ids.map((id) => `${id}.json`),
    );
  });

  test('an approval by a file lets it go on', async () => {
    const { scene, run, events } = await stage([ASKING, DONE]);
    const ended = run();
    await until(
      () => names(events).includes('task_paused'),
      () => `a request; so far ${names(events)}`,
    );
    mkdirSync(join(scene.folder, 'Approved'));
    const name = 'APPROVAL_t_deploy.md';
    renameSync(join(scene.folder, 'Pending_Approval', name), join(scene.folder, 'Approved', name));
    expect(await ended).toMatchObject({ status: 'completed', iterations: 2 });
  });
});

describe('examples/library.ts', () => {
  test('runs a task, listens to it, cancels another, and leaves nothing', async () => {
    const source = readFileSync(join(ROOT, 'examples/library.ts'), 'utf8');
    const scene = await makeScene();
    const { code } = await transform(source, { loader: 'ts', format: 'esm' });
    mkdirSync(join(scene.folder, 'node_modules'));
    symlinkSync(ROOT, join(scene.folder, 'node_modules/ralph-headless'));
    writeFileSync(join(scene.folder, 'library.mjs'), code);
    const said = execFileSync(process.execPath, ['library.mjs'], {
      cwd: scene.folder,
      env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: scene.home },
      encoding: 'utf8',
      timeout: PATIENCE_MS,
    });
    const lines = said.split('\n').filter((line) => line !== 'report: agent_activity');
    expect(lines).toEqual([
      'report: task_started',
      'report: iteration_started',
      'report: task_iterated',
      'report: task_completed',
      'completed after 1 iteration: The report is written.',
      'TASK_COMPLETE',
      '',
      'endless: task_started',
      'endless: iteration_started',
      'endless: task_stopped',
      'stopped; ralph resume endless would continue it',
      '',
    ]);
    expect(livingIn(scene.home)).toEqual([]);
    expect(source.trim().split('\n').length).toBeLessThanOrEqual(30);
  });
});
