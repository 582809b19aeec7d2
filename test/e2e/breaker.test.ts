import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// A loop that goes nowhere is stopped, and one that moves is not.

const IDLE: Turn = { text: 'I am thinking about it.' };

/** An agent that does the same in every iteration; `$RALPH_ITERATION` tells them apart. */
function does(shell: string): Turn {
  return { ...IDLE, shell };
}

async function repository(turns: Turn | readonly Turn[]): Promise<Scene> {
  const scene = await makeScene(turns);
  await scene.write('tracked', 'one\n');
  scene.makeRepository();
  return scene;
}

function expectStalled(scene: Scene, end: { exitCode: number | null; stderr: string }): void {
  expect(end.exitCode).toBe(5);
  expect(scene.fake.calls()).toHaveLength(3);
  expect(scene.state()).toMatchObject({
    status: 'stalled',
    exit_reason: 'no-progress',
    breaker: { no_progress: 3 },
  });
  const [note] = scene.notes();
  expect(note).toMatchObject({
    name: expect.stringMatching(/^RALPH_STALLED_t_\d{8}T\d{6}Z\.md$/),
    frontMatter: { type: 'ralph_stalled', reason: 'no-progress', iterations: 3 },
  });
  for (const text of [end.stderr, note?.text]) expect(text).toContain('--no-progress-limit 0');
  expect(note?.text).toContain('no progress in 3 iterations');
  expect(scene.journal().at(-1)).toMatchObject({ event: 'task_stalled', exit_code: 5 });
}

describe('in a git tree, three iterations without progress: exit 5', () => {
  test('idle', async () => {
    const scene = await repository(IDLE);
    expectStalled(scene, await scene.run(['-n', '9']));
  });

  test('idle, with dirt that was there before', async () => {
    const scene = await repository(IDLE);
    await scene.write('tracked', 'changed by hand\n');
    await scene.write('untracked', 'left by hand\n');
    expectStalled(scene, await scene.run(['-n', '9']));
  });

  test('idle, with filters: the user’s is run for it, the repository’s is not', async () => {
    const own =
      'git config filter.own.clean "tee ran-own"; echo "* filter=own" >.git/info/attributes';
    const scene = await repository([
      does(`echo "$RALPH_RUN_ID" >.git/run; ${own}; touch tracked`),
      does('echo "* filter=mine" >.git/info/attributes; touch tracked'),
      does('touch tracked'),
    ]);
    const driver = await scene.write(
      '.git/driver.sh',
      `echo "$RALPH_RUN_ID" >>"${scene.folder}/.git/ran"; cat`,
    );
    const file = join(scene.home, '.gitconfig');
    appendFileSync(file, `[filter "mine"]\nclean = sh '${driver}'\n`);
    expectStalled(scene, await scene.run(['-n', '9', '--no-snapshots']));
    expect(scene.has('ran-own')).toBe(false);
    const [runId = ''] = scene.read('.git/run').split('\n');
    const ran = scene.read('.git/ran').split('\n').filter(Boolean);
    expect(new Set(ran)).toEqual(new Set([runId]));
  });

  test.for<[string, string]>([
    ['touches a file', 'touch tracked'],
    ['writes the same once more', 'echo one > tracked'],
    ['works in the vault’s own folders', 'mkdir -p Done && date +%N > Done/x'],
    ['writes into the state folder', 'date +%N > .ralph_state/t/x'],
    ['writes what git ignores', 'date +%N > ignored'],
  ])('an agent that only %s', async ([, shell]) => {
    const scene = await makeScene(does(shell));
    await scene.write('tracked', 'one\n');
    await scene.write('.gitignore', 'ignored\n');
    scene.makeRepository();
    expectStalled(scene, await scene.run(['-n', '9']));
  });

  test('what --after commits is not the agent’s progress', async () => {
    const scene = await repository(IDLE);
    const after = 'echo $RALPH_ITERATION >> tracked; date +%N > log; git add -A; git commit -qm x';
    expectStalled(scene, await scene.run(['-n', '9', '--after', after]));
  });
});

