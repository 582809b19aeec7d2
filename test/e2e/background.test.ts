import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { server, untilPid } from '../helpers/background.ts';
import { LIMIT } from '../helpers/patience.ts';
import { isDead, untilDead } from '../helpers/processes.ts';
import { makeScene } from '../helpers/scene.ts';

// What outlives an agent that has done its work: its own process, or what it left running.

const PROMISED = 'Done.\n\nTASK_COMPLETE';
/** Tells in a file whether the server is alive at this moment. */
const LOOK = "grep -q '^State:.[RS]' /proc/$(cat server.pid)/status && echo alive >> seen";

describe('an agent that does not go', () => {
  test('it has given its result and hangs: accepted without waiting for it', async () => {
    const scene = await makeScene([{ text: PROMISED, hangsAfterResult: true }]);
    const { exitCode, stdout, stderr } = await scene.run([]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`${PROMISED}\n`);
    expect(stderr).not.toContain('in the background');
    expect(scene.state()).toMatchObject({
      status: 'completed',
      iterations: [{ outcome: 'answered', exit_code: 0, cost_usd: 0.01 }],
      errors: [],
    });
    expect(isDead(scene.fake.calls()[0]?.pid ?? 0)).toBe(true);
  });

  test('nor when it is asked: its result is kept, and it does not live on', async () => {
    const scene = await makeScene([
      { ignores: ['SIGINT', 'SIGTERM'], text: PROMISED, hangsAfterResult: true },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'answered' }], errors: [] });
    expect(isDead(scene.fake.calls()[0]?.pid ?? 0)).toBe(true);
  });

  test('nor without a further word: what it says once it is told to go is no answer', async () => {
    const scene = await makeScene([
      { text: PROMISED, hangsAfterResult: true, reportsOnSigint: true },
    ]);
    const { exitCode, stdout } = await scene.run(['-n', '1']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'answered' }], errors: [] });
  });

  test('it has given its result, which does not complete the task: the next iteration comes', async () => {
    const scene = await makeScene([
      { text: 'Not yet.', hangsAfterResult: true },
      { text: PROMISED },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()[1]?.stdin).toContain('Not yet.');
    expect(scene.fake.calls()[1]?.stdin).not.toContain('cut off');
    expect(scene.state()).toMatchObject({ iterations: [{ number: 1 }, { number: 2 }], errors: [] });
  });

  test('it fails and hangs: the failure is what counts', async () => {
    const scene = await makeScene([
      {
        isError: true,
        apiErrorStatus: 400,
        text: 'Credit balance is too low',
        hangsAfterResult: true,
      },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(1);
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:no-credit' });
  });

  test('a grandchild keeps its output open: accepted all the same, and ended with the task', async () => {
    const scene = await makeScene([
      { text: PROMISED, leaves: 'echo $$ > holder.pid; exec sleep 600' },
    ]);
    const { exitCode, stdout, stderr } = await scene.run([]);
    const pid = await untilPid(join(scene.folder, 'holder.pid'));
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(stderr).toContain(`ended leftover background processes: ${pid} (`);
    expect(isDead(pid)).toBe(true);
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'answered' }], errors: [] });
  });

  test('a grandchild of a plain command keeps its output open: the answer counts', async () => {
    const scene = await makeScene();
    const agent = await scene.write(
      'agent.sh',
      'sleep 600 &\necho $! > holder.pid\necho TASK_COMPLETE\n',
    );
    const { exitCode, stdout } = await scene.run(['--agent-command', `sh ${agent}`], {});
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'TASK_COMPLETE\n' });
    expect(isDead(await untilPid(join(scene.folder, 'holder.pid')))).toBe(true);
  });
});

