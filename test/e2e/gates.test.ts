import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater, livingIn } from '../helpers/living-in.ts';
import { LIMIT, LIMIT_MS } from '../helpers/patience.ts';
import { until } from '../helpers/processes.ts';
import { makeScene, type Scene, toolCall } from '../helpers/scene.ts';

// What stands between a claim and its belief: each gate, what it makes of the loop, and what it says.

const CLAIM: Turn = { text: 'All good.\n\nTASK_COMPLETE' };

/** The gates that held a claim, in order, from the journal. */
function heldBy(scene: Scene): readonly string[] {
  const events = scene.journal().filter(({ event }) => event === 'claim_held');
  return events.map(({ gate }) => gate);
}

describe('--verify', () => {
  test('fails once, and its output is in the next prompt; then it passes: exit 0', async () => {
    const scene = await makeScene([CLAIM, { ...CLAIM, shell: ': > fixed' }]);
    const verify = 'test -f fixed || { echo "3 tests fail @home"; echo on stderr >&2; exit 7; }';
    const { exitCode, stdout, stderr } = await scene.run(['--verify', verify]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${CLAIM.text}\n` });
    expect(scene.fake.calls()).toHaveLength(2);
    const prompt = scene.prompt(2);
    // Material: between its markers, and without the power to pull in files.
    expect(prompt).toMatch(
      /BEGIN DATA: the output of the check [^\n]*\n3 tests fail \\@home\non stderr\n+===== END DATA/,
    );
    expect(prompt).toContain('was not accepted, because a check failed: test -f fixed');
    expect(stderr).toContain('not accepted: test -f fixed || ');
    expect(heldBy(scene)).toEqual(['verify']);
    expect(scene.state()).toMatchObject({
      status: 'completed',
      iterations: [{ completed: false }, { completed: true }],
    });
  });

  test('is run only where there is a claim, in --cwd, and its own output is not the result', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }, CLAIM]);
    await scene.write('repo/here', '');
    const verify = 'test -f here && echo run >> runs && echo noise';
    const { exitCode, stdout } = await scene.run(['--cwd', 'repo', '--verify', verify]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${CLAIM.text}\n` });
    expect(scene.read('repo/runs')).toBe('run\n');
  });

  test('on the last iteration, passing: completed', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }, CLAIM]);
    const { exitCode } = await scene.run(['-n', '2', '--verify', 'true']);
    expect(exitCode).toBe(0);
  });

  test('on the last iteration, failing: exit 3, and the note says what was promised and what failed', async () => {
    const scene = await makeScene([CLAIM]);
    const { exitCode, stdout } = await scene.run(['-n', '1', '--verify', 'echo broken; exit 4']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    const [note] = scene.notes();
    expect(note?.name).toMatch(/^RALPH_EXHAUSTED_t_/);
    expect(note?.text).toMatch(/statement that the task is complete was not accepted/);
    expect(note?.text).toMatch(/a check failed: echo broken; exit 4 exited with 4/);
    expect(scene.state()).toMatchObject({
      status: 'max_iterations_reached',
      evidence: null,
      iterations: [{ outcome: 'answered', completed: false, near_miss: false }],
    });
  });

  test('that hangs: ended by the time limit of an iteration, with what it had left running', async () => {
    const scene = await makeScene([CLAIM, CLAIM]);
    endAllInLater(scene.home);
    const verify = 'test -f second && exit 0; : > second; echo waiting; sleep 600 & sleep 600';
    const { exitCode, durationMs } = await scene.run([
      ...['--iteration-timeout', LIMIT, '--verify', verify],
    ]);
    expect(exitCode).toBe(0);
    expect(durationMs).toBeGreaterThan(LIMIT_MS);
    expect(scene.prompt(2)).toMatch(/a check failed: .* did not end in time/);
    expect(scene.prompt(2)).toContain('\nwaiting\n');
    expect(livingIn(scene.home)).toEqual([]);
  });

  test('its output is bounded, the end is kept', async () => {
    const scene = await makeScene([CLAIM, { text: 'Not yet.' }]);
    const verify = 'yes 0123456789 | head -c 3000000; echo THE END; exit 1';
    await scene.run(['-n', '2', '--verify', verify]);
    expect(scene.prompt(2)).toContain('THE END');
    expect(scene.prompt(2).length).toBeLessThan(30_000);
  });

  test.for<[string, readonly string[]]>([
    ['with iterations left', []],
    ['on the last iteration', ['-n', '1']],
  ])('SIGINT while it hangs, %s: exit 130, nothing left', async ([, args]) => {
    const scene = await makeScene([CLAIM]);
    endAllInLater(scene.home);
    const run = await scene.start([
      ...['run', '--prompt', 'x', '--task-id', 't', '--delay', '0', ...args],
      ...['--verify', ': > checking; sleep 600'],
    ]);
    await until(
      () => scene.has('checking'),
      () => 'the check',
    );
    run.child.kill('SIGINT');
    const { exitCode, stderr } = await run.ended;
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 130 });
    expect(scene.state()).toMatchObject({ status: 'stopped', exit_reason: 'stopped:SIGINT' });
    expect(livingIn(scene.home)).toEqual([]);
    expect(scene.fake.calls()).toHaveLength(1);
  });
});

