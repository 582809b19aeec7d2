import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// The conditions beside promise and files: when each holds, and that state, last line and event say which.

/** Something happens, and nothing is stated. */
function does(shell: string): Turn {
  return { shell, text: 'Working.' };
}

/** Which condition held, as the state and the journal tell it. */
function expectHeld(scene: Scene, stderr: string, kind: string, detail: string): void {
  expect(scene.state()).toMatchObject({ status: 'completed', evidence: { kind, detail } });
  expect(stderr).toContain('ralph: completed: ');
  expect(scene.journal().at(-1)).toMatchObject({
    event: 'task_completed',
    evidence: { kind, detail },
  });
}

describe('--until', () => {
  const UNTIL = ['--until', 'test -f ok'];

  test('alone, with an agent that makes the file in its second iteration: exit 0 after two', async () => {
    const scene = await makeScene([does(':'), does(': > ok')]);
    const { exitCode, stdout, stderr } = await scene.run(UNTIL);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Working.\n' });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.prompt(2)).toContain("ensure the command 'test -f ok' succeeds");
    expect(scene.prompt(2)).not.toContain('<promise>');
    expectHeld(scene, stderr, 'until', 'test -f ok exited with 0');
  });

  test('words alone do not complete it', async () => {
    const scene = await makeScene({ text: 'TASK_COMPLETE' });
    expect((await scene.run([...UNTIL, '-n', '2'])).exitCode).toBe(3);
  });

  test('is run after an iteration that failed, too', async () => {
    const scene = await makeScene([{ ...does(': > ok'), noResult: true, exitCode: 1 }]);
    expect((await scene.run([...UNTIL, '-n', '1'])).exitCode).toBe(0);
  });

  test('in --cwd, with the environment of the loop', async () => {
    const scene = await makeScene([does(':')]);
    await scene.write('repo/here', '');
    const until = 'test -f here && test "$RALPH_TASK_ID" = t';
    const { exitCode } = await scene.run(['--cwd', 'repo', '--until', until, '-n', '1']);
    expect(exitCode).toBe(0);
  });

  test('one that hangs is ended by the time limit of an iteration, and does not hold', async () => {
    const scene = await makeScene([does(':')]);
    const { exitCode } = await scene.run([
      ...['--until', 'sleep 600', '--iteration-timeout', '1s', '-n', '1'],
    ]);
    expect(exitCode).toBe(3);
  });

  test('one that fails has its output in the next prompt, one that succeeds has not', async () => {
    const scene = await makeScene([
      does(':'),
      { ...does(': > ok'), text: 'TASK_COMPLETE' },
      { ...does(':'), text: 'TASK_COMPLETE' },
    ]);
    const until = 'test -f ok && echo all green || { echo "2 tests fail @home" >&2; exit 7; }';
    const { exitCode } = await scene.run(['--until', until, '--confirm', '2', '-n', '3']);
    expect(exitCode).toBe(0);
    expect(scene.prompt(2)).toMatch(
      /BEGIN DATA: the output of the command that decides[^\n]*\n2 tests fail \\@home\n+===== END DATA/,
    );
    expect(scene.prompt(2)).toContain('complete exited with 7: test -f ok');
    expect(scene.prompt(3)).not.toMatch(/^all green$/m);
    expect(scene.prompt(3)).not.toContain('that decides');
  });

  test('its output is bounded, the end is kept; a note has it too, masked', async () => {
    const scene = await makeScene([does(':'), does(':')]);
    const key = `sk-ant-${'api03-'}${'a1B2'.repeat(20)}`;
    const until = `yes 0123456789 | head -c 3000000; echo; echo ${key}; echo THE END; exit 1`;
    expect((await scene.run(['--until', until, '-n', '2'])).exitCode).toBe(3);
    expect(scene.prompt(2)).toContain('THE END');
    expect(scene.prompt(2).length).toBeLessThan(30_000);
    const note = scene.notes()[0]?.text;
    expect(note).toMatch(/## What --until printed\n[^#]*THE END/);
    expect(note).not.toContain(key);
  });
});

describe('--plan-file', () => {
  const PLAN = ['--plan-file', 'plans/PLAN.md'];
  const OPEN = '# Plan\n\n- [x] one\n- [ ] two\n';

  test('every box is ticked: exit 0', async () => {
    const scene = await makeScene([does(':'), does("sed -i 's/\\[ \\]/[X]/' plans/PLAN.md")]);
    await scene.write('plans/PLAN.md', OPEN);
    const { exitCode, stderr } = await scene.run(PLAN);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.prompt(2)).toContain("ensure every box in 'plans/PLAN.md' is ticked");
    expectHeld(scene, stderr, 'plan-file', 'plans/PLAN.md: 2 of 2 ticked');
    expect(scene.journal().at(-1)).not.toHaveProperty('plan');
  });

  test.for<[string, string | null, string]>([
    ['begun', '- [x] one\n- [/] two\n', ': 1 of 2 ticked, the first open one is in line 2'],
    [
      'nested and open',
      '- [x] one\n  - [ ] deeper\n',
      ': 1 of 2 ticked, the first open one is in line 2',
    ],
    [
      'no boxes, only a date and a number',
      'Done on [2026-01-29], see [#12] and []\n',
      ' has no box',
    ],
    ['nothing', '', ' has no box'],
    ['no such file', null, ' is not there, or cannot be read'],
  ])('%s: not complete, and the last lines say what is missing', async ([, text, missing]) => {
    const scene = await makeScene([{ text: 'TASK_COMPLETE' }]);
    if (text !== null) await scene.write('plans/PLAN.md', text);
    const { exitCode, stderr } = await scene.run([...PLAN, '-n', '1']);
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`\nralph: missing: plans/PLAN.md${missing}\n`);
    const [before = ''] = stderr.split('ralph: iteration 1/1 started');
    const isTold = before.includes('ralph: --plan-file names plans/PLAN.md');
    expect(isTold).toBe(!missing.includes('ticked'));
    const plan = { file: 'plans/PLAN.md', ticked: missing.includes('ticked') ? 1 : 0 };
    expect(scene.journal().at(-1)).toMatchObject({ event: 'max_iterations_reached', plan });
  });
});