describe('in a git tree, what moves goes on', () => {
  test.for<[string, string]>([
    ['a new untracked file each time', 'date +%N > file-$RALPH_ITERATION'],
    ['a tracked file, changed further each time', 'echo more >> tracked'],
    ['a commit each time', 'git commit -q --allow-empty -m more'],
  ])('%s', async ([, shell]) => {
    const scene = await repository(does(shell));
    expect((await scene.run(['-n', '5'])).exitCode).toBe(3);
    expect(scene.state().iterations).toHaveLength(5);
    expect(scene.state().breaker).toMatchObject({ no_progress: 0 });
  });

  test('what the agent changes and --after commits', async () => {
    const scene = await repository(does('echo more >> tracked'));
    const after = 'git commit -qam x';
    expect((await scene.run(['-n', '4', '--after', after])).exitCode).toBe(3);
    expect(
      scene.state().iterations.map((one: { files_changed: number }) => one.files_changed),
    ).toEqual([1, 1, 1, 1]);
  });

  test('one iteration with progress sets the count back', async () => {
    const scene = await repository([IDLE, IDLE, does(': > new'), IDLE, IDLE]);
    expect((await scene.run(['-n', '5'])).exitCode).toBe(3);
  });

  test('progress that is reported', async () => {
    const turns = [1, 2, 3, 4].map((done) => ({
      text: `On it.\n\n<progress done="${done}" total="5">step ${done}</progress>`,
    }));
    const scene = await repository(turns);
    expect((await scene.run(['-n', '4'])).exitCode).toBe(3);
    expect(scene.state().progress).toEqual({
      steps_total: 5,
      steps_completed: 4,
      current_step: 'step 4',
      percentage: 80,
    });
  });

  test('the same report again and again is none', async () => {
    const scene = await repository({ text: '<progress done="2" total="5">step</progress>' });
    const { exitCode } = await scene.run(['-n', '9']);
    expect(exitCode).toBe(5);
    expect(scene.fake.calls()).toHaveLength(4);
  });

  test('an advanced plan file that git ignores', async () => {
    const scene = await makeScene(does("sed -i '0,/\\[ \\]/s//[x]/' PLAN.md"));
    await scene.write('.gitignore', 'PLAN.md\n');
    await scene.write('PLAN.md', '- [ ] one\n'.repeat(6));
    scene.makeRepository();
    expect((await scene.run(['-n', '5', '--plan-file', 'PLAN.md'])).exitCode).toBe(3);
  });

  test('--no-progress-limit 0 turns it off, 2 makes it shorter', async () => {
    const scene = await repository(IDLE);
    expect((await scene.run(['-n', '4', '--no-progress-limit', '0'])).exitCode).toBe(3);
    const shorter = await repository(IDLE);
    expect((await shorter.run(['-n', '9', '--no-progress-limit', '2'])).exitCode).toBe(5);
    expect(shorter.fake.calls()).toHaveLength(2);
  });

  test('completion goes before it', async () => {
    const scene = await repository([IDLE, IDLE, { text: 'TASK_COMPLETE' }]);
    expect((await scene.run()).exitCode).toBe(0);
  });
});

test('an agent that echoes what it was told reports no progress', async () => {
  const scene = await makeScene();
  await scene.run(['--agent-command', 'cat', '-n', '2']);
  expect(scene.state().progress).toBeNull();
});

describe('outside git', () => {
  test('no sign at all: it goes on', async () => {
    const scene = await makeScene(IDLE);
    expect((await scene.run(['-n', '5'])).exitCode).toBe(3);
    expect(scene.fake.calls()).toHaveLength(5);
  });

  test('a watched file is a sign, and its absence too', async () => {
    const scene = await makeScene(IDLE);
    const { exitCode } = await scene.run(['-n', '9', '--watch-glob', 'out/*']);
    expect(exitCode).toBe(5);
    expect(scene.fake.calls()).toHaveLength(3);
  });
});

describe('--same-error-limit', () => {
  function failing(number: number): Turn {
    const stderr = `Error: cannot read /tmp/build-${number}/file${number}.txt after ${number * 7} ms\n`;
    return { before: ['On it.'], noResult: true, exitCode: 1, stderr };
  }

  test('the same error three times, numbers and paths aside: exit 5, in the words of the agent', async () => {
    const scene = await makeScene([1, 2, 3].map(failing));
    const { exitCode, stderr } = await scene.run(['-n', '9']);
    expect(exitCode).toBe(5);
    expect(scene.state()).toMatchObject({ exit_reason: 'same-error', breaker: { same_error: 3 } });
    const [note] = scene.notes();
    expect(note?.name).toMatch(/^RALPH_STALLED_t_/);
    for (const text of [stderr, note?.text]) expect(text).toContain('--same-error-limit 0');
    expect(note?.text).toMatch(/the same error in 3 iterations: .*cannot read/);
    expect(note?.text).toMatch(/^# .*cannot read/m);
    expect(stderr).toMatch(/stalled \(same error: .*cannot read/);
    expect(stderr).toContain('what to do: fix what the agent complains of');
  });

  test('another error in between begins anew; 0 turns it off', async () => {
    const other = { ...failing(3), stderr: 'TypeError: x is not a function\n' };
    const scene = await makeScene([1, 2].map(failing).concat(other, [4, 5].map(failing)));
    expect((await scene.run(['-n', '5', '--same-error-limit', '3'])).exitCode).toBe(3);
    const off = await makeScene(failing(1));
    expect((await off.run(['-n', '6', '--same-error-limit', '0'])).exitCode).toBe(3);
  });

  test('passing faults and cuts by its own bound are no such errors', async () => {
    const bounded = { subtype: 'error_max_turns', isError: true, errors: ['Reached max turns'] };
    const scene = await makeScene({ ...bounded, before: ['On it.'] });
    expect((await scene.run(['-n', '3', '--same-error-limit', '2'])).exitCode).toBe(3);
  });
});
