import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT, LIMIT_MS } from '../helpers/patience.ts';
import { fixture, isDead } from '../helpers/processes.ts';
import { makeScene } from '../helpers/scene.ts';
import { STUBBORN, untilStubborn } from '../helpers/stubborn-agent.ts';
import { letsLimitPass, TOLD_CLOCK, TOLD_LIMIT, TOLD_LIMIT_MS } from '../helpers/told-clock.ts';

// Time: who is cut, when, with what kept; and when the clock stands still.

const PROMISED = 'Done.\n\nTASK_COMPLETE';
const SERVER_ERROR = { isError: true, apiErrorStatus: 500, text: 'API Error: 500' } as const;

describe('--iteration-timeout', () => {
  test('a stubborn agent with stubborn tools: it is over, nothing left', async () => {
    const scene = await makeScene([STUBBORN]);
    const ending = scene.run(['--iteration-timeout', LIMIT, '-n', '1']);
    const tree = await untilStubborn(scene);
    const { exitCode, stderr } = await ending;
    expect(exitCode).toBe(3);
    expect(tree.alive()).toEqual([]);
    expect(stderr).toMatch(
      /timed out \(iteration limit\) in .*; --iteration-timeout raises the limit/,
    );
    expect(stderr).not.toContain('in the background');
    expect(scene.state()).toMatchObject({
      status: 'max_iterations_reached',
      iterations: [{ number: 1, outcome: 'timed-out', completed: false }],
      errors: [{ iteration: 1, attempt: 1, kind: 'timed-out' }],
    });
  });

  test('what it had said and done is told to the next iteration, its cost is counted', async () => {
    const scene = await makeScene([
      {
        before: ['I have read @half of it.'],
        tools: [{ name: 'Bash', input: { command: 'npm test' } }],
        shell: letsLimitPass('.'),
        reportsOnSigint: true,
        hangs: true,
        costUsd: 0.25,
      },
      { text: PROMISED },
    ]);
    const limit = ['--iteration-timeout', TOLD_LIMIT];
    const { exitCode } = await scene.run(limit, { env: TOLD_CLOCK });
    expect(exitCode).toBe(0);
    const [, second] = scene.fake.calls();
    expect(second?.stdin).toContain('before it was cut off');
    expect(second?.stdin).toContain('I have read \\@half of it.');
    expect(second?.stdin).toContain('[tool] Bash: npm test');
    expect(second?.stdin).toContain(`time limit of ${TOLD_LIMIT_MS / 1_000} seconds`);
    expect(scene.state()).toMatchObject({
      usage: { cost_usd: 0.26 },
      iterations: [
        { outcome: 'timed-out', cost_usd: 0.25, tools: 1 },
        { outcome: 'answered', cost_usd: 0.01 },
      ],
    });
  });

  test('ralph’s reason wins over what the agent says as it goes', async () => {
    const scene = await makeScene();
    const agent = await scene.write(
      'agent.sh',
      "trap 'echo TASK_COMPLETE; exit 0' INT\nwhile :; do sleep 0.05; done\n",
    );
    const { exitCode } = await scene.run([
      ...['--agent-command', `sh ${agent}`, '--iteration-timeout', LIMIT, '-n', '1'],
    ]);
    expect(exitCode).toBe(3);
    expect(scene.state()).toMatchObject({
      evidence: null,
      iterations: [{ outcome: 'timed-out', completed: false, exit_code: 0 }],
    });
  });

  test('an output that has already come counts as a partial one, not as an answer', async () => {
    const scene = await makeScene([{ before: [PROMISED], hangs: true }]);
    const { exitCode } = await scene.run(['--iteration-timeout', LIMIT, '-n', '1']);
    expect(exitCode).toBe(3);
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'timed-out' }] });
  });

  test('on an agent that never reads its prompt', async () => {
    const scene = await makeScene([{ ignoresInput: true, hangs: true }]);
    const { exitCode } = await scene.ralph(
      ['run', '--prompt', '-', '--task-id', 't', '--iteration-timeout', LIMIT, '-n', '1'],
      { input: 'x'.repeat(900_000) },
    );
    expect(exitCode).toBe(3);
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'timed-out' }] });
  });
});

describe('the clock stands still', () => {
  test('while the agent waits in its own retries: one iteration, exit 0', async () => {
    const scene = await makeScene([
      {
        apiRetries: [{ status: 529, error: 'overloaded', delayMs: LIMIT_MS + 2_000 }],
        text: PROMISED,
      },
    ]);
    const { exitCode, stderr } = await scene.run([
      ...['--iteration-timeout', LIMIT, '--idle-timeout', LIMIT, '--timeout', LIMIT],
    ]);
    expect(stderr).toContain('the agent retries by itself after 529');
    expect(exitCode).toBe(0);
    expect(scene.state()).toMatchObject({
      status: 'completed',
      iterations: [{ number: 1, outcome: 'answered' }],
      errors: [],
    });
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('in many short waits as in a long one', async () => {
    const retry = { status: 500, error: 'server_error', delayMs: 1_250 };
    const scene = await makeScene([{ apiRetries: Array(8).fill(retry), text: PROMISED }]);
    const { exitCode } = await scene.run(['--iteration-timeout', LIMIT]);
    expect(exitCode).toBe(0);
    expect(scene.state().iterations).toHaveLength(1);
  });

  test('and goes on once the agent works again', async () => {
    const scene = await makeScene([
      { apiRetries: [{ status: 500, delayMs: 100 }], before: ['On it.'], hangs: true },
    ]);
    const { exitCode } = await scene.run(['--iteration-timeout', LIMIT, '-n', '1']);
    expect(exitCode).toBe(3);
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'timed-out' }] });
  });

  test('for the whole task while ralph waits for a service that is out of order', async () => {
    // Its waits add up to 31.5 s at least.
    const errors = Array<Turn>(6).fill(SERVER_ERROR);
    const scene = await makeScene([...errors, { text: PROMISED }]);
    const { exitCode } = await scene.run(['--timeout', '30s', '--retries', '6']);
    expect(exitCode).toBe(0);
    expect(scene.state()).toMatchObject({ iterations: [{ number: 1 }], attempt: 7 });
  });
});

