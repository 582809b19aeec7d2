import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

// What the agent finds around it, and what is kept of what it says.

const PROMISED = 'Done.\n\nTASK_COMPLETE';

describe('the environment of the agent', () => {
  test('names task, iteration and state file, and one run the whole time', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }, { text: PROMISED }]);
    const { exitCode } = await scene.run(['-n', '7']);
    expect(exitCode).toBe(0);
    const [first, second] = scene.fake.calls().map(({ env }) => env);
    expect(first).toMatchObject({
      RALPH_TASK_ID: 't',
      RALPH_ITERATION: '1',
      RALPH_MAX_ITERATIONS: '7',
      RALPH_STATE_FILE: join(scene.folder, '.ralph_state/t.json'),
      RALPH_RUN_ID: expect.stringMatching(/^[\w-]{20,}$/),
    });
    expect(second).toEqual({ ...first, RALPH_ITERATION: '2' });
  });

  test('another run has another name', async () => {
    const scene = await makeScene({ text: PROMISED });
    await scene.run();
    await scene.run();
    const [first, second] = scene.fake.calls().map(({ env }) => env.RALPH_RUN_ID);
    expect(first).not.toBe(second);
  });

  test('a further attempt is the same iteration', async () => {
    const scene = await makeScene([
      { isError: true, apiErrorStatus: 500, text: 'API Error: 500' },
      { text: PROMISED },
    ]);
    await scene.run();
    const [first, second] = scene.fake.calls().map(({ env }) => env);
    expect(second).toEqual(first);
  });

  test('is the caller’s otherwise, without what would make it believe to be inside another agent', async () => {
    const scene = await makeScene([{ text: PROMISED }]);
    const own = {
      CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-loopback',
      CLAUDE_CODE_MAX_RETRIES: '3',
      IS_SANDBOX: '1',
      'WITH-ODD.NAME': 'kept = "as it is"\n',
      EMPTY: '',
    };
    const { exitCode } = await scene.run([], {
      env: {
        ...own,
        CLAUDECODE: '1',
        CLAUDE_CODE_ENTRYPOINT: 'cli',
        CLAUDE_CODE_SSE_PORT: '4711',
      },
    });
    expect(exitCode).toBe(0);
    const env = scene.fake.calls()[0]?.env ?? {};
    expect(env).toMatchObject({ ...own, HOME: scene.home });
    for (const name of ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT']) {
      expect(env).not.toHaveProperty(name);
    }
    const added = Object.keys(env).filter((name) => name.startsWith('RALPH_'));
    expect(added.sort()).toEqual([
      'RALPH_ITERATION',
      'RALPH_MAX_ITERATIONS',
      'RALPH_RUN_ID',
      'RALPH_STATE_FILE',
      'RALPH_TASK_ID',
    ]);
  });

  test('inside another loop: the outer one’s names are no settings, and are not handed on', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }, { text: PROMISED }]);
    const { exitCode } = await scene.ralph(['run', '--prompt', 'Fix it', '--delay', '0'], {
      env: {
        RALPH_RUN_ID: 'outer-run',
        RALPH_TASK_ID: 'outer-task',
        RALPH_ITERATION: '9',
        RALPH_MAX_ITERATIONS: '1',
        RALPH_STATE_FILE: '/nowhere/outer-task.json',
      },
    });
    // With one iteration at most it would have ended 3.
    expect(exitCode).toBe(0);
    const [first, second] = scene.fake.calls().map(({ env }) => env);
    expect(first).toMatchObject({ RALPH_ITERATION: '1', RALPH_MAX_ITERATIONS: '5' });
    expect(second).toMatchObject({ RALPH_ITERATION: '2' });
    expect(JSON.stringify(first)).not.toContain('outer');
    expect(first?.RALPH_STATE_FILE).toBe(
      join(scene.folder, `.ralph_state/${first?.RALPH_TASK_ID}.json`),
    );
  });

  test('a loop inside a loop has both names, each its own', async () => {
    const scene = await makeScene([
      { shell: 'ralph run --prompt Inner --task-id inner', text: PROMISED },
      { text: PROMISED },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    expect(scene.state('inner')).toMatchObject({ status: 'completed' });
    const [outer, inner] = scene.fake.calls().map(({ env }) => env);
    expect([outer?.RALPH_TASK_ID, inner?.RALPH_TASK_ID]).toEqual(['t', 'inner']);
    expect(outer?.RALPH_RUN_ID).not.toBe(inner?.RALPH_RUN_ID);
  });

  test('a plain command gets the same', async () => {
    const scene = await makeScene();
    const agent = await scene.write('agent.sh', 'env > seen\npwd >> seen\necho TASK_COMPLETE\n');
    const { exitCode } = await scene.run(['--agent-command', `sh ${agent}`], {
      env: { CLAUDECODE: '1', OWN: 'kept' },
    });
    expect(exitCode).toBe(0);
    const seen = scene.read('seen');
    expect(seen).toContain('RALPH_TASK_ID=t\n');
    expect(seen).toContain('OWN=kept\n');
    expect(seen).not.toContain('CLAUDECODE');
    expect(seen).toMatch(new RegExp(`^${realpathSync(scene.folder)}$`, 'm'));
  });

  test('it works in --cwd, and the state lies in the vault', async () => {
    const scene = await makeScene([{ text: PROMISED }]);
    await scene.write('project/file', '');
    const { exitCode } = await scene.run(['--cwd', 'project']);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()[0]).toMatchObject({
      cwd: join(scene.folder, 'project'),
      env: { RALPH_STATE_FILE: join(scene.folder, '.ralph_state/t.json') },
    });
    expect(scene.has('project/.ralph_state')).toBe(false);
  });
});

