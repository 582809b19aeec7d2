import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planLimited } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT, LIMIT_MS, PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// A limit of the account's plan: what is waited for, for how long, and when it is not.

const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'x', '--task-id', 't', '--delay', '0'] as const;
const DAY_S = 86_400;
/** The wait for such a reset is longer than the limit. */
const RESET_S = LIMIT_MS / 1_000 + 4;

/** Exit 75 by a usage limit, and all that it leaves. */
function expectLimited(scene: Scene, stderr: string, reason: string): void {
  expect(scene.state()).toMatchObject({ status: 'usage_limited', exit_reason: reason });
  const [note, ...others] = scene.notes();
  expect(others).toEqual([]);
  expect(note?.name).toMatch(/^RALPH_LIMITED_t_\d{8}T\d{6}Z\.md$/);
  expect(note?.frontMatter).toMatchObject({ type: 'ralph_limited', reason });
  expect(stderr).toContain(note?.path);
  expect(scene.journal().at(-1)).toMatchObject({
    event: 'task_usage_limited',
    exit_code: 75,
    note: note?.path,
  });
}

/** Loaded into ralph: its clock and its waits go a hundred times as fast. */
const FAST_CLOCK = `
const { syncBuiltinESMExports } = require('node:module');
const promises = require('node:timers/promises');
const TIMES = 100;
if (process.argv[1].endsWith('ralph.js')) {
  const { now } = Date;
  const start = now();
  Date.now = () => start + (now() - start) * TIMES;
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...args) { super(...(args.length === 0 ? [RealDate.now()] : args)); }
  };
  const { setTimeout: sleep } = promises;
  promises.setTimeout = (ms, ...rest) => sleep(ms / TIMES, ...rest);
  syncBuiltinESMExports();
}
`;

async function withFastClock(scene: Scene): Promise<{ env: Record<string, string> }> {
  const file = await scene.write('../clock.cjs', FAST_CLOCK);
  return { env: { NODE_OPTIONS: `--require ${file}` } };
}

