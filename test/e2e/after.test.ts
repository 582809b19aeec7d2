import { describe, expect, test } from 'vitest';
import { planLimited } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT } from '../helpers/patience.ts';
import { jsonLines, makeScene } from '../helpers/scene.ts';

// What is around the loop: the user's commands behind an iteration and behind the end, words from a person
// while it runs, and traces of other loops.

const DONE: Turn = { text: 'All good.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'x', '--task-id', 't', '--delay', '0'] as const;

describe('--after', () => {
  test('gets one line of JSON after each iteration, the last included', async () => {
    const scene = await makeScene([{ text: 'Not yet.', costUsd: 0.5 }, DONE]);
    const { exitCode, stdout } = await scene.run([
      ...['--after', 'cat >> told; echo noise; echo noise >&2'],
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${DONE.text}\n` });
    expect(scene.read('told').match(/\n/g)).toHaveLength(2);
    expect(jsonLines(scene.read('told'))).toMatchObject([
      { event: 'task_iterated', task_id: 't', iteration: 1, outcome: 'answered', cost_usd: 0.5 },
      { event: 'task_iterated', task_id: 't', iteration: 2, outcome: 'answered', completed: true },
    ]);
  });

  test('once an iteration, not once an attempt; after one that failed, too', async () => {
    const fault = { isError: true, apiErrorStatus: 529, text: 'API Error: 529 Overloaded.' };
    const failed = { before: ['On it.'], noResult: true, exitCode: 1 };
    const scene = await makeScene([fault, failed, DONE]);
    await scene.run(['--after', 'cat >> told', '--verify', 'true']);
    expect(jsonLines(scene.read('told'))).toMatchObject([
      { iteration: 1, outcome: 'errored' },
      { iteration: 2, completed: true },
    ]);
  });

  test('in --cwd; one that fails is said, and stops nothing', async () => {
    const scene = await makeScene([DONE]);
    await scene.write('repo/here', '');
    const after = 'test -f here && touch ran; exit 3';
    const { exitCode, stderr } = await scene.run(['--cwd', 'repo', '--after', after]);
    expect(exitCode).toBe(0);
    expect(scene.names('repo')).toContain('ran');
    expect(stderr).toContain('--after exited with 3');
  });
});

describe('--on-end', () => {
  const ON_END = ['--on-end', 'cat >> told'];

  test.for<[string, Turn, readonly string[], object]>([
    ['completed', DONE, [], { event: 'task_completed', status: 'completed', exit_code: 0 }],
    [
      'exhausted',
      { text: 'No.' },
      ['-n', '2'],
      { event: 'max_iterations_reached', exit_code: 3, iterations_used: 2 },
    ],
    [
      'failed',
      { isError: true, text: 'Not logged in · Please run /login' },
      [],
      { event: 'task_failed', exit_code: 1, exit_reason: 'failed:not-logged-in' },
    ],
    [
      'limited',
      planLimited(60),
      ['--max-wait', '0'],
      { event: 'task_usage_limited', exit_code: 75, until: expect.stringMatching(/Z$/) },
    ],
  ])('%s: once, one line of JSON', async ([, turn, args, expected]) => {
    const scene = await makeScene(turn);
    await scene.run([...args, ...ON_END]);
    expect(scene.read('told')).toMatch(/^\{.*\}\n$/);
    expect(jsonLines(scene.read('told'))).toMatchObject([{ task_id: 't', ...expected }]);
    expect(scene.journal().at(-1)).toEqual(jsonLines(scene.read('told'))[0]);
  });

  test('after a stop, too', async () => {
    const scene = await makeScene([{ hangs: true }]);
    const run = await scene.start([...RUN, ...ON_END]);
    await scene.fake.untilCalls(1);
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ exitCode: 143 });
    expect(jsonLines(scene.read('told'))).toMatchObject([
      { event: 'task_stopped', status: 'stopped', exit_code: 143 },
    ]);
  });

  test('one that fails is said, and the exit code stays', async () => {
    const scene = await makeScene([DONE]);
    const { exitCode, stdout, stderr } = await scene.run(['--on-end', 'echo noise; exit 9']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${DONE.text}\n` });
    expect(stderr).toContain('--on-end exited with 9');
  });
});

describe('ralph tell', () => {
  test('reaches the next prompt, once', async () => {
    // A person at another terminal, where nothing of the loop's environment is.
    const tell =
      'unset RALPH_RUN_ID; ralph tell t "Use @tabs, please." && ralph tell t "And be brief."';
    const scene = await makeScene([{ text: 'One.', shell: tell }, { text: 'Two.' }, DONE]);
    expect((await scene.run()).exitCode).toBe(0);
    expect(scene.prompt(1)).not.toContain('please');
    expect(scene.prompt(2)).toMatch(
      /The person you work for adds: Use @tabs, please\.\nThe person you work for adds: And be brief\.\n/,
    );
    expect(scene.prompt(3)).not.toContain('please');
  });

  test('from another terminal, while it waits', async () => {
    const scene = await makeScene([{ text: 'One.' }, DONE]);
    const run = await scene.start(['run', '--prompt', 'x', '--task-id', 't', '--delay', LIMIT]);
    await run.untilStderr(/iteration 1 answered/);
    const told = await scene.ralph(['tell', 't', 'Use tabs.']);
    expect(told).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await run.ended).toMatchObject({ exitCode: 0 });
    expect(scene.prompt(2)).toContain('The person you work for adds: Use tabs.');
  });

  test.for(['nobody', '../t', 'history', ''])('an unknown id: %j', async (id) => {
    const scene = await makeScene([]);
    const { exitCode, stdout, stderr } = await scene.ralph(['tell', id, 'Use tabs.']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('there is no task ');
    expect(scene.names()).toEqual([]);
  });

  test.for<[readonly string[]]>([[['t', ' ']], [['t']], [[]]])('usage: %j', async ([args]) => {
    const scene = await makeScene([]);
    expect((await scene.ralph(['tell', ...args])).exitCode).toBe(2);
  });
});

describe('another loop in the same place is said at the start', () => {
  const HOOK = { hooks: [{ type: 'command', command: '~/.claude/ralph/stop-hook.sh' }] };

  test.for<[string, string, string]>([
    ['a stale loop file', '.claude/ralph-loop.local.md', '---\nactive: true\n---\n'],
    ['a stop hook', '.claude/settings.json', JSON.stringify({ hooks: { Stop: [HOOK] } })],
    [
      'a plugin of the user',
      '../home/.claude/settings.json',
      JSON.stringify({ enabledPlugins: { 'ralph-loop@plugins': true } }),
    ],
  ])('%s', async ([, file, text]) => {
    const scene = await makeScene([DONE]);
    const path = await scene.write(file, text);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(0);
    expect(stderr.indexOf(path)).toBeGreaterThan(-1);
    expect(stderr.indexOf(path)).toBeLessThan(stderr.indexOf('iteration 1/'));
  });

  test.for<[string, string]>([
    ['another hook', JSON.stringify({ hooks: { Stop: [{ hooks: [{ command: 'say done' }] }] } })],
    ['a plugin that is off', JSON.stringify({ enabledPlugins: { 'ralph-loop@plugins': false } })],
    ['no JSON', '{'],
  ])('%s is none', async ([, text]) => {
    const scene = await makeScene([DONE]);
    const path = await scene.write('.claude/settings.json', text);
    expect((await scene.run()).stderr).not.toContain(path);
  });
});
