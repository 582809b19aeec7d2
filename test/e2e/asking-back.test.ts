import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT } from '../helpers/patience.ts';
import { until } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// A statement that is not the last line of the answer: the agent is asked about it in its own session.

const TAG = '<promise>TASK_COMPLETE</promise>';
const DOUBTFUL = `All tests pass.\n\n${TAG}\n\nSummary: two files changed.`;
const DOUBT: Turn = { text: DOUBTFUL, sessionId: 'session-a' };
const STATED: Turn = { text: TAG, sessionId: 'session-a' };
const MISSING: Turn = { text: 'The changelog is missing.', sessionId: 'session-a' };
const DONE: Turn = { text: `Written.\n\n${TAG}`, sessionId: 'session-b' };
const RESUME = ['resume', 't', '--delay', '0'];
const START = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 't'];
const LOG = '.ralph_state/t/iteration-0001.stdout.log';

function resumed(scene: Scene): readonly (string | undefined)[] {
  return scene.fake
    .calls()
    .map(({ argv }) => argv.find((word) => word.startsWith('--resume='))?.slice(9));
}

function told(scene: Scene): readonly string[] {
  return scene.journal().map(({ event }) => event);
}

test('a statement with a summary behind it completes in one counted iteration', async () => {
  const scene = await makeScene([DOUBT, STATED]);
  const { exitCode, stdout, stderr } = await scene.run(['--max-cost', '1']);
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`${DOUBTFUL}\n`);
  expect(resumed(scene)).toEqual([undefined, 'session-a']);
  expect(scene.prompt(2)).toMatch(/^Is the task complete\?/);
  expect(scene.fake.calls()[1]?.argv).toContain('0.9900');
  expect(scene.state()).toMatchObject({
    status: 'completed',
    attempt: 2,
    evidence: { kind: 'promise', detail: TAG },
    iterations: [{ number: 1, completed: true, near_miss: false, cost_usd: 0.02, turns: 2 }],
    metrics: { iterations: 1 },
    errors: [],
  });
  expect(stderr).toContain(
    `ralph: asking the agent whether it is done (attempt 2), because the promise is not at the end: ${TAG}\n`,
  );
  expect(told(scene)).toEqual(expect.arrayContaining(['asked_back', 'task_completed']));
  expect(told(scene)).not.toContain('near_miss');
  // Answer and reply stand in the log of their iteration.
  const logs = await scene.ralph(['logs', 't', '--iteration', '1']);
  expect(logs.stdout).toContain('Summary: two files changed.');
  expect(logs.stdout.match(/<promise>TASK_COMPLETE<\/promise>/g)).toHaveLength(2);
  await scene.ralph(['report', '--html', 'report.html']);
  expect(scene.read('report.html')).toContain('asking the agent whether it is done');
});

test('what is missing by the reply is told to the next iteration', async () => {
  const scene = await makeScene([DOUBT, MISSING, DONE]);
  expect((await scene.run()).exitCode).toBe(0);
  expect(resumed(scene)).toEqual([undefined, 'session-a', undefined]);
  expect(scene.prompt(3)).toMatch(/^Fix it\n/);
  expect(scene.prompt(3)).toContain('Summary: two files changed.');
  expect(scene.prompt(3)).toContain('it answered:]\nThe changelog is missing.\n');
  expect(scene.state()).toMatchObject({
    iterations: [{ number: 1, near_miss: true, cost_usd: 0.02 }, { number: 2 }],
  });
});

describe('nothing is asked', () => {
  test.for<[string, readonly string[], Readonly<Record<string, string>>]>([
    ['--no-ask-back', ['--no-ask-back'], {}],
    ['RALPH_ASK_BACK', [], { RALPH_ASK_BACK: 'no' }],
  ])('with %s: the reminder says where it belongs', async ([, args, env]) => {
    const scene = await makeScene([DOUBT, DONE]);
    expect((await scene.run(args, { env })).exitCode).toBe(0);
    expect(resumed(scene)).toEqual([undefined, undefined]);
    expect(scene.prompt(2)).toContain('state it as the last line of your final message');
    expect(scene.state().iterations).toMatchObject([{ near_miss: true }, { completed: true }]);
  });

  test('with the key ask_back: false', async () => {
    const scene = await makeScene([DOUBT, DONE]);
    await scene.write('ralph.config.yaml', 'ask_back: false\n');
    expect((await scene.run()).exitCode).toBe(0);
    expect(resumed(scene)).toEqual([undefined, undefined]);
  });

  test('of a command, which has no session', async () => {
    const scene = await makeScene();
    const agent = `sh -c 'echo "${TAG}"; echo; echo "Summary: all done."'`;
    const end = await scene.run(['-n', '1', '--agent-command', agent]);
    expect(end.exitCode).toBe(3);
    expect(end.stderr).toContain('not counted: the promise is not at the end');
    expect(scene.state()).toMatchObject({ attempt: 1, iterations: [{ near_miss: true }] });
  });

  test('and a command that is to be asked is a usage error', async () => {
    const scene = await makeScene();
    const end = await scene.run(['--agent-command', 'cat', '--ask-back']);
    expect(end.exitCode).toBe(2);
    expect(end.stderr).toContain('--ask-back is for --agent claude');
    expect((await scene.run(['--agent-command', 'cat', '--no-ask-back', '-n', '1'])).exitCode).toBe(
      3,
    );
  });
});

