import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planLimited } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { guardOf } from '../helpers/guard-of.ts';
import { endAllInLater, untilNobodyIn } from '../helpers/living-in.ts';
import { LIMIT } from '../helpers/patience.ts';
import { isDead, untilDead } from '../helpers/processes.ts';
import { type Json, makeScene, type Scene } from '../helpers/scene.ts';
import { STUBBORN, untilStubborn } from '../helpers/stubborn-agent.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// `ralph resume`: every task that is not completed and that nobody drives goes on from where it stood.

const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0'] as const;
const RESUMED = { exitCode: 0, stdout: `${DONE.text}\n` };

/** Runs the first of two turns, ends by SIGINT between the two, and is left stopped. */
async function stopped(turns: readonly Turn[] = [WORKING, DONE], args: readonly string[] = []) {
  const scene = await makeScene(turns);
  const ralph = await scene.start([...RUN, '--delay', '10m', ...args]);
  await ralph.untilStderr(/iteration 1 answered/);
  process.kill(ralph.pid, 'SIGINT');
  expect(await ralph.ended).toMatchObject({ exitCode: 130 });
  return scene;
}

function numbers(scene: Scene): readonly number[] {
  return scene.state().iterations.map(({ number }: { number: number }) => number);
}

describe('goes on with a task that', () => {
  test('after kill -9 in the middle of an iteration that iteration is tried again', async () => {
    const scene = await makeScene([WORKING, { hangs: true }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(2);
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    const { stderr, ...end } = await scene.ralph(['resume', 't']);
    expect(end).toMatchObject(RESUMED);
    expect(stderr).toContain('resumed at iteration 2/5');
    expect(stderr).toContain('iteration 2/5 started (attempt 2)');
    expect(scene.prompt(3)).toBe(scene.prompt(2));
    expect(scene.state()).toMatchObject({ status: 'completed', attempt: 2, driver: null });
    expect(numbers(scene)).toEqual([1, 2]);
    expect(scene.journal().map(({ event }) => event)).toContain('task_resumed');
    await untilNobodyIn(scene.home);
  });

  test('after SIGINT the next iteration is told what the last one said', async () => {
    const scene = await stopped();
    expect(await scene.ralph(['resume', 't', '--delay', '0'])).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1, 2]);
    expect(scene.prompt(2)).toContain('Not yet.');
    expect(scene.names('.ralph_state')).toEqual(['.gitignore', 'events.jsonl', 'history']);
  });

  test('failed since the agent was not logged in, and now is', async () => {
    const text = 'Invalid API key · Please run /login';
    const scene = await makeScene([{ isError: true, apiErrorStatus: 401, text }, DONE]);
    expect(await scene.run()).toMatchObject({ exitCode: 1 });
    expect(scene.state()).toMatchObject({ exit_reason: 'failed:not-logged-in' });
    expect(await scene.ralph(['resume', 't'])).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1]);
    expect(scene.state()).toMatchObject({ exit_reason: 'completed', errors: [{ iteration: 1 }] });
  });

  test('used up its iterations: +1 is one more than were used', async () => {
    const scene = await makeScene([WORKING, WORKING, DONE]);
    expect(await scene.run(['-n', '2'])).toMatchObject({ exitCode: 3 });
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 3 });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(await scene.ralph(['resume', 't', '--max-iterations', '+1'])).toMatchObject(RESUMED);
    expect(scene.state()).toMatchObject({ max_iterations: 3, metrics: { iterations: 3 } });
    expect(numbers(scene)).toEqual([1, 2, 3]);
  });

  test('timed out: more time', async () => {
    const scene = await makeScene([{ hangs: true }, DONE]);
    expect(await scene.run(['--timeout', LIMIT])).toMatchObject({ exitCode: 4 });
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 4 });
    expect(scene.fake.calls()).toHaveLength(1);
    expect(await scene.ralph(['resume', 't', '--timeout', '+30s'])).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1, 2]);
  });

  test('spent its money: more of it', async () => {
    const scene = await makeScene([{ ...WORKING, costUsd: 0.5 }, DONE]);
    expect(await scene.run(['--max-cost', '0.4'])).toMatchObject({ exitCode: 8 });
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 8 });
    expect(await scene.ralph(['resume', 't', '--max-cost', '+1'])).toMatchObject(RESUMED);
    expect(scene.state().usage.cost_usd).toBeCloseTo(0.51);
    const argv = scene.fake.calls()[1]?.argv ?? [];
    expect(argv[argv.indexOf('--max-budget-usd') + 1]).toMatch(/^1(\.0+)?$/);
  });

  test('a stalled task goes on with its breaker closed again', async () => {
    const scene = await makeScene([WORKING, WORKING, WORKING, DONE]);
    scene.makeRepository();
    const limits = ['--no-progress-limit', '2'];
    expect(await scene.run(limits)).toMatchObject({ exitCode: 5 });
    expect(await scene.ralph(['resume', 't'])).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1, 2, 3, 4]);
  });

  test('met a usage limit: the same iteration', async () => {
    const scene = await makeScene([planLimited(3_600), DONE]);
    expect(await scene.run(['--max-wait', '0'])).toMatchObject({ exitCode: 75 });
    expect(await scene.ralph(['resume', 't'])).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1]);
    expect(scene.state()).toMatchObject({ attempt: 2, metrics: { iterations: 1 } });
  });

  test('a task that another driver drives is refused with exit code 7', async () => {
    const scene = await makeScene([{ hangs: true }]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    const { exitCode, stderr } = await scene.ralph(['resume', 't']);
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(new RegExp(`a live loop already has.*pid ${ralph.pid} .*iteration 1/5`));
    process.kill(ralph.pid, 'SIGTERM');
    await ralph.ended;
  });
});