describe('a machine that sleeps, or whose clock is set,', () => {
  const jumping = { env: { NODE_OPTIONS: `--require ${fixture('jumping-clock.cjs')}` } };
  const jump = (ms: number): string =>
    `test -e ../bin/jump || { echo ${ms} > ../bin/jump; exit 1; }`;
  const TEN_HOURS = 36_000_000;
  const TWO_DAYS = 172_800_000;
  const NOT_YET = { text: 'Not yet.' };

  test.for([
    ['for ten hours during --verify', ['--verify', jump(TEN_HOURS)], [{ text: PROMISED }]],
    ['back by two days during --verify', ['--verify', jump(-TWO_DAYS)], [{ text: PROMISED }]],
    ['for ten hours during --after', ['--after', jump(TEN_HOURS)], [NOT_YET]],
    ['for ten hours beside the agent', [], [{ ...NOT_YET, shell: `(${jump(TEN_HOURS)}) || :` }]],
  ] as const)('uses up nothing of the task: %s', async ([, args, first]) => {
    const scene = await makeScene([...first, { text: PROMISED }]);
    const { exitCode } = await scene.run(['--timeout', '1m', ...args], jumping);
    expect(exitCode).toBe(0);
    const { status, timeout_at, finished_at } = scene.state();
    expect(status).toBe('completed');
    expect(scene.fake.calls()).toHaveLength(2);
    // Nor has it more time than it had.
    const leftMs = Date.parse(timeout_at) - Date.parse(finished_at);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThan(60_000);
  });
});

describe('--idle-timeout', () => {
  test('an agent that falls silent is ended, and the next one is told so', async () => {
    const scene = await makeScene([{ before: ['Let me see.'], hangs: true }, { text: PROMISED }]);
    const { exitCode, stderr } = await scene.run(['--idle-timeout', LIMIT]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('silent for too long');
    expect(scene.fake.calls()[1]?.stdin).toContain('silent for too long');
    expect(scene.fake.calls()[1]?.stdin).toContain('Let me see.');
    expect(scene.state()).toMatchObject({
      iterations: [{ outcome: 'timed-out' }, { outcome: 'answered' }],
    });
    expect(scene.fake.calls().map(({ pid }) => isDead(pid))).toEqual([true, true]);
  });

  test('one that goes on speaking is not', async () => {
    const scene = await makeScene();
    const agent = await scene.write(
      'agent.sh',
      'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.75; echo "Step $i."; done; echo TASK_COMPLETE\n',
    );
    const { exitCode } = await scene.run([
      ...['--agent-command', `sh ${agent}`, '--idle-timeout', LIMIT, '-n', '1'],
    ]);
    expect(exitCode).toBe(0);
  });
});

describe('--timeout', () => {
  test('while a stubborn agent runs: exit 4, a note, nothing left', async () => {
    const scene = await makeScene([STUBBORN]);
    const ending = scene.run(['--timeout', LIMIT]);
    const tree = await untilStubborn(scene);
    const { exitCode, stderr } = await ending;
    expect(exitCode).toBe(4);
    expect(stderr).toContain('the time limit of the whole task was reached');
    expect(tree.alive()).toEqual([]);
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.state()).toMatchObject({ status: 'timeout', exit_reason: 'timeout' });
    expect(scene.notes()).toMatchObject([
      {
        name: expect.stringMatching(/^RALPH_TIMEOUT_t_\d{8}T\d{6}Z\.md$/),
        frontMatter: { task_id: 't', reason: 'timeout' },
      },
    ]);
    expect(stderr).toContain(scene.notes()[0]?.path ?? 'a note');
  });

  test('over several iterations: no further one', async () => {
    const scene = await makeScene({ delayMs: 400, text: 'Not yet.' });
    const { exitCode } = await scene.run(['--timeout', '2s', '-n', '100']);
    expect(exitCode).toBe(4);
    expect(scene.state().metrics.iterations).toBeLessThan(10);
  });

  test('between two iterations: there is no second one', async () => {
    const scene = await makeScene([{ delayMs: 1_000, text: 'Not yet.' }]);
    const { exitCode } = await scene.run(['--timeout', LIMIT, '--delay', '7500ms']);
    expect(exitCode).toBe(4);
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.state()).toMatchObject({ status: 'timeout', current_iteration: 1 });
  });

  test('completed in the very iteration that the limit cuts: its result had come', async () => {
    const scene = await makeScene([
      { text: PROMISED, ignores: ['SIGINT'], hangsAfterResult: true },
    ]);
    const { exitCode } = await scene.run(['--timeout', LIMIT]);
    expect(exitCode).toBe(0);
    expect(scene.state()).toMatchObject({ status: 'completed' });
  });
});