describe('a question that brings nothing leaves a near miss', () => {
  test.for<[string, Turn, string]>([
    [
      'an error of the service',
      { isError: true, apiErrorStatus: 529, text: 'API Error: 529 Overloaded.' },
      'transient',
    ],
    [
      'a limit of the plan',
      { isError: true, apiErrorStatus: 429, text: "You've hit your session limit" },
      'usage-limited',
    ],
    ['a crash', { bare: true, noResult: true, stderr: 'boom\n', exitCode: 1 }, 'errored'],
    ['silence', { hangs: true }, 'timed-out'],
  ])('%s', async ([, turn, kind]) => {
    const scene = await makeScene([DOUBT, turn, DONE]);
    const { exitCode } = await scene.run(['--iteration-timeout', LIMIT, '--retries', '0']);
    expect(exitCode).toBe(0);
    expect(scene.prompt(3)).toContain('Summary: two files changed.');
    expect(scene.state()).toMatchObject({
      iterations: [{ outcome: 'answered', near_miss: true }, { completed: true }],
      errors: [{ kind, iteration: 1, attempt: 2 }],
    });
  });
});

describe('a driver that is killed while it asks', () => {
  /** Starts ralph, and kills it once `isTime`. */
  async function killed(scene: Scene, isTime: () => boolean): Promise<void> {
    const run = await scene.start(START);
    await until(isTime, () => `the time to kill it; ralph says ${run.stderr()}`);
    process.kill(run.pid, 'SIGKILL');
    await run.ended;
  }

  test('after the reply has cost something: it is not paid twice', async () => {
    const reply: Turn = { ...STATED, costUsd: 1, hangsAfterResult: true };
    const scene = await makeScene([DOUBT, reply, DONE]);
    await killed(
      scene,
      () =>
        (scene.has(LOG) ? (scene.read(LOG).match(/^\{"type":"result"/gm) ?? []) : []).length > 1,
    );
    expect((await scene.ralph(RESUME)).exitCode).toBe(0);
    expect(resumed(scene)).toEqual([undefined, 'session-a', undefined]);
    expect(scene.prompt(3)).toContain('Summary: two files changed.');
    expect(scene.state()).toMatchObject({
      usage: { cost_usd: 1.02 },
      iterations: [
        { number: 1, near_miss: true, cost_usd: 1.01 },
        { number: 2, completed: true },
      ],
      metrics: { iterations: 2 },
      errors: [{ kind: 'interrupted', iteration: 1, attempt: 2 }],
    });
  });

  test('before that: it is asked again, in one counted iteration', async () => {
    const scene = await makeScene([DOUBT, { hangs: true }, STATED]);
    await killed(scene, () => scene.fake.calls().length === 2);
    expect((await scene.ralph(RESUME)).exitCode).toBe(0);
    expect(resumed(scene)).toEqual([undefined, 'session-a', 'session-a']);
    expect(scene.state()).toMatchObject({
      usage: { cost_usd: 0.02 },
      attempt: 3,
      iterations: [{ number: 1, completed: true, cost_usd: 0.02 }],
      metrics: { iterations: 1 },
    });
  });

  test('is stopped: the answer counts, and resume goes on behind it', async () => {
    const scene = await makeScene([DOUBT, { hangs: true, reportsOnSigint: true }, DONE]);
    const run = await scene.start(START);
    await scene.fake.untilCalls(2);
    process.kill(run.pid, 'SIGINT');
    expect((await run.ended).exitCode).toBe(130);
    expect(scene.state()).toMatchObject({ status: 'stopped', metrics: { iterations: 1 } });
    expect((await scene.ralph(RESUME)).exitCode).toBe(0);
    expect(scene.state().iterations).toMatchObject([{ near_miss: true }, { completed: true }]);
  });
});

test('--dry-run shows the setting and where it comes from', async () => {
  const scene = await makeScene();
  for (const [args, value, source] of [
    [[], true, 'default'],
    [['--no-ask-back'], false, '--no-ask-back'],
    [['--agent-command', 'cat'], false, 'default'],
  ] as const) {
    const { stdout } = await scene.run(['--dry-run', '--json', ...args]);
    const { settings } = JSON.parse(stdout);
    expect(settings).toContainEqual({ name: 'ask_back', value, source });
  }
});
