import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// Each way an agent can fail, told apart: what is tried again, what is not, and what is no failure at all.

const PROMISED = 'Done.\n\nTASK_COMPLETE';
const DONE: Turn = { text: PROMISED };
/** For a run of many iterations. */
const LONG_MS = 2 * PATIENCE_MS;

/** A failure as `claude` reports one of the API's: called a success, and an error. */
function apiError(status: number | null, text: string): Turn {
  return { isError: true, text, ...(status !== null && { apiErrorStatus: status }) };
}

const OVERLOADED = apiError(
  null,
  'API Error: Repeated 529 Overloaded errors. The API is at capacity.',
);

describe('a passing fault: the same iteration again, and it counts once', () => {
  test.for<[string, Turn]>([
    ['529 again and again, without a status', OVERLOADED],
    ['500 with exit code 0', { ...apiError(500, 'API Error: 500'), exitCode: 0 }],
    [
      'a null status after retries of its own',
      {
        ...apiError(null, 'API Error: something new'),
        apiRetries: [{ status: 529, error: 'overloaded' }],
      },
    ],
    [
      'ended in its retries, no result',
      { apiRetries: [{ status: 500 }], noResult: true, exitCode: 1 },
    ],
    [
      'ended in its retries, no result, exit code 0',
      { apiRetries: [{ status: null }], noResult: true },
    ],
    [
      'interrupted in its retries by another hand',
      {
        apiRetries: [{ status: 500 }],
        subtype: 'error_during_execution',
        isError: true,
        errors: ['Request was aborted.'],
        exitCode: 0,
      },
    ],
  ])('%s', async ([, turn]) => {
    const scene = await makeScene([turn, DONE]);
    const { exitCode, stdout, stderr } = await scene.run(['-n', '1']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(stderr).toMatch(/trying again in/);
    expect(scene.state()).toMatchObject({
      status: 'completed',
      current_iteration: 1,
      attempt: 2,
      iterations: [{ number: 1, outcome: 'answered' }],
      metrics: { iterations: 1 },
      errors: [
        { iteration: 1, attempt: 1, kind: 'transient', message: expect.stringMatching(/./) },
      ],
    });
    // The very same prompt: it is the same iteration.
    expect(scene.fake.stdinOf(2)).toEqual(scene.fake.stdinOf(1));
  });

  test('several of them: each in the errors, the cost of all in the iteration', async () => {
    const scene = await makeScene([
      OVERLOADED,
      { ...apiError(500, 'API Error: 500'), costUsd: 0.02 },
      { text: PROMISED, costUsd: 0.03 },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    const state = scene.state();
    expect(state).toMatchObject({
      attempt: 3,
      errors: [{ attempt: 1 }, { attempt: 2 }],
      iterations: [{ number: 1 }],
    });
    expect(state.iterations[0].cost_usd).toBeCloseTo(0.05, 6);
    expect(state.usage.cost_usd).toBeCloseTo(0.05, 6);
    expect(scene.journal().filter(({ event }) => event === 'agent_retry')).toMatchObject([
      { by: 'ralph', iteration: 1, attempt: 1, status: 529 },
      { by: 'ralph', iteration: 1, attempt: 2, status: 500 },
    ]);
  });

  test('in a later iteration: it starts afresh with its attempts', async () => {
    const scene = await makeScene([OVERLOADED, { text: 'Not yet.' }, OVERLOADED, DONE]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    expect(scene.state()).toMatchObject({
      iterations: [{ number: 1 }, { number: 2 }],
      errors: [
        { iteration: 1, attempt: 1 },
        { iteration: 2, attempt: 1 },
      ],
    });
  });

  test.for<[string, Turn]>([
    ['a fault', OVERLOADED],
    [
      'a limit of the plan, years before its reset',
      {
        rateLimit: { status: 'rejected', resetsAt: 4_102_491_600, rateLimitType: 'five_hour' },
        ...apiError(429, "You've hit your session limit · resets 3pm (Europe/London)"),
      },
    ],
  ])('%s, and no wait allowed: exit 75 at once, with a note', async ([, turn]) => {
    const scene = await makeScene([turn]);
    const { exitCode, stdout, stderr } = await scene.run(['--retries', '0', '--max-wait', '0']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 75, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.state()).toMatchObject({ status: 'usage_limited', iterations: [] });
    expect(scene.notes()).toMatchObject([
      {
        name: expect.stringMatching(/^RALPH_LIMITED_t_\d{8}T\d{6}Z\.md$/),
        frontMatter: { task_id: 't', iterations: 0 },
      },
    ]);
    expect(stderr).toContain(scene.notes()[0]?.path ?? 'a note');
  });

  test('--retries are used up before that', async () => {
    const scene = await makeScene([OVERLOADED, OVERLOADED]);
    const { exitCode } = await scene.run(['--retries', '1', '--max-wait', '0']);
    expect(exitCode).toBe(75);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state().errors).toHaveLength(2);
  });
});

describe('what no further attempt can fix: one call, exit 1, and what to do', () => {
  async function expectFailed(scene: Scene, stderr: string, cause: string, remedy: RegExp) {
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.state()).toMatchObject({
      status: 'failed',
      exit_reason: `failed:${cause}`,
      current_iteration: 1,
      attempt: 1,
      iterations: [],
      errors: [{ iteration: 1, attempt: 1, kind: `fatal:${cause}` }],
    });
    expect(stderr).toContain(`failed (${cause})`);
    expect(stderr).toMatch(remedy);
    const [note, ...others] = scene.notes();
    expect(others).toEqual([]);
    expect(note?.name).toMatch(/^RALPH_FAILED_t_\d{8}T\d{6}Z\.md$/);
    expect(note?.frontMatter).toMatchObject({ task_id: 't', reason: `failed:${cause}` });
    expect(note?.text).toMatch(remedy);
    expect(stderr).toContain(note?.path);
    expect(scene.journal().at(-1)).toMatchObject({
      event: 'task_failed',
      exit_code: 1,
      exit_reason: `failed:${cause}`,
      note: note?.path,
      error: expect.stringMatching(/./),
    });
  }

  const HOUR_MS = 3_600_000;
  const LOGIN = /claude setup-token/;

  test.for<[string, Turn, string, RegExp]>([
    ['not logged in', apiError(null, 'Not logged in · Please run /login'), 'not-logged-in', LOGIN],
    [
      'two retries of its own after 401, and a third an hour away',
      {
        apiRetries: [
          { status: 401, error: 'authentication_failed', delayMs: 10 },
          { status: 401, error: 'authentication_failed', delayMs: HOUR_MS },
        ],
      },
      'not-logged-in',
      LOGIN,
    ],
    [
      'two retries of its own after 403, by an agent that ignores every signal',
      {
        apiRetries: [{ status: 403 }, { status: 403, delayMs: HOUR_MS }],
        ignores: ['SIGINT', 'SIGTERM', 'SIGHUP'],
      },
      'not-logged-in',
      LOGIN,
    ],
    [
      'an exit after one 401',
      { apiRetries: [{ status: 401 }], ...apiError(401, 'Invalid API key') },
      'not-logged-in',
      LOGIN,
    ],
    ['no credit', apiError(400, 'Credit balance is too low'), 'no-credit', /add credit/],
    [
      '404',
      apiError(404, "There's an issue with the selected model (opus-9)."),
      'refused-request',
      /--model/,
    ],
    [
      'a prompt that is too long',
      apiError(null, 'Prompt is too long'),
      'refused-request',
      /prompt/,
    ],
    [
      'an unknown option',
      { bare: true, noResult: true, stderr: "error: unknown option '--bogus'\n", exitCode: 1 },
      'bad-option',
      /unknown option '--bogus'[\s\S]*remove the option/,
    ],
    [
      'skip-permissions as root',
      {
        bare: true,
        noResult: true,
        stderr:
          '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n',
        exitCode: 1,
      },
      'root-refused',
      /IS_SANDBOX=1/,
    ],
    [
      'a prompt taken for a slash command',
      { text: 'Unknown command: /fix', numTurns: 0, costUsd: 0 },
      'slash-command',
      /slash/,
    ],
  ])('%s', async ([, turn, cause, remedy]) => {
    const scene = await makeScene([turn]);
    const { exitCode, stdout, stderr } = await scene.run();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    await expectFailed(scene, stderr, cause, remedy);
  });

  test('no agent: where it was looked for is said', async () => {
    const scene = await makeScene();
    await rm(scene.fake.path);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(1);
    expect(stderr).toContain('claude was not found in');
    // Cron's PATH is bare: there are the folders that installers use.
    for (const folder of ['/usr/bin', join(scene.home, '.local/bin'), '/usr/local/bin']) {
      expect(stderr).toContain(folder);
    }
    expect(stderr).toMatch(/npm install -g @anthropic-ai\/claude-code/);
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:agent-not-found', iterations: [] });
    expect(scene.notes()).toMatchObject([{ name: expect.stringMatching(/^RALPH_FAILED_t_/) }]);
  });

  test('no agent where it was said to be: only that place is named', async () => {
    const scene = await makeScene();
    const { exitCode, stderr } = await scene.run(['--claude-bin', '/nowhere/claude']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('/nowhere/claude');
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:agent-not-found' });
  });

  test('no such command', async () => {
    const scene = await makeScene();
    const { exitCode, stderr } = await scene.run(['--agent-command', 'no-such-agent --fast']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('no-such-agent was not found in');
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:agent-not-found' });
  });

  test('an agent that may not be executed', async () => {
    const scene = await makeScene();
    const agent = await scene.write('agent', '#!/bin/sh\n');
    await chmod(agent, 0o600);
    const { exitCode, stderr } = await scene.run(['--claude-bin', agent]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('is there, but cannot be started: it may not be executed');
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:agent-error' });
  });

  test('an agent whose interpreter is not there', async () => {
    const scene = await makeScene();
    const agent = await scene.write('agent', '#!/nowhere/node\n');
    await chmod(agent, 0o700);
    const { exitCode, stderr } = await scene.run(['--claude-bin', agent]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${agent} is there, but what its first line names is not`);
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:agent-error' });
  });

  test('an agent that is taken away between two attempts', async () => {
    const scene = await makeScene([{ ...OVERLOADED, shell: 'rm -- "$(command -v claude)"' }]);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(1);
    expect(stderr).toContain('claude was not found in');
    expect(scene.state()).toMatchObject({
      exit_reason: 'failed:agent-not-found',
      errors: [{ kind: 'transient' }, { kind: 'fatal:agent-not-found', attempt: 2 }],
    });
  });

  test('after an answered iteration too', async () => {
    const scene = await makeScene([
      { text: 'Not yet.' },
      apiError(400, 'Credit balance is too low'),
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(1);
    expect(scene.state()).toMatchObject({
      exit_reason: 'failed:no-credit',
      iterations: [{ number: 1, outcome: 'answered' }],
    });
    expect(scene.notes()[0]?.text).toContain('Not yet.');
  });

  test('one 401 while a token is renewed is no such cause', async () => {
    const scene = await makeScene([
      { apiRetries: [{ status: 401 }], before: ['On it.'], text: PROMISED },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
  });
});

describe('a failed start: the model was never asked', () => {
  test('three of them end the task in the words of the agent, and no iteration counts', async () => {
    const broken = apiError(null, 'Failed to load the tool registry (E-12)');
    const scene = await makeScene([broken, { bare: true, noResult: true }, broken]);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(1);
    expect(scene.fake.calls()).toHaveLength(3);
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:agent-error', iterations: [] });
    const words = 'Failed to load the tool registry (E-12)';
    expect(stderr).toContain(`failed (agent-error): ${words}\n`);
    expect(stderr).toContain('what to do: fix what the agent complains of, then resume');
    expect(stderr).not.toMatch(/no progress|prompt clearer/);
    expect(scene.notes()[0]?.text).toContain(`\n# ${words}\n`);
  });
});

describe('any other failure: the iteration counts, and the loop goes on', () => {
  test('however it failed, the agent is told how, and the next call is another iteration', async () => {
    const rows: readonly (readonly [string, Turn, RegExp])[] = [
      [
        'no result, exit code 1',
        { before: ['Working.'], noResult: true, stderr: 'TypeError: x\n', exitCode: 1 },
        /exited with code 1: TypeError: x/,
      ],
      ['no result, exit code 0', { before: ['Working.'], noResult: true }, /gave no result/],
      [
        'a result that is cut off',
        { before: ['Working.'], raw: ['{"type":"result","subtype":"succ'], noResult: true },
        /gave no result/,
      ],
      [
        'a bug of its own',
        { before: ['Working.'], ...apiError(null, 'Something went wrong') },
        /Something went wrong/,
      ],
      [
        'an error on the way',
        {
          before: ['Working.'],
          ...{ subtype: 'error_during_execution', isError: true, errors: ['It broke.'] },
        },
        /It broke\./,
      ],
      ['an answer and then exit code 3', { text: 'Not yet.', exitCode: 3 }, /exited with code 3/],
      [
        'words about limits and logins in what a tool printed',
        {
          before: ['Working.'],
          noResult: true,
          stderr: "error: unknown option '--frob'\nNot logged in\n",
          exitCode: 1,
        },
        /exited with code 1/,
      ],
    ];
    // An answer after each, so that they are no row of failures.
    const turns = rows.flatMap(([, turn]) => [turn, { text: 'Not yet.' }]);
    const scene = await makeScene([...turns, DONE]);
    const { exitCode, stderr } = await scene.run(
      ['--no-progress-limit', '0', '--max-iterations', String(turns.length + 1)],
      { timeoutMs: LONG_MS },
    );
    expect(exitCode).toBe(0);
    const { iterations, errors } = scene.state();
    for (const [index, [name, , said]] of rows.entries()) {
      const number = 2 * index + 1;
      expect({ name, stderr }).toMatchObject({ name, stderr: expect.stringMatching(said) });
      expect({ name, prompt: scene.prompt(number + 1) }).toEqual({
        name,
        prompt: expect.stringMatching(said),
      });
      expect({ name, iteration: iterations[number - 1], error: errors[index] }).toMatchObject({
        name,
        iteration: { number, outcome: 'errored', completed: false },
        error: { iteration: number, attempt: 1, kind: 'errored' },
      });
    }
    expect(errors).toHaveLength(rows.length);
  });

  test('killed by another hand', async () => {
    const scene = await makeScene([{ before: [PROMISED], shell: 'kill -9 $PPID' }, DONE]);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(0);
    expect(stderr).toContain('ended by SIGKILL, which ralph did not send');
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'errored' }, {}] });
  });

  test('a command that fails says why', async () => {
    const scene = await makeScene();
    const agent = await scene.write(
      'agent.sh',
      'echo TASK_COMPLETE\necho "disk full" >&2\nexit 9\n',
    );
    const { exitCode, stderr } = await scene.run(['--agent-command', `sh ${agent}`, '-n', '1']);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('exited with code 9: disk full');
  });
});

describe('its own bounds', () => {
  test.for([
    ['error_max_turns', 'turn'],
    ['error_max_budget_usd', 'budget'],
  ] as const)('%s: it goes on, and its words complete nothing', async ([subtype, bound]) => {
    const scene = await makeScene([
      { before: [PROMISED], subtype, isError: true, errors: ['Reached it'] },
      DONE,
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()[1]?.stdin).toContain(`cut by its own ${bound} limit`);
    expect(scene.state()).toMatchObject({
      iterations: [{ outcome: 'bounded', completed: false }, { outcome: 'answered' }],
    });
  });
});

describe('no failure at all', () => {
  test('whatever it writes, and whatever helped itself, is an answer', async () => {
    const rows: readonly (readonly [string, Turn])[] = [
      [
        'it writes about failures',
        {
          text: `Fixed TypeError at src/app.ts:429:12: max character limit reached. "Not logged in · Please run /login" and "API Error: 529 Overloaded" are handled; You've hit your session limit.`,
        },
      ],
      [
        'it warns on standard error',
        { stderr: "error: unknown option '--bogus'\n", text: 'Not yet.' },
      ],
      [
        'a limit that is far away',
        {
          rateLimit: { status: 'allowed_warning', utilization: 0.93, resetsAt: 4_102_491_600 },
          text: 'Not yet.',
        },
      ],
      [
        'a limit beyond the plan, which nobody wanted',
        {
          rateLimit: { status: 'allowed', overageStatus: 'rejected', resetsAt: 4_102_491_600 },
          text: 'Not yet.',
        },
      ],
      [
        'retries of its own that helped',
        { apiRetries: [{ status: 529 }, { status: null }], text: 'Not yet.' },
      ],
      [
        'lines that nobody knows',
        { raw: ['{"type":"news","x":1}', 'not json', '{'], text: 'Not yet.' },
      ],
    ];
    const scene = await makeScene([...rows.map(([, turn]) => turn), DONE]);
    const { exitCode, stdout } = await scene.run(
      ['--no-progress-limit', '0', '--max-iterations', String(rows.length + 1)],
      { timeoutMs: LONG_MS },
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    const { iterations, errors } = scene.state();
    expect(rows.map(([name], index) => [name, iterations[index]?.outcome])).toEqual(
      rows.map(([name]) => [name, 'answered']),
    );
    expect(errors).toEqual([]);
    expect(iterations).toHaveLength(rows.length + 1);
  });
});