describe('--signal', () => {
  const SIGNAL = ['--signal', 'Nothing left to do', '--signal', 'ALL GREEN'];

  test('one of the phrases, in two iterations in a row: exit 0', async () => {
    const scene = await makeScene([
      { text: 'ALL GREEN' },
      { text: 'Something was left.' },
      { text: 'I looked.\n\nNothing left to do.' },
      { text: 'ALL GREEN' },
    ]);
    const { exitCode, stderr } = await scene.run(SIGNAL);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(4);
    expectHeld(
      scene,
      stderr,
      'signal',
      "'Nothing left to do' or 'ALL GREEN' stated in 2 iterations in a row",
    );
  });

  test('a mention is no statement, nor is one of an iteration that did not end well', async () => {
    const scene = await makeScene([
      { text: 'ALL GREEN' },
      { text: 'Is it ALL GREEN already?' },
      { text: 'ALL GREEN', exitCode: 1 },
      { text: 'ALL GREEN' },
    ]);
    expect((await scene.run([...SIGNAL, '-n', '4'])).exitCode).toBe(3);
  });
});

describe('--abort-promise', () => {
  const ABORT = ['--abort-promise', 'CANNOT BE DONE'];

  test('exit 1, failed:aborted, a note', async () => {
    const scene = await makeScene([
      { text: 'It may be that this CANNOT BE DONE, I will see.' },
      { text: 'There is no such repository.\n\n<promise>CANNOT BE DONE</promise>' },
    ]);
    const { exitCode, stdout, stderr } = await scene.run(ABORT);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state()).toMatchObject({ status: 'failed', exit_reason: 'failed:aborted' });
    expect(stderr).toMatch(/failed \(aborted\): .*CANNOT BE DONE/);
    expect(scene.notes()).toMatchObject([
      {
        name: expect.stringMatching(/^RALPH_FAILED_t_\d{8}T\d{6}Z\.md$/),
        frontMatter: { reason: 'failed:aborted', iterations: 2 },
        text: expect.stringContaining('There is no such repository.'),
      },
    ]);
    expect(scene.journal().at(-1)).toMatchObject({ event: 'task_failed', exit_code: 1 });
  });

  test('goes before completion', async () => {
    const scene = await makeScene([{ text: 'CANNOT BE DONE', shell: ': > ok' }]);
    expect((await scene.run([...ABORT, '--until', 'test -f ok'])).exitCode).toBe(1);
  });
});