describe('--min-iterations', () => {
  test('holds a claim that comes early, and says so', async () => {
    const scene = await makeScene(CLAIM);
    const { exitCode } = await scene.run(['--min-iterations', '3', '--verify', 'echo >> checks']);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(3);
    expect(heldBy(scene)).toEqual(['min-iterations', 'min-iterations']);
    expect(scene.prompt(2)).toContain('at least 3 iterations are asked for');
    // It is the first gate: what is held there is not verified.
    expect(scene.read('checks')).toBe('\n');
  });
});

describe('--confirm', () => {
  test('a claim must hold in that many iterations running; the later ones are told to check', async () => {
    const scene = await makeScene([CLAIM, { text: 'One thing is missing.' }, CLAIM, CLAIM]);
    const { exitCode, stdout } = await scene.run(['--confirm', '2']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${CLAIM.text}\n` });
    expect(scene.fake.calls()).toHaveLength(4);
    expect(heldBy(scene)).toEqual(['confirm', 'confirm']);
    for (const call of [2, 4]) {
      expect(scene.prompt(call)).toMatch(/1 of 2 times\)\. Do not go on working: check/);
    }
    expect(scene.prompt(3)).not.toContain('Do not go on working');
  });

  test('is the last gate: each time the claim is verified first', async () => {
    const scene = await makeScene(CLAIM);
    const verify = 'echo >> checks; test "$(wc -l < checks)" -ne 2';
    const { exitCode } = await scene.run(['--confirm', '2', '--verify', verify]);
    expect(exitCode).toBe(0);
    expect(heldBy(scene)).toEqual(['confirm', 'verify', 'confirm']);
  });

  test('a claim by a file is confirmed as well', async () => {
    const scene = await makeScene({ text: 'Working.', shell: ': > ok' });
    const { exitCode } = await scene.run(['--confirm', '3', '--until', 'test -f ok']);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(3);
  });
});

describe('--protect', () => {
  test.for<[string, string]>([
    ['changed', 'echo exit 0 > test/check.sh'],
    ['deleted', 'rm test/check.sh'],
  ])('the agent’s own judge, %s: not believed until it is put back', async ([, shell]) => {
    const scene = await makeScene([
      { ...CLAIM, shell },
      { ...CLAIM, shell: 'printf "exit 0\\n#" > test/check.sh' },
    ]);
    await scene.write('test/check.sh', 'exit 0\n#');
    const { exitCode, stderr } = await scene.run([
      ...['--protect', 'test/**', '--verify', 'echo >> checks'],
    ]);
    expect(exitCode).toBe(0);
    expect(heldBy(scene)).toEqual(['protect']);
    expect(stderr).toContain('not accepted: protected files have changed: test/check.sh');
    expect(scene.prompt(2)).toMatch(
      /protected files have changed: test\/check\.sh\. Put them back/,
    );
    // A judge that was tampered with is not asked.
    expect(scene.read('checks')).toBe('\n');
  });

  test('a new file beside them is no change of theirs', async () => {
    const scene = await makeScene([{ ...CLAIM, shell: ': > test/new.sh' }]);
    await scene.write('test/check.sh', 'exit 1');
    expect((await scene.run(['--protect', 'test/**'])).exitCode).toBe(0);
  });

  test('holds a claim by a command too', async () => {
    const scene = await makeScene({ text: 'Done.', shell: 'echo true > check' });
    await scene.write('check', 'false');
    const { exitCode } = await scene.run([
      ...['-n', '2', '--until', 'sh check', '--protect', 'check'],
    ]);
    expect(exitCode).toBe(3);
    expect(heldBy(scene)).toEqual(['protect', 'protect']);
  });
});

describe('refused tools', () => {
  const TEST = { name: 'Bash', input: { command: 'npm test' } };
  const REFUSED: Turn = { ...CLAIM, denials: [TEST] };

  test('refused once, then the same tool succeeds, then the promise: exit 0', async () => {
    const scene = await makeScene([{ ...REFUSED, raw: toolCall('later', 'Bash') }]);
    expect((await scene.run(['-n', '1'])).exitCode).toBe(0);
  });

  test.for<[string, Turn]>([
    ['another tool succeeds', { ...REFUSED, raw: toolCall('later', 'Read') }],
    ['the same tool had succeeded before', { ...REFUSED, tools: [TEST] }],
  ])('refused once, %s: held', async ([, turn]) => {
    const scene = await makeScene([turn]);
    expect((await scene.run(['-n', '1'])).exitCode).toBe(3);
    expect(heldBy(scene)).toEqual(['refused-tools']);
  });

  test('nothing but refusals and a promise, twice: exit 5, and the flags are named', async () => {
    const scene = await makeScene(REFUSED);
    const { exitCode, stdout, stderr } = await scene.run(['-n', '9']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state()).toMatchObject({ status: 'stalled', exit_reason: 'refused' });
    expect(heldBy(scene)).toEqual(['refused-tools', 'refused-tools']);
    const [note] = scene.notes();
    expect(note).toMatchObject({
      name: expect.stringMatching(/^RALPH_STALLED_t_\d{8}T\d{6}Z\.md$/),
      frontMatter: { reason: 'refused' },
    });
    for (const text of [stderr, note?.text]) {
      expect(text).toContain('Bash: npm test');
      expect(text).toContain('ralph resume t --allowed-tools "Bash(npm test)"');
    }
    expect(note?.text).toContain('--accept-refused');
    expect(scene.journal().at(-1)).toMatchObject({ event: 'task_stalled', exit_code: 5 });
    expect(scene.prompt(2)).toMatch(
      /not accepted, because these tools were refused: Bash \(npm test\)/,
    );
  });

  test('the flag that would allow them is told to the agent from the first time on', async () => {
    const scene = await makeScene([REFUSED, CLAIM]);
    const { stderr } = await scene.run(['--permission-mode', 'acceptEdits']);
    expect(stderr).toContain('not accepted: refused: Bash: npm test');
    expect(scene.prompt(2)).toMatch(/Bash \(npm test\)[^\n]*--allowed-tools/);
  });

  test('twice, but not running: the loop goes on', async () => {
    const scene = await makeScene([REFUSED, { text: 'Another way.' }, REFUSED, CLAIM]);
    expect((await scene.run()).exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(4);
  });

  test('without a claim they are told, and hold nothing up', async () => {
    const scene = await makeScene([{ text: 'I may not.', denials: [TEST] }, CLAIM]);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(0);
    expect(stderr).toContain('refused: Bash: npm test');
    expect(scene.prompt(2)).toContain('These tools were refused: Bash (npm test)');
    expect(heldBy(scene)).toEqual([]);
  });

  test.for<[string, number]>([
    ['Bash', 0],
    ['*', 0],
    ['Bash(npm test:*)', 0],
    ['Bash(npm *)', 0],
    ['Edit,Bash(npm test)', 0],
    ['Bash(npm run:*)', 3],
    ['Edit', 3],
  ])('--accept-refused %s: exit %i', async ([pattern, expected]) => {
    const scene = await makeScene([REFUSED]);
    const { exitCode } = await scene.run(['-n', '1', '--accept-refused', pattern]);
    expect(exitCode).toBe(expected);
  });

  test('every refusal has to be accepted', async () => {
    const scene = await makeScene([{ ...CLAIM, denials: [TEST, { name: 'Write' }] }]);
    const { exitCode, stderr } = await scene.run(['-n', '1', '--accept-refused', 'Bash']);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('not accepted: refused: Write');
  });

  test.for<[string, number]>([
    ['true', 0],
    ['false', 5],
  ])('--verify %s vouches, or not: exit %i', async ([verify, expected]) => {
    const scene = await makeScene(REFUSED);
    expect((await scene.run(['--verify', verify])).exitCode).toBe(expected);
  });

  test('a claim that is not by words needs no tool', async () => {
    const scene = await makeScene([{ ...REFUSED, text: 'Done.', shell: ': > ok' }]);
    expect((await scene.run(['--until', 'test -f ok', '-n', '1'])).exitCode).toBe(0);
  });
});

test('the gates in their order: each holds before the next is asked', async () => {
  const judge = 'echo changed > judge';
  const scene = await makeScene([
    { ...CLAIM, shell: judge, denials: [{ name: 'Edit' }] },
    { ...CLAIM, shell: judge, denials: [{ name: 'Edit' }] },
    { ...CLAIM, shell: judge },
    { ...CLAIM, shell: 'echo right > judge' },
    { ...CLAIM, shell: ': > fixed' },
    CLAIM,
  ]);
  await scene.write('judge', 'right\n');
  const { exitCode } = await scene.run([
    ...['-n', '9', '--min-iterations', '2', '--protect', 'judge', '--confirm', '2'],
    ...['--verify', 'test -f fixed'],
  ]);
  expect(exitCode).toBe(0);
  expect(heldBy(scene)).toEqual([
    'min-iterations',
    'refused-tools',
    'protect',
    'verify',
    'confirm',
  ]);
});

describe('sub-agents that the system stopped', () => {
  const STARTED = JSON.stringify({
    type: 'system',
    subtype: 'task_started',
    task_id: 'a1',
    task_type: 'local_agent',
  });
  const STOPPED: Turn = { ...CLAIM, raw: [STARTED] };

  test('and a promise, twice: exit 5, unproven, and --verify is named', async () => {
    const scene = await makeScene(STOPPED);
    const { exitCode, stdout, stderr } = await scene.run(['-n', '9']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state()).toMatchObject({ status: 'stalled', exit_reason: 'unproven' });
    expect(heldBy(scene)).toEqual(['stopped-subagents', 'stopped-subagents']);
    const [note] = scene.notes();
    expect(note).toMatchObject({ frontMatter: { reason: 'unproven' } });
    for (const told of [stderr, note?.text]) expect(told).toMatch(/sub-agent[\s\S]*--verify/);
    expect(scene.journal().at(-1)).toMatchObject({ event: 'task_stalled', exit_code: 5 });
    expect(scene.prompt(2)).toContain(
      'because this was found: the system stopped 1 sub-agent before the end; a --verify command',
    );
  });

  test('once, and then none: completed', async () => {
    const scene = await makeScene([STOPPED, CLAIM]);
    expect((await scene.run()).exitCode).toBe(0);
    expect(heldBy(scene)).toEqual(['stopped-subagents']);
  });

  test('with a check that passes: completed at once', async () => {
    const scene = await makeScene(STOPPED);
    expect((await scene.run(['--verify', 'true', '-n', '1'])).exitCode).toBe(0);
  });
});
