import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { server, untilPid } from '../helpers/background.ts';
import { guardOf, guardsOf } from '../helpers/guard-of.ts';
import { endAllInLater, livingIn, untilNobodyIn } from '../helpers/living-in.ts';
import { isDead, startProgram, until, untilDead } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';
import { STUBBORN, untilStubborn } from '../helpers/stubborn-agent.ts';
import { letTimePass, TOLD_CLOCK } from '../helpers/told-clock.ts';

// However ralph is ended, nothing of its agent outlives it, and the agent is not called again.

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

const RUN = ['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0'] as const;
const PROMISED = 'Done.\n\nTASK_COMPLETE';

/** How a program ended. */
function exitOf(program: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    program.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

/** Every iteration that was announced, as `iteration.attempt`. */
function announced(scene: Scene): readonly string[] {
  return scene
    .journal()
    .filter(({ event }) => event === 'iteration_started')
    .map(({ iteration, attempt }) => `${iteration}.${attempt}`);
}

describe('a signal to ralph', () => {
  test.for(SIGNALS)(
    '%s while a stubborn agent runs: exit %i, stopped, nothing left',
    async ([signal, exitCode]) => {
      const scene = await makeScene([STUBBORN]);
      const ralph = await scene.start(RUN);
      const tree = await untilStubborn(scene);
      const guard = await guardOf(ralph.pid);
      process.kill(ralph.pid, signal);
      expect(await ralph.ended).toMatchObject({ exitCode, signal: null, stdout: '' });
      expect(tree.alive()).toEqual([]);
      await untilDead(guard);
      expect(scene.fake.calls()).toHaveLength(1);
      expect(scene.state()).toMatchObject({
        status: 'stopped',
        exit_reason: `stopped:${signal}`,
        // It was not allowed to answer, so it does not count.
        iterations: [],
        errors: [],
        driver: null,
        finished_at: expect.any(String),
      });
      expect(scene.journal().at(-1)).toMatchObject({ event: 'task_stopped', exit_code: exitCode });
      expect(scene.notes()).toEqual([]);
    },
  );

  test.for(SIGNALS)(
    '%s between two iterations: exit %i, and no second one',
    async ([signal, exitCode]) => {
      const scene = await makeScene([{ text: 'Not yet.' }]);
      const ralph = await scene.start([...RUN, '--delay', '10m']);
      await ralph.untilStderr(/iteration 1 answered/);
      process.kill(ralph.pid, signal);
      const { stderr, ...end } = await ralph.ended;
      expect(end).toMatchObject({ exitCode, signal: null });
      expect(scene.fake.calls()).toHaveLength(1);
      expect(scene.state()).toMatchObject({
        status: 'stopped',
        exit_reason: `stopped:${signal}`,
        current_iteration: 1,
        iterations: [{ number: 1, outcome: 'answered' }],
        wait: null,
      });
      // Nor is one announced.
      expect(stderr).not.toContain('iteration 2');
      expect(announced(scene)).toEqual(['1.1']);
    },
  );

  test.for(SIGNALS)(
    '%s during an outage: exit %i, and no further attempt',
    async ([signal, exitCode]) => {
      const scene = await makeScene([
        { isError: true, apiErrorStatus: 500, text: 'API Error: 500' },
      ]);
      // Without quick retries the next attempt is 5 minutes away.
      const ralph = await scene.start([...RUN, '--retries', '0']);
      await ralph.untilStderr(/trying again in/);
      expect(scene.state()).toMatchObject({ status: 'running', wait: { kind: 'outage' } });
      process.kill(ralph.pid, signal);
      expect(await ralph.ended).toMatchObject({ exitCode, signal: null });
      expect(scene.fake.calls()).toHaveLength(1);
      expect(announced(scene)).toEqual(['1.1']);
      expect(scene.state()).toMatchObject({
        status: 'stopped',
        attempt: 1,
        iterations: [],
        errors: [{ kind: 'transient' }],
        wait: null,
      });
    },
  );

  test('while an agent comes and goes that was there before: it can be stopped before the next look', async () => {
    const scene = await makeScene([{ text: 'Not yet.', shell: 'rm -- "$(command -v claude)"' }]);
    const ralph = await scene.start(RUN);
    await ralph.untilStderr(/claude was not found.*trying again/);
    expect(scene.state()).toMatchObject({ status: 'running', wait: { kind: 'recheck' } });
    process.kill(ralph.pid, 'SIGTERM');
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
    expect(scene.state()).toMatchObject({ status: 'stopped', iterations: [{ number: 1 }] });
  });

  test('an agent that reports when it is interrupted: its cost is in the state, its promise is not believed', async () => {
    const scene = await makeScene([{ before: [PROMISED], reportsOnSigint: true, hangs: true }]);
    // It has the time that it takes to report.
    const ralph = await scene.start([...RUN, '--json'], { env: TOLD_CLOCK });
    await until(
      () => ralph.stdout().includes('"agent_activity"'),
      () => 'the agent to speak',
    );
    process.kill(ralph.pid, 'SIGTERM');
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
    expect(scene.state()).toMatchObject({
      status: 'stopped',
      evidence: null,
      usage: { cost_usd: 0.01, input_tokens: 100, output_tokens: 10 },
    });
  });

  test('the second one kills at once', async () => {
    const scene = await makeScene();
    const agent = await scene.write(
      'agent.sh',
      "trap 'echo int >> heard' INT\ntrap 'echo term >> heard' TERM\necho $$ > pid\nwhile :; do sleep 0.02; done\n",
    );
    const args = [...RUN, '--agent-command', `sh ${agent}`];
    const ralph = await scene.start(args, { env: TOLD_CLOCK });
    const pid = await untilPid(join(scene.folder, 'pid'));
    process.kill(ralph.pid, 'SIGINT');
    await until(
      () => scene.has('heard'),
      () => 'the interrupt to arrive',
    );
    // What comes within a second is the first one still, passed on by npx.
    letTimePass(scene.folder, 1_500);
    await until(
      () => {
        if (isDead(pid)) return true;
        process.kill(ralph.pid, 'SIGINT');
        return false;
      },
      () => 'the end of the agent',
    );
    expect(await ralph.ended).toMatchObject({ exitCode: 130, signal: null });
    await untilDead(pid);
    // It was not asked in between, as it is after 2 s of the clock, which stands still.
    expect(scene.read('heard')).not.toContain('term');
    expect(scene.state()).toMatchObject({ status: 'stopped', exit_reason: 'stopped:SIGINT' });
  });

  test('right at the start: nothing left', async () => {
    const scene = await makeScene(STUBBORN);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await ralph.untilStderr(/iteration 1\/5 started/);
    process.kill(ralph.pid, 'SIGTERM');
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
    expect(livingIn(scene.home)).toEqual([]);
  });

  test('to the ralph around a ralph: nothing of either is left', async () => {
    const scene = await makeScene([
      { shell: 'ralph run --prompt Inner --task-id inner' },
      STUBBORN,
    ]);
    const ralph = await scene.start(RUN);
    endAllInLater(scene.home);
    await scene.fake.untilCalls(2);
    process.kill(ralph.pid, 'SIGTERM');
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
    await untilNobodyIn(scene.home);
    expect(scene.fake.calls()).toHaveLength(2);
  });
});

describe('ralph is killed with SIGKILL', () => {
  test('while a stubborn agent runs: its guard ends the whole tree', async () => {
    const scene = await makeScene([STUBBORN]);
    const ralph = await scene.start(RUN);
    const tree = await untilStubborn(scene);
    const guard = await guardOf(ralph.pid);
    process.kill(ralph.pid, 'SIGKILL');
    expect(await ralph.ended).toMatchObject({ signal: 'SIGKILL' });
    await Promise.all(tree.pids.map(untilDead));
    await untilDead(guard);
    expect(scene.fake.calls()).toHaveLength(1);
    // What it leaves is no ending: it can be seen that nobody drives it any more.
    expect(scene.state()).toMatchObject({ status: 'running', driver: { pid: ralph.pid } });
  });

  test('with its whole process group, as a job is ended', async () => {
    const scene = await makeScene([STUBBORN]);
    const ralph = startProgram('ralph', RUN, {
      cwd: scene.folder,
      env: { ...scene.env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const tree = await untilStubborn(scene);
    process.kill(-ralph.pid, 'SIGKILL');
    await Promise.all(tree.pids.map(untilDead));
  });

  test('between two iterations: what was left running is ended too', async () => {
    const scene = await makeScene([{ text: 'Not yet.', leaves: server('server.pid') }]);
    const ralph = await scene.start([...RUN, '--delay', '10m']);
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    await ralph.untilStderr(/iteration 1 answered/);
    process.kill(ralph.pid, 'SIGKILL');
    await untilDead(pid);
  });

  test('in a later iteration: the same guard, and one only', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }, { hangs: true }]);
    endAllInLater(scene.home);
    const ralph = await scene.start([...RUN, '--delay', '200ms']);
    const guard = await guardOf(ralph.pid);
    await scene.fake.untilCalls(2);
    expect(guardsOf(ralph.pid)).toEqual([guard]);
    process.kill(ralph.pid, 'SIGKILL');
    await untilNobodyIn(scene.home);
    await untilDead(guard);
  });

  test('after a good end: the guard has gone with it', async () => {
    const shell = 'until test -e go; do sleep 0.02; done';
    const scene = await makeScene([{ shell, text: PROMISED }]);
    const ralph = await scene.start(RUN);
    const guard = await guardOf(ralph.pid);
    await scene.write('go', '');
    expect(await ralph.ended).toMatchObject({ exitCode: 0 });
    await untilDead(guard);
  });
});