describe('a server that an iteration left running', () => {
  test('is reported, lives through the next iteration, and is ended with the task, by name', async () => {
    const scene = await makeScene([
      { text: 'Not yet.', leaves: server('server.pid') },
      { shell: LOOK, text: PROMISED },
    ]);
    const { exitCode, stdout, stderr } = await scene.run();
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(scene.read('seen')).toBe('alive\n');
    expect(isDead(pid)).toBe(true);
    const lines = stderr.trim().split('\n');
    // Once, and not again after the iterations that only found it.
    expect(
      lines.filter((line) => line.includes(`still running in the background: ${pid} (`)),
    ).toHaveLength(1);
    const ended = lines.findIndex((line) =>
      line.includes(`ended leftover background processes: ${pid} (`),
    );
    const lastIteration = lines.findIndex((line) => line.includes('iteration 2 answered'));
    expect(ended).toBeGreaterThan(lastIteration);
  });

  test('it lives through an iteration that is cut, too, with what it has started since', async () => {
    const worker = `trap 'sleep 600 & echo $! > worker.pid' USR1; ${server('server.pid').replace('exec sleep 600', 'while :; do sleep 0.05; done')}`;
    const scene = await makeScene([
      { text: 'Not yet.', leaves: worker },
      {
        shell: 'kill -USR1 $(cat server.pid); until [ -s worker.pid ]; do sleep 0.05; done',
        hangs: true,
      },
      { shell: `${LOOK}; ${LOOK.replace('server.pid', 'worker.pid')}`, text: PROMISED },
    ]);
    const { exitCode } = await scene.run(['--iteration-timeout', LIMIT]);
    expect(exitCode).toBe(0);
    expect(scene.read('seen')).toBe('alive\nalive\n');
    for (const file of ['server.pid', 'worker.pid']) {
      expect(isDead(await untilPid(join(scene.folder, file)))).toBe(true);
    }
  });

  test.for([
    ['the iterations run out', ['-n', '1'], 3],
    ['ralph is told to be quiet', ['-n', '1', '--quiet'], 3],
  ] as const)('it is ended and named when %s', async ([, args, expected]) => {
    const scene = await makeScene([{ text: 'Not yet.', leaves: server('server.pid') }]);
    const { exitCode, stderr } = await scene.run(args);
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    expect(exitCode).toBe(expected);
    expect(stderr).toContain(`ended leftover background processes: ${pid} (`);
    expect(isDead(pid)).toBe(true);
  });

  test('it is ended when ralph is stopped between iterations', async () => {
    const scene = await makeScene([{ text: 'Not yet.', leaves: server('server.pid') }]);
    const ralph = await scene.start([
      ...['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '10m'],
    ]);
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    await ralph.untilStderr(/iteration 1 answered/);
    expect(isDead(pid)).toBe(false);
    process.kill(ralph.pid, 'SIGINT');
    const { exitCode, stderr } = await ralph.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toContain(`ended leftover background processes: ${pid} (`);
    expect(isDead(pid)).toBe(true);
  });

  test('one that ignores what it is told is killed', async () => {
    const scene = await makeScene([
      { text: PROMISED, leaves: `trap '' TERM INT HUP; ${server('server.pid')}` },
    ]);
    const { exitCode } = await scene.run();
    expect(exitCode).toBe(0);
    expect(isDead(await untilPid(join(scene.folder, 'server.pid')))).toBe(true);
  });

  test('one that ends by itself in time is not ended, nor named as such', async () => {
    const scene = await makeScene([
      { text: 'Not yet.', leaves: 'exec > /dev/null 2>&1; echo $$ > server.pid; exec sleep 0.4' },
      { shell: 'while [ -e /proc/$(cat server.pid) ]; do sleep 0.05; done', text: PROMISED },
    ]);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('ended leftover background processes');
  });

  test('with --keep-background it is reported and lives on', async () => {
    const scene = await makeScene([{ text: PROMISED, leaves: server('server.pid') }]);
    const { exitCode, stderr } = await scene.run(['--keep-background']);
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`still running in the background: ${pid} (`);
    expect(stderr).not.toContain('ended leftover background processes');
    expect(isDead(pid)).toBe(false);
  });

  test('with --keep-background an agent that has to be cut still leaves nothing', async () => {
    const scene = await makeScene([{ leaves: server('server.pid'), hangs: true }]);
    const { exitCode } = await scene.run([
      ...['--keep-background', '--iteration-timeout', LIMIT, '-n', '1'],
    ]);
    expect(exitCode).toBe(3);
    await untilDead(await untilPid(join(scene.folder, 'server.pid')));
  });
});
