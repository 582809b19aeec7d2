import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { endAllInLater, untilNobodyIn } from '../helpers/living-in.ts';
import { startProgram, until } from '../helpers/processes.ts';
import { makeScene } from '../helpers/scene.ts';

// `ralph run --detach`: the loop survives the terminal it was started from.

const DONE = { text: 'Done.\n\nTASK_COMPLETE' };
const UNTIL_LET_GO = 'until [ -e go ]; do sleep 0.02; done';
const RUN = ['run', '--detach', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0'] as const;

describe.runIf(existsSync('/usr/bin/script'))('in a terminal', () => {
  test('whose shell exits: the loop completes', async () => {
    const scene = await makeScene([{ text: 'Not yet.', shell: UNTIL_LET_GO }, DONE]);
    endAllInLater(scene.home);
    const words = RUN.map((word) => `'${word}'`).join(' ');
    const terminal = startProgram(
      '/usr/bin/script',
      ['-qec', `ralph ${words} > id; exit`, '/dev/null'],
      { cwd: scene.folder, env: { ...scene.env, SHELL: '/bin/sh', TERM: 'xterm' } },
    );
    terminal.stdout.resume();
    const ended = new Promise((resolve) => terminal.once('exit', resolve));
    expect(await ended).toBe(0);
    expect(scene.read('id')).toBe('t\n');
    // The terminal is gone, and the first iteration goes on.
    expect(scene.state()).toMatchObject({ status: 'running', current_iteration: 1 });
    await scene.write('go', '');
    await until(
      () => scene.has('.ralph_state/history/t.json'),
      () => 'the task to complete',
    );
    await untilNobodyIn(scene.home);
    expect(scene.state()).toMatchObject({ status: 'completed', metrics: { iterations: 2 } });
  });
});

describe('what the caller is told', () => {
  test('the id on standard output, the log on standard error; the log holds it all', async () => {
    const scene = await makeScene([{ ...DONE, shell: UNTIL_LET_GO }]);
    endAllInLater(scene.home);
    const { exitCode, stdout, stderr } = await scene.ralph(RUN);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 't\n' });
    const log = `${scene.folder}/.ralph_state/t/driver.log`;
    expect(stderr).toBe(`ralph: t runs in the background; log: ${log}\n`);
    expect(scene.names('.ralph_state').filter((name) => name.endsWith('.log'))).toEqual([]);
    await scene.write('go', '');
    await untilNobodyIn(scene.home);
    const text = scene.read('.ralph_state/history/t/driver.log');
    expect(text).toContain('iteration 1/5 started');
    expect(text).toMatch(/completed: /);
    expect(text.endsWith(`${DONE.text}\n`)).toBe(true);
    expect(scene.fake.calls()[0]?.env).not.toHaveProperty('RALPH_DETACHED_LOG');
  });

  test('an id that ralph has given, and the prompt from standard input', async () => {
    const scene = await makeScene([DONE]);
    endAllInLater(scene.home);
    const args = ['run', '--detach', '-p', '-', '--delay', '0'];
    const { stdout } = await scene.ralph(args, { input: 'From a pipe' });
    expect(stdout).toMatch(/^task-[a-z\d]{4}\n$/);
    await untilNobodyIn(scene.home);
    expect(scene.state(stdout.trim())).toMatchObject({ status: 'completed' });
    expect(scene.prompt(1)).toMatch(/^From a pipe\n/);
  });

  test.for<[string, readonly string[]]>([
    ['ralph resume', ['resume', 't', '--detach']],
    ['the line for cron', [...RUN, '--resume-if-open']],
  ])('it can be stopped, and resumed in the background by %s', async ([, again]) => {
    const scene = await makeScene([{ hangs: true }, DONE]);
    endAllInLater(scene.home);
    await scene.ralph(RUN);
    expect(await scene.ralph(['stop', 't'])).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await scene.ralph(again);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 't\n' });
    await untilNobodyIn(scene.home);
    expect(scene.state()).toMatchObject({ status: 'completed', metrics: { iterations: 1 } });
  });
});

describe('what keeps it from starting is told to the caller, with its exit code', () => {
  test('a usage error', async () => {
    const scene = await makeScene();
    const { exitCode, stdout, stderr } = await scene.ralph([...RUN, '-n', '0']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('--max-iterations');
  });

  test('a live loop has this task', async () => {
    const scene = await makeScene([{ hangs: true }]);
    endAllInLater(scene.home);
    await scene.ralph(RUN);
    const { exitCode, stdout, stderr } = await scene.ralph(RUN);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(stderr).toMatch(/^ralph: a live loop .*iteration 1\/5\)/m);
    expect(scene.names('.ralph_state').filter((name) => name.endsWith('.log'))).toEqual([]);
    await scene.ralph(['stop', 't']);
  });

  test('a state of a newer ralph', async () => {
    const scene = await makeScene();
    await scene.write('.ralph_state/t.json', '{"schema_version": 99}');
    const { exitCode, stderr } = await scene.ralph(RUN);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/written by a newer ralph/);
    expect(scene.names('.ralph_state').filter((name) => name.endsWith('.log'))).toEqual([]);
  });
});