describe('the terminal and the outputs', () => {
  const hasScript = existsSync('/usr/bin/script');

  /** Starts ralph on a terminal whose other end the returned program holds. */
  function onTerminal(scene: Scene, setUp: string) {
    const command = `${setUp}; exec ralph ${RUN.map((word) => `'${word}'`).join(' ')}`;
    endAllInLater(scene.home);
    const program = startProgram('/usr/bin/script', ['-qec', command, '/dev/null'], {
      cwd: scene.folder,
      env: { ...scene.env, SHELL: '/bin/sh', TERM: 'xterm' },
    });
    program.stdout.resume();
    return { pid: program.pid, ended: exitOf(program) };
  }

  test.runIf(hasScript)('the terminal is closed: stopped, nothing left', async () => {
    const scene = await makeScene([STUBBORN]);
    const terminal = onTerminal(scene, 'stty columns 80 rows 24');
    const tree = await untilStubborn(scene);
    process.kill(terminal.pid, 'SIGKILL');
    await Promise.all(tree.pids.map(untilDead));
    await untilNobodyIn(scene.home);
    expect(scene.state()).toMatchObject({
      status: 'stopped',
      exit_reason: 'stopped:SIGHUP',
      driver: null,
    });
    expect(scene.fake.calls()).toHaveLength(1);
  });

  // Containers and job runners give such terminals.
  test.runIf(hasScript)(
    'a terminal that does not know its width: it works all the same',
    async () => {
      const scene = await makeScene([{ text: 'Not yet.' }, { delayMs: 300, text: PROMISED }]);
      const terminal = onTerminal(scene, 'stty columns 0 rows 0');
      expect(await terminal.ended).toEqual({ exitCode: 0, signal: null });
      expect(scene.state()).toMatchObject({ status: 'completed' });
    },
  );

  test('nohup holds no hang-up off: exit 129, nothing left', async () => {
    const scene = await makeScene([STUBBORN]);
    const ralph = startProgram('/usr/bin/env', ['nohup', 'ralph', ...RUN], {
      cwd: scene.folder,
      env: { ...scene.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = exitOf(ralph);
    const tree = await untilStubborn(scene);
    process.kill(ralph.pid, 'SIGHUP');
    expect(await ended).toEqual({ exitCode: 129, signal: null });
    expect(tree.alive()).toEqual([]);
    expect(scene.state()).toMatchObject({ status: 'stopped', exit_reason: 'stopped:SIGHUP' });
  });

  test('nobody reads its outputs any more: it works on to its end', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }, { text: PROMISED }]);
    const ralph = await scene.start([...RUN, '--verbose', '--delay', '300ms']);
    await ralph.untilStderr(/iteration 1\/5 started/);
    ralph.child.stdout.destroy();
    ralph.child.stderr.destroy();
    expect(await ralph.ended).toMatchObject({ exitCode: 0, signal: null });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state()).toMatchObject({ status: 'completed' });
  });

  test('nobody reads its outputs and it is stopped: exit 143, nothing left', async () => {
    const scene = await makeScene([STUBBORN]);
    const ralph = await scene.start([...RUN, '--json']);
    const tree = await untilStubborn(scene);
    ralph.child.stdout.destroy();
    ralph.child.stderr.destroy();
    process.kill(ralph.pid, 'SIGTERM');
    expect(await ralph.ended).toMatchObject({ exitCode: 143, signal: null });
    expect(tree.alive()).toEqual([]);
    expect(scene.state()).toMatchObject({ status: 'stopped' });
  });

  test('started without any outputs: it works all the same', async () => {
    const scene = await makeScene([{ text: PROMISED }]);
    const sh = spawn('/bin/sh', ['-c', 'exec ralph "$@" <&- >&- 2>&-', 'sh', ...RUN], {
      cwd: scene.folder,
      env: { ...scene.env },
      stdio: 'ignore',
    });
    expect(await exitOf(sh)).toEqual({ exitCode: 0, signal: null });
    expect(scene.state()).toMatchObject({ status: 'completed' });
  });
});