describe('waited for', () => {
  test('a rate_limit_event with a reset ahead: one counted iteration, beyond --timeout', async () => {
    const limited = planLimited(RESET_S);
    const scene = await makeScene([limited, DONE]);
    const { exitCode, stdout, stderr, durationMs } = await scene.run([
      // Shorter than the wait: no work was possible meanwhile.
      ...['-n', '1', '--timeout', LIMIT],
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${DONE.text}\n` });
    expect(durationMs).toBeGreaterThan(LIMIT_MS);
    expect(scene.fake.calls()).toHaveLength(2);
    // The very same prompt: it is the same iteration.
    expect(scene.fake.stdinOf(2)).toEqual(scene.fake.stdinOf(1));
    expect(scene.state()).toMatchObject({
      status: 'completed',
      current_iteration: 1,
      attempt: 2,
      iterations: [{ number: 1, outcome: 'answered' }],
      metrics: { iterations: 1 },
      errors: [{ kind: 'usage-limited', iteration: 1 }],
    });
    const waits = scene.journal().filter(({ event }) => event === 'usage_limit_wait');
    expect(waits).toHaveLength(1);
    const resetMs = Number(limited.rateLimit?.resetsAt) * 1_000;
    expect(Date.parse(waits[0].until)).toBeGreaterThanOrEqual(resetMs);
    expect(Date.parse(waits[0].until)).toBeLessThan(resetMs + 10_000);
    expect(stderr).toContain(`waiting until ${waits[0].until}`);
  });

  test('in the words of a command that failed: one counted iteration', async () => {
    const scene = await makeScene();
    const words = "ERROR: You've hit your usage limit. Upgrade to Pro, or try again in 2 seconds.";
    const agent = await scene.write(
      'agent.sh',
      `test -f limited && exec echo TASK_COMPLETE\n: > limited\necho "${words}" >&2\nexit 1\n`,
    );
    const { exitCode, stdout, stderr } = await scene.run([
      ...['--agent-command', `sh ${agent}`, '-n', '1'],
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'TASK_COMPLETE\n' });
    const [wait] = scene.journal().filter(({ event }) => event === 'usage_limit_wait');
    expect(stderr).toContain(`waiting until ${wait.until}`);
    expect(scene.state()).toMatchObject({
      metrics: { iterations: 1 },
      errors: [{ kind: 'usage-limited', message: expect.stringMatching(/^You've hit/) }],
    });
  });

  test('no such words of a command that succeeds, however it talks about limits', async () => {
    const scene = await makeScene();
    const agent = `echo "You've hit your usage limit. Try again in 2 seconds."`;
    const { exitCode } = await scene.run(['--agent-command', agent, '-n', '2']);
    expect(exitCode).toBe(3);
    expect(scene.state()).toMatchObject({ metrics: { iterations: 2 }, errors: [] });
  });

  test('a hint in such a wait does not make it count against --timeout', async () => {
    const scene = await makeScene([planLimited(RESET_S), DONE]);
    const run = await scene.start([...RUN, '--timeout', LIMIT]);
    await run.untilStderr(/waiting until/);
    await scene.ralph(['tell', 't', 'Mind the tests.']);
    expect(await run.ended).toMatchObject({ exitCode: 0 });
  });

  test('further away than a timer can hold: it does not fire at once, and a signal ends it', async () => {
    const scene = await makeScene([planLimited(40 * DAY_S)]);
    const run = await scene.start([...RUN, '--max-wait', '60d']);
    await run.untilStderr(/waiting until/);
    // The state says what is waited for; two requests of another ralph later it still does.
    await scene.ralph(['tell', 't', 'one']);
    expect(scene.state()).toMatchObject({
      status: 'running',
      wait: { kind: 'usage-limit', until: expect.stringMatching(/Z$/) },
    });
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ exitCode: 130 });
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test.skipIf(process.platform !== 'linux')('with a countdown on a terminal', async () => {
    const scene = await makeScene([planLimited(RESET_S), DONE]);
    const ralph = `timeout -s KILL ${PATIENCE_MS / 1_000} ralph ${RUN.join(' ')}`;
    const { stdout, status } = spawnSync(
      'script',
      ['-qec', `stty rows 24 cols 100; ${ralph}`, '/dev/null'],
      {
        cwd: scene.folder,
        env: { ...scene.env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    expect(status).toBe(0);
    const left = stdout.matchAll(/waiting for the usage limit, ([\d.]+)(?:m?s) left/g);
    expect(new Set([...left].map(([shown]) => shown)).size).toBeGreaterThan(1);
    // Nothing is wrong, so nothing looks so.
    expect(stdout).not.toContain('✖');
  });

  test.for<[string, Turn]>([
    ['no time at all', planLimited(null)],
    ['a reset that has passed', planLimited(-60)],
  ])('%s: growing pauses, bounded by --max-wait', async ([, turn]) => {
    const scene = await makeScene(turn);
    const { exitCode, stderr } = await scene.run(
      ['--max-wait', '5m', '--timeout', '1d'],
      await withFastClock(scene),
    );
    expect(exitCode).toBe(75);
    expectLimited(scene, stderr, 'usage_limit');
    const calls = scene.fake.calls().length;
    expect(calls).toBeGreaterThan(1);
    // 30 s, 60 s, 120 s.
    expect(calls).toBeLessThanOrEqual(4);
    expect(scene.state()).toMatchObject({ iterations: [], metrics: { iterations: 0 } });
  });
});

describe('not waited for', () => {
  test('a reset beyond --max-wait: exit 75 at once, the time printed and in the note', async () => {
    const limited = planLimited(7 * 3_600);
    const scene = await makeScene([limited]);
    const { exitCode, stdout, stderr } = await scene.run();
    expect({ exitCode, stdout }).toEqual({ exitCode: 75, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(1);
    expectLimited(scene, stderr, 'usage_limit');
    const resetsAt = new Date(Number(limited.rateLimit?.resetsAt) * 1_000).toISOString();
    expect(stderr).toContain(`until ${resetsAt}`);
    expect(scene.notes()[0]?.text).toContain(resetsAt);
    expect(scene.journal().at(-1)).toMatchObject({ until: resetsAt });
  });

  test.for<[string, string]>([
    ["You've hit your limit · resets 5pm (Europe/Vilnius)", 'T1[45]:00:00'],
    ['Weekly limit reached ∙ resets Oct 5, 3pm (UTC)', '-10-05T15:00:00'],
    [
      "You've hit your weekly limit · resets Jul 15 at 12am (Australia/Melbourne)",
      '-07-14T14:00:00',
    ],
    ['Claude AI usage limit reached|9999999999', ''],
    ['Claude usage limit reached. Your limit will reset at 9am (America/Chicago).', 'T1[45]:00:00'],
    ["You're out of extra usage", ''],
  ])('by words alone, %s', async ([text, time]) => {
    const scene = await makeScene([{ isError: true, apiErrorStatus: 429, text }]);
    const { exitCode, stderr } = await scene.run(['--max-wait', '0']);
    expect(exitCode).toBe(75);
    expect(stderr).toMatch(new RegExp(`a usage limit lasts longer than --max-wait.*${time}`));
    expectLimited(scene, stderr, 'usage_limit');
  });

  test('--max-wait 0 is said by the exit code alone under --quiet, with the lines of the end', async () => {
    const scene = await makeScene([planLimited(60)]);
    const { exitCode, stderr } = await scene.run(['--max-wait', '0', '--quiet']);
    expect(exitCode).toBe(75);
    expect(stderr).toContain(join(scene.folder, 'Needs_Action'));
  });
});

describe('--max-usage', () => {
  const WARNED = {
    status: 'allowed_warning',
    rateLimitType: 'five_hour',
    resetsAt: Math.ceil(Date.now() / 1_000) + 3_600,
  };

  test('stops before the limit: exit 75 with the time', async () => {
    const scene = await makeScene([
      { rateLimit: { ...WARNED, utilization: 0.79 }, text: 'One.' },
      { rateLimit: { ...WARNED, utilization: 0.8 }, text: 'Two.' },
    ]);
    const { exitCode, stderr } = await scene.run(['--max-usage', '80']);
    expect(exitCode).toBe(75);
    expect(scene.fake.calls()).toHaveLength(2);
    expectLimited(scene, stderr, 'max_usage');
    const time = new Date(WARNED.resetsAt * 1_000).toISOString();
    expect(stderr).toContain(`--max-usage is reached, until ${time}`);
    expect(scene.notes()[0]?.text).toContain('80 %');
    expect(scene.state().iterations).toHaveLength(2);
  });

  test('completion goes before it', async () => {
    const scene = await makeScene([{ ...DONE, rateLimit: { ...WARNED, utilization: 0.95 } }]);
    expect((await scene.run(['--max-usage', '80'])).exitCode).toBe(0);
  });

  test('without it a warning is information', async () => {
    const scene = await makeScene([
      { rateLimit: { ...WARNED, utilization: 0.99 }, text: 'One.' },
      DONE,
    ]);
    expect((await scene.run()).exitCode).toBe(0);
  });
});