describe('the logs', () => {
  const STDOUT = '.ralph_state/history/t/iteration-0001.stdout.log';
  const STDERR = '.ralph_state/history/t/iteration-0001.stderr.log';

  test('hold the whole output, of every attempt, for their owner alone', async () => {
    const scene = await makeScene([
      { isError: true, apiErrorStatus: 500, text: 'API Error: 500 first', stderr: 'one\n' },
      { text: `Second.\n\n${PROMISED}`, stderr: 'two\n' },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    expect(scene.read(STDOUT)).toMatch(/API Error: 500 first[\s\S]*Second\./);
    expect(scene.read(STDERR)).toBe('one\ntwo\n');
    for (const file of [STDOUT, STDERR]) {
      expect(statSync(join(scene.folder, file)).mode & 0o777).toBe(0o600);
    }
  });

  test('are bounded by --log-limit: head and tail are kept, what is left out is said', async () => {
    const scene = await makeScene([
      {
        before: ['The very first words.'],
        tools: Array.from({ length: 20 }, () => ({ name: 'Bash', resultBytes: 50_000 })),
        stderr: 'e'.repeat(100_000),
        text: PROMISED,
      },
    ]);
    const { exitCode, stdout } = await scene.run(['--log-limit', '64KB']);
    // The log is one thing, what is read another.
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(scene.state()).toMatchObject({ iterations: [{ tools: 20 }] });
    const names = scene.names('.ralph_state/history/t');
    const sizeOf = (stream: string): number =>
      names
        .filter((name) => name.includes(stream))
        .reduce((sum, name) => sum + scene.read(`.ralph_state/history/t/${name}`).length, 0);
    expect(sizeOf('stdout')).toBeLessThanOrEqual(64 * 1024);
    expect(sizeOf('stderr')).toBeLessThanOrEqual(64 * 1024);
    const log = (await scene.ralph(['logs', 't', '--raw'])).stdout;
    expect(log).toContain('The very first words.');
    expect(log).toMatch(/\n\[ralph: \d+ bytes left out\]\n/);
    expect(log).toMatch(/"type":"result"[^\n]*TASK_COMPLETE[^\n]*\n$/);
    expect(names.filter((name) => !/\.log\.\d{15}$/.test(name))).toEqual([
      'baseline.json',
      'iteration-0001.stderr.log',
      'iteration-0001.stdout.log',
      'prompt.md',
      'settings.json',
    ]);
  });
});