test('a task that is completed leaves no note of its own, and report calls for nobody', async () => {
  const scene = await makeScene([WORKING, WORKING, DONE]);
  expect(await scene.run(['-n', '1'])).toMatchObject({ exitCode: 3 });
  // A newer run of the id.
  expect(await scene.run(['-n', '1'])).toMatchObject({ exitCode: 3 });
  const mine = await scene.write('Needs_Action/RALPH_FAILED_t_20260102T030405Z.md', 'mine');
  expect(await scene.ralph(['resume', 't', '-n', '+1'])).toMatchObject(RESUMED);
  expect(scene.notes().map(({ path }) => path)).toEqual([mine]);
  rmSync(mine);
  const { stdout } = await scene.ralph(['report', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ needs_person: [] });
});

describe('what it goes on with', () => {
  test('all is as it was, but for flags that are given again', async () => {
    const scene = await stopped([WORKING, { text: 'ALL_GOOD' }], ['--promise', 'GOOD', '-n', '9']);
    const args = ['resume', 't', '--promise', 'ALL_GOOD', '--delay', '0', '--', '--effort', 'high'];
    expect(await scene.ralph(args)).toMatchObject({ exitCode: 0, stdout: 'ALL_GOOD\n' });
    expect(scene.state()).toMatchObject({ completion_promise: 'ALL_GOOD', max_iterations: 9 });
    expect(scene.fake.calls()[1]?.argv).toEqual(expect.arrayContaining(['--effort', 'high']));
    expect(scene.prompt(2)).toMatch(/^Fix it\n/);
  });

  test('the prompt byte for byte, from another folder, whatever stdin holds', async () => {
    const prompt = 'Füge ein: \u{1f600}\n\n  trailing  \n';
    const scene = await makeScene([WORKING, DONE]);
    await scene.ralph(['run', '-p', '-', '--task-id', 't', '-n', '1'], { input: prompt });
    const options = { cwd: await tempFolder(), input: 'Something else' };
    const args = ['resume', 't', '--vault', scene.folder, '-n', '+1'];
    expect(await scene.ralph(args, options)).toMatchObject(RESUMED);
    expect(scene.fake.calls()[1]).toMatchObject({ cwd: scene.folder });
    expect(scene.prompt(2).startsWith(prompt)).toBe(true);
  });

  test.for<[string, readonly string[]]>([
    ['--prompt', ['--prompt', 'Else']],
    ['--prompt-file', ['--prompt-file', 'x.md']],
    ['--task-id', ['--task-id', 'u']],
  ])('%s is refused in one sentence', async ([flag, words]) => {
    const scene = await stopped();
    const { exitCode, stderr } = await scene.ralph(['resume', 't', ...words]);
    expect(exitCode).toBe(2);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^ralph: ${flag} cannot change`)),
    ]);
    expect(scene.state()).toMatchObject({ status: 'stopped' });
  });

  test.for<[string, (text: string) => string | null]>([
    ['is gone', () => null],
    ['is empty', () => ''],
    ['is no JSON', () => '{'],
    ['has lost a gate', (text) => text.replace('"verify"', '"very"')],
    ['has another gate', (text) => text.replace('"command": "false"', '"command": "true"')],
  ])('settings.json %s: refused, since the gates stood in it', async ([, damage]) => {
    const scene = await stopped([WORKING, DONE], ['--verify', 'false']);
    const file = join(scene.folder, '.ralph_state/t/settings.json');
    const text = damage(scene.read('.ralph_state/t/settings.json'));
    if (text === null) rmSync(file);
    else writeFileSync(file, text);
    const { exitCode, stderr } = await scene.ralph(['resume', 't', '--delay', '0']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /settings\.json.* is gone or damaged|.* was changed by somebody else \(settings\.json\)/,
    );
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('prompt.md is another one: the short prompt in the state is the right one', async () => {
    const scene = await stopped();
    await scene.write('.ralph_state/t/prompt.md', 'Delete it');
    expect(await scene.ralph(['resume', 't', '--delay', '0'])).toMatchObject(RESUMED);
    expect(scene.prompt(2)).toMatch(/^Fix it\n/);
  });

  test('prompt.md of a long prompt is another one: refused', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const args = ['run', '--prompt', 'x'.repeat(1_500), '-n', '1', '--task-id', 't'];
    expect(await scene.ralph(args)).toMatchObject({ exitCode: 3 });
    await scene.write('.ralph_state/t/prompt.md', 'Delete it');
    const { exitCode, stderr } = await scene.ralph(['resume', 't', '--max-iterations', '+1']);
    expect({ exitCode }).toEqual({ exitCode: 1 });
    expect(stderr).toContain('it is not what the task was started with');
  });

  test('prompt.md is gone: the preview in the state', async () => {
    const scene = await stopped();
    rmSync(join(scene.folder, '.ralph_state/t/prompt.md'));
    expect(await scene.ralph(['resume', 't', '--delay', '0'])).toMatchObject(RESUMED);
    expect(scene.prompt(2)).toMatch(/^Fix it\n/);
  });

  test('baseline.json is gone: said, and the files as they are now', async () => {
    const scene = await stopped(
      [
        { ...WORKING, shell: 'sleep 0' },
        { ...WORKING, shell: 'echo x > out.txt' },
      ],
      ['--watch-glob', '*.txt'],
    );
    rmSync(join(scene.folder, '.ralph_state/t/baseline.json'));
    await scene.write('before.txt', 'x');
    const { exitCode, stderr } = await scene.ralph(['resume', 't', '--delay', '0']);
    expect(stderr).toContain('baseline.json is missing or damaged');
    expect(exitCode).toBe(0);
    expect(scene.state().evidence.detail).toContain('out.txt');
  });

  test('its memory is gone: the last output from the state', async () => {
    const scene = await stopped();
    for (const number of [1, 2]) {
      rmSync(join(scene.folder, `.ralph_state/t/memory-${number}.json`), { force: true });
    }
    expect(await scene.ralph(['resume', 't', '--delay', '0'])).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1, 2]);
    expect(scene.prompt(2)).toContain('Not yet.');
  });
});

describe('without an id', () => {
  test('the only candidate, whatever else is completed', async () => {
    const scene = await stopped([WORKING, DONE, DONE]);
    await scene.ralph([...RUN, '--task-id', 'other']);
    expect(await scene.ralph(['resume', '--delay', '0'])).toMatchObject({ exitCode: 0 });
    expect(scene.state('t')).toMatchObject({ status: 'completed' });
  });

  test('none: a usage error that says where it looked', async () => {
    const scene = await makeScene();
    const { exitCode, stderr } = await scene.ralph(['resume']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`nothing to resume in ${scene.folder}/.ralph_state`);
    expect(scene.names()).toEqual([]);
  });

  test('several: a list, and nothing is started', async () => {
    const scene = await makeScene(WORKING);
    for (const id of ['b', 'a']) await scene.ralph([...RUN, '--task-id', id, '-n', '1']);
    const { exitCode, stderr } = await scene.ralph(['resume']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/several to resume: a, b\./);
    expect(scene.fake.calls()).toHaveLength(2);
  });
});

describe('nothing to go on with', () => {
  test('a completed task: said, exit 0', async () => {
    const scene = await makeScene([DONE]);
    await scene.run();
    const { exitCode, stdout, stderr } = await scene.ralph(['resume', 't']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toBe('ralph: t is already completed; there is nothing to resume\n');
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test.for(['nobody', '../t', '.', 'history', 'a/b'])('an unknown id: %s', async (id) => {
    const scene = await stopped();
    const { exitCode, stderr } = await scene.ralph(['resume', id]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`there is no task '${id}'`);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(scene.names('.ralph_state/history')).toEqual([]);
  });

  test.for(['{"half":', '', '[]', 'null', '{"schema_version":1}'])(
    'a corrupt state %j: kept aside, exit 1',
    async (text) => {
      const scene = await stopped();
      await scene.write('.ralph_state/t.json', text);
      for (const name of ['memory-1.json', 'memory-2.json']) {
        await scene.write(`.ralph_state/t/${name}`, '{"half":');
      }
      const { exitCode, stderr } = await scene.ralph(['resume', 't']);
      expect(exitCode).toBe(1);
      expect(stderr).toContain('cannot be read');
      expect(stderr).not.toMatch(/\n\s+at /);
      const [aside = '', ...others] = scene
        .names('.ralph_state')
        .filter((name) => name.includes('t.json'));
      expect(others).toEqual([]);
      expect(aside).toMatch(/^t\.json\.corrupt-\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z$/);
      expect(scene.read(`.ralph_state/${aside}`)).toBe(text);
      expect(scene.fake.calls()).toHaveLength(1);
    },
  );

  test.for(['{"half":', '', '\0\0\0', 'null'])(
    'a state %j that a power cut has torn: gone on with from what lies beside it',
    async (text) => {
      const scene = await stopped();
      await scene.write('.ralph_state/t.json', text);
      const shown = JSON.parse((await scene.ralph(['status', '--json'])).stdout);
      // That its end had been told stood in the state alone: it is told once more.
      expect(shown).toMatchObject([{ task_id: 't', state: 'interrupted', own: true }]);
      expect(await scene.ralph(['resume', 't', '-n', '+1', '--delay', '0'])).toMatchObject(RESUMED);
      expect(scene.state().iterations.map(({ number }: Json) => number)).toEqual([1, 2]);
    },
  );

  test.for([['resume', 't'], RUN])('a newer schema: never moved, exit 1 (%s)', async (words) => {
    const scene = await stopped();
    const text = JSON.stringify({ ...scene.state(), schema_version: 99, driver: null });
    await scene.write('.ralph_state/t.json', text);
    const before = scene.names('.ralph_state');
    const { exitCode, stderr } = await scene.ralph(words);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/written by a newer ralph \(schema 99\)/);
    expect(scene.names('.ralph_state')).toEqual(before);
    expect(scene.read('.ralph_state/t.json')).toBe(text);
    expect(scene.fake.calls()).toHaveLength(1);
  });
});

describe('what the driver left when it died', () => {
  test('an agent that runs on, its guard dead too: ended before the next one starts', async () => {
    const scene = await makeScene([STUBBORN, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    const tree = await untilStubborn(scene);
    const guard = await guardOf(ralph.pid);
    process.kill(guard, 'SIGKILL');
    process.kill(ralph.pid, 'SIGKILL');
    await untilDead(ralph.pid);
    expect(tree.pids.some((pid) => !isDead(pid))).toBe(true);
    const { stderr, ...end } = await scene.ralph(['resume', 't']);
    expect(end).toMatchObject(RESUMED);
    expect(stderr).toMatch(/ended \d+ processes that the last run of this task left behind/);
    expect(stderr.indexOf('ended')).toBeLessThan(stderr.indexOf('attempt 2'));
    expect(tree.alive()).toEqual([]);
  });

  test('`run` with its id: afresh, the old one in the history, and what resume would have done', async () => {
    const scene = await makeScene([WORKING, { hangs: true }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(2);
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    const { started_at } = scene.state();
    const { stderr, ...end } = await scene.run(['--prompt', 'Anew']);
    expect(end).toMatchObject(RESUMED);
    expect(stderr).toMatch(/moved to the history.*would have continued it: ralph resume t$/m);
    const stamp = started_at.replaceAll(':', '');
    expect(scene.names('.ralph_state/history')).toEqual([
      't',
      `t.${stamp}`,
      `t.${stamp}.json`,
      't.json',
    ]);
    expect(scene.read(`.ralph_state/history/t.${stamp}/iteration-0001.stdout.log`)).toContain(
      'Not yet.',
    );
    expect(scene.state()).toMatchObject({ iterations: [{ number: 1 }] });
    expect(scene.prompt(3)).toMatch(/^Anew\n/);
  });
});

describe('--resume-if-open', () => {
  const LINE = [...RUN, '--resume-if-open'];

  test('the one line for cron starts a task, goes on with it, and starts it again', async () => {
    const scene = await makeScene([WORKING, planLimited(3_600), DONE, DONE]);
    const cron = () => scene.ralph([...LINE, '--max-wait', '0']);
    expect(await cron()).toMatchObject({ exitCode: 75 });
    expect(await cron()).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1, 2]);
    expect(await cron()).toMatchObject(RESUMED);
    expect(numbers(scene)).toEqual([1]);
    expect(scene.fake.calls()).toHaveLength(4);
  });

  test('--resume-if-open needs an id', async () => {
    const scene = await makeScene();
    const { exitCode, stderr } = await scene.ralph(['run', '-p', 'x', '--resume-if-open']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--resume-if-open needs --task-id');
  });
});

test.for<[string, readonly string[], Turn]>([
  ['EXHAUSTED', ['-n', '1'], WORKING],
  ['TIMEOUT', ['--timeout', LIMIT], { hangs: true }],
  ['BUDGET', ['--max-cost', '0.4'], { ...WORKING, costUsd: 0.5 }],
])("the %s note's command works when it is pasted into sh elsewhere", async ([, args, turn]) => {
  const scene = await makeScene([turn, DONE]);
  const vault = join(scene.folder, "it's a vault");
  await scene.run([...args, '--vault', vault]);
  const [name = ''] = scene.names("it's a vault/Needs_Action");
  const note = readFileSync(join(vault, 'Needs_Action', name), 'utf8');
  const command = /```sh\n([\s\S]*?)\n```/.exec(note)?.[1] ?? '';
  expect(command).toMatch(/^cd \S+ && ralph resume t /);
  const { status, stdout } = spawnSync('/bin/sh', ['-c', command], {
    cwd: await tempFolder(),
    env: { ...scene.env },
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: RESUMED.stdout });
  expect(existsSync(join(vault, '.ralph_state/history/t.json'))).toBe(true);
});
