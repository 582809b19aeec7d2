import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LIMIT, LIMIT_MS, PATIENCE_MS } from '../helpers/patience.ts';
import { isDead, until } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const WORKING = { text: 'Still working.' };
const DONE = { text: 'Good.\n\nTASK_COMPLETE' };

/** Carries out what a note tells a human to paste into a shell. */
function paste(scene: Scene, command: string) {
  // From another folder, and without a word of the test's own environment.
  const options = { cwd: '/', env: scene.env, encoding: 'utf8', timeout: PATIENCE_MS } as const;
  return spawnSync('/bin/sh', ['-c', command], options);
}

describe('the iterations run out', () => {
  test('exit 3, a note, and the command in it goes on', async () => {
    const scene = await makeScene([WORKING, { text: 'Nearly | done\n```\n---\n# x' }, DONE]);
    const { exitCode, stdout, stderr } = await scene.run([
      ...['--max-iterations', '2', '--model', 'opus', '--watch-glob', 'out/*'],
      ...['--promise', 'TASK_COMPLETE', '--', '--add-dir', '/tmp/a b', '*'],
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(2);

    const [note, ...others] = scene.notes();
    expect(others).toEqual([]);
    expect(note?.name).toMatch(/^RALPH_EXHAUSTED_t_\d{8}T\d{6}Z\.md$/);
    expect(stderr).toContain(note?.path);
    expect(note?.frontMatter).toEqual({
      type: 'ralph_exhausted',
      task_id: 't',
      task_type: 'default',
      reason: 'max_iterations',
      iterations: 2,
      max_iterations: 2,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      state_file: join(scene.folder, '.ralph_state/t.json'),
      log_dir: join(scene.folder, '.ralph_state/t'),
      sum: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const text = note?.text ?? '';
    for (const words of ['Fix it', 'the agent states TASK_COMPLETE', "'out/*'", 'Still working.']) {
      expect(text).toContain(words);
    }
    // The last output stands in a fence that nothing in it closes.
    expect(text).toContain('````text\nNearly | done\n```\n---\n# x\n````');
    expect(text.match(/^\| \d+ \|.*$/gm)).toHaveLength(2);
    expect(scene.state()).toMatchObject({
      status: 'max_iterations_reached',
      exit_reason: 'max_iterations',
      current_iteration: 2,
    });
    expect(scene.has('.ralph_state/history')).toBe(false);

    const again = paste(scene, note?.command ?? '');
    expect({ stderr: again.stderr, status: again.status }).toMatchObject({ status: 0 });
    expect(again.stdout).toBe('Good.\n\nTASK_COMPLETE\n');
    const [first, , third] = scene.fake.calls();
    expect(third?.stdin).toMatch(/^Fix it\n\n=+ BEGIN DATA: the output of the previous iteration/);
    expect(third?.argv).toEqual(first?.argv);
    expect(third?.cwd).toBe(first?.cwd);
    expect(third?.env.RALPH_TASK_ID).toBe('t');
  });

  test.for<[string, string, (prompt: string) => readonly string[]]>([
    ['quotes', `it's "so" \\ $(touch x) \`touch x\` $HOME !! ~\n\nline`, (text) => ['-p', text]],
    ['an = sign', `it's "so" = $HOME`, (text) => [`--prompt=${text}`]],
    ['3,000 characters', `${'long text '.repeat(300)}'`, (text) => ['--prompt', text]],
    ['standard input', `it's "so"\r\n$(touch x)\n`, () => ['-p', '-']],
    ['a fence', '```sh\ntouch x\n```\n````\n', (text) => ['--prompt', text]],
    ['a leading dash', '- fix it', (text) => ['--prompt', text]],
  ])('the command of the note goes on with a prompt with %s', async ([, prompt, words]) => {
    const scene = await makeScene([WORKING, DONE]);
    const folder = join(scene.folder, `it's "a" $(touch x)`);
    await mkdir(folder);
    const ended = await scene.ralph(
      ['run', ...words(prompt), '-n', '1', '--vault', '..', '--promise', 'TASK_COMPLETE'],
      { cwd: folder, input: prompt },
    );
    expect(ended.exitCode).toBe(3);
    const again = paste(scene, scene.notes()[0]?.command ?? '');
    expect({ stderr: again.stderr, status: again.status }).toMatchObject({ status: 0 });
    const [first, second] = scene.fake.calls();
    expect(first?.stdin.startsWith(prompt)).toBe(true);
    expect(second?.stdin.startsWith(prompt)).toBe(true);
    expect(second?.cwd).toBe(folder);
    expect(second?.env.RALPH_TASK_ID).toBe(first?.env.RALPH_TASK_ID);
    expect(scene.names()).not.toContain('x');
  });

  test('a later note of the same task takes the place of the first', async () => {
    const scene = await makeScene(WORKING);
    expect((await scene.run(['-n', '1'])).exitCode).toBe(3);
    const [first] = scene.notes();
    await scene.write('Needs_Action/RALPH_EXHAUSTED_t_20200101T000000Z.md', first?.text ?? '');
    await scene.write('Needs_Action/RALPH_EXHAUSTED_t2_20200101T000000Z.md', 'of another task');
    await scene.write('Needs_Action/RALPH_EXHAUSTED_t_x_20200101T000000Z.md', 'of another task');
    expect((await scene.ralph(['resume', 't', '-n', '2'])).exitCode).toBe(3);
    const names = scene.names('Needs_Action');
    expect(names).toHaveLength(3);
    expect(names).not.toContain('RALPH_EXHAUSTED_t_20200101T000000Z.md');
  });

  test('a promise on the last iteration is a promise', async () => {
    const scene = await makeScene([WORKING, DONE]);
    expect((await scene.run(['-n', '2'])).exitCode).toBe(0);
    expect(scene.names()).toEqual(['.ralph_state']);
  });

  test('failed iterations count', async () => {
    const scene = await makeScene({ text: 'TASK_COMPLETE', exitCode: 1 });
    expect((await scene.run(['-n', '2'])).exitCode).toBe(3);
    expect(scene.state().errors).toHaveLength(2);
    expect(scene.state().errors[0]).toMatchObject({ iteration: 1, attempt: 1, kind: 'errored' });
  });

  test('without a folder to write the note in, it still ends with 3 and says so', async () => {
    const scene = await makeScene(WORKING);
    await scene.write('Needs_Action', 'a file');
    const { exitCode, stderr } = await scene.run(['-n', '1']);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/note.*could not be written/);
  });
});

describe('time', () => {
  test('an iteration over its limit is ended whole, and its words are context', async () => {
    const hanging = {
      before: ['I have come this far.'],
      tools: [{ name: 'Bash', input: { command: 'npm test' } }],
      hangs: true,
    };
    const scene = await makeScene([hanging, DONE]);
    const { exitCode, stderr } = await scene.run(['--iteration-timeout', LIMIT, '-n', '2']);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/iteration 1 timed out/);
    const [first, second] = scene.fake.calls();
    expect(isDead(first?.pid ?? 0)).toBe(true);
    expect(second?.stdin).toMatch(/I have come this far\.[\s\S]*npm test[\s\S]*NOT yet complete/);
    expect(second?.stdin).toContain(`time limit of ${LIMIT_MS / 1_000} seconds`);
    expect(scene.state().iterations[0]).toMatchObject({ outcome: 'timed-out', completed: false });
  });

  test('a promise said before the limit passed is none', async () => {
    const scene = await makeScene({ before: ['TASK_COMPLETE'], hangs: true });
    expect((await scene.run(['--iteration-timeout', LIMIT, '-n', '1'])).exitCode).toBe(3);
  });

  test('the whole task is over: exit 4 and a note', async () => {
    const scene = await makeScene({ before: ['I have come this far.'], hangs: true });
    const { exitCode, stdout, stderr } = await scene.run(['--timeout', LIMIT]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toMatch(/time limit of the whole task/);
    const [note] = scene.notes();
    expect(note?.name).toMatch(/^RALPH_TIMEOUT_t_\d{8}T\d{6}Z\.md$/);
    expect(note?.frontMatter).toMatchObject({
      type: 'ralph_timeout',
      reason: 'timeout',
      iterations: 1,
    });
    expect(note?.text).toContain('I have come this far.');
    expect(scene.state().status).toBe('timeout');
    expect(isDead(scene.fake.calls()[0]?.pid ?? 0)).toBe(true);
  });

  test('the pause between iterations does not outlast the whole task', async () => {
    const scene = await makeScene(WORKING);
    // The first iteration takes more than a millisecond, so the whole pause has no room.
    const args = ['--delay', '59999ms', '--timeout', '60s', '--task-id', 't'];
    const ralph = await scene.start(['run', '-p', 'Fix it', ...args]);
    const state = () => (scene.has('.ralph_state/t.json') ? scene.state() : null);
    const pausing = () => (state()?.wait || state()?.finished_at ? state() : null);
    const { wait, timeout_at } = await until(pausing, () => 'the pause, or the end');
    ralph.child.kill('SIGTERM');
    await ralph.ended;
    if (wait !== null) {
      expect(Date.parse(wait.until)).toBeLessThanOrEqual(Date.parse(timeout_at));
    }
  });

  test.for<[string, readonly string[], number]>([
    ['the last', ['-n', '1'], 3],
    ['the one that completes', ['--promise', 'Still working'], 0],
  ])('no pause after %s', async ([, args, expected]) => {
    const scene = await makeScene(WORKING);
    const { exitCode } = await scene.run(['--delay', '7d', '--timeout', '30d', ...args]);
    expect(exitCode).toBe(expected);
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('the pause is made between iterations, and a signal ends it', async () => {
    const scene = await makeScene(WORKING);
    const args = ['run', '-p', 'Fix it', '--delay', '1h', '--timeout', '2h', '--task-id', 't'];
    const ralph = await scene.start(args);
    const wait = () => scene.has('.ralph_state/t.json') && scene.state().wait;
    const { kind, until: end } = await until(wait, () => 'the pause');
    expect(kind).toBe('delay');
    const [{ started_at, duration_ms }] = scene.state().iterations;
    expect(Date.parse(end) - Date.parse(started_at)).toBeGreaterThanOrEqual(3_600_000);
    expect(Date.parse(end) - Date.parse(started_at) - duration_ms).toBeLessThan(3_660_000);
    ralph.child.kill('SIGTERM');
    expect((await ralph.ended).exitCode).toBe(143);
    expect(scene.state()).toMatchObject({ status: 'stopped', exit_reason: 'stopped:SIGTERM' });
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test.for([
    ['--iteration-timeout', '40d', '--timeout', '50d'],
    ['--timeout', '1000000000d'],
    ['--timeout', '99999999d', '--iteration-timeout', '99999998d'],
  ])(
    'a limit beyond what a timer holds neither fires at once nor breaks: %s %s',
    async (limits) => {
      const scene = await makeScene(DONE);
      const { exitCode, stderr } = await scene.run([...limits, '-n', '1']);
      expect(stderr).not.toMatch(/bug in ralph/);
      // Whoever writes more days than a calendar has may also be told so.
      expect([0, 2]).toContain(exitCode);
      if (limits.includes('40d')) expect(exitCode).toBe(0);
    },
  );
});