describe('several together: any of them completes, and which one is said', () => {
  const ALL = [
    ...['--promise', 'COMPLETE', '--signal', 'ALL GREEN', '--until', 'test -f ok'],
    ...['--plan-file', 'PLAN.md', '--watch-glob', 'out/*', '--watch-file', 'in/x.md'],
  ];

  test.for<[string, readonly Turn[], string]>([
    ['promise', [{ text: 'I am through.\n\nCOMPLETE.' }], 'COMPLETE.'],
    [
      'signal',
      [{ text: 'ALL GREEN' }, { text: 'ALL GREEN' }],
      "'ALL GREEN' stated in 2 iterations in a row",
    ],
    ['until', [does(': > ok')], 'test -f ok exited with 0'],
    ['plan-file', [does('echo "- [x] one" > PLAN.md')], 'PLAN.md: 1 of 1 ticked'],
    ['watch-glob', [does('mkdir out; : > out/a')], 'out/a'],
    ['file-moved', [does('mkdir Done; mv in/x.md Done')], 'Done/x.md'],
  ])('%s', async ([kind, turns, detail]) => {
    const scene = await makeScene(turns);
    await scene.write('in/x.md', '');
    await scene.write('PLAN.md', '- [ ] one\n');
    const { exitCode, stderr } = await scene.run(ALL);
    expect(exitCode).toBe(0);
    const shown = kind === 'file-moved' ? join(scene.folder, detail) : detail;
    expectHeld(scene, stderr, kind, shown);
  });

  test('of two in one iteration the one that is no words is named', async () => {
    const scene = await makeScene([{ text: 'COMPLETE', shell: ': > ok' }]);
    const { stderr } = await scene.run(ALL);
    expectHeld(scene, stderr, 'until', 'test -f ok exited with 0');
  });

  test('where one is held the other is enough', async () => {
    const scene = await makeScene([
      { text: 'COMPLETE', shell: ': > ok', denials: [{ name: 'Edit' }] },
    ]);
    expect((await scene.run([...ALL, '-n', '1'])).exitCode).toBe(0);
    expect(scene.state().evidence.kind).toBe('until');
  });
});

describe('words about limits and logins are words', () => {
  const TALK =
    'Fixed the 429 handler; "usage limit reached" is now shown; not logged in users are redirected';

  test('with the promise: complete', async () => {
    const scene = await makeScene([{ text: `${TALK}.\n\nTASK_COMPLETE` }]);
    expect((await scene.run(['-n', '1'])).exitCode).toBe(0);
    expect(scene.state()).toMatchObject({ errors: [] });
  });

  test('without it: the loop goes on', async () => {
    const scene = await makeScene([{ text: TALK }, { text: 'TASK_COMPLETE' }]);
    expect((await scene.run()).exitCode).toBe(0);
    expect(scene.state()).toMatchObject({
      errors: [],
      iterations: [{ outcome: 'answered' }, { outcome: 'answered' }],
    });
  });

  test('before a failure, on standard error and in a tool’s output: a failed iteration', async () => {
    const scene = await makeScene([
      { before: [TALK], stderr: `${TALK}\n`, noResult: true, exitCode: 1 },
      { tools: [{ name: 'Bash', result: 'Claude AI usage limit reached|4102491600' }], text: TALK },
      { text: 'TASK_COMPLETE' },
    ]);
    expect((await scene.run()).exitCode).toBe(0);
    expect(scene.state().iterations).toMatchObject([
      { outcome: 'errored' },
      { outcome: 'answered' },
      { outcome: 'answered' },
    ]);
  });
});
