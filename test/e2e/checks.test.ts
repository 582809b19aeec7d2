import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// Several checks of one task: on claims, after each iteration, before the first one.

const CLAIM: Turn = { text: 'All good.\n\nTASK_COMPLETE' };
const WORK: Turn = { text: 'Not yet.' };

function does(shell: string, turn: Turn = WORK): Turn {
  return { ...turn, shell };
}

async function repository(turns: readonly Turn[]): Promise<Scene> {
  const scene = await makeScene(turns);
  await scene.write('tracked', 'one\n');
  await scene.write('.gitignore', '.ralph_state\nralph.config.yaml\nran\n');
  scene.makeRepository();
  return scene;
}

/** Each check that ended, in short: `1 unit failed`, `2 unit passed again` where it was not run. */
function checksOf(scene: Scene): readonly string[] {
  return scene
    .journal()
    .filter(({ event }) => event === 'check_ended')
    .map(({ iteration, check, verdict, reused }) =>
      [iteration, check, verdict, ...(reused ? ['reused'] : [])].join(' '),
    );
}

/** A check that says how often it was run, in a file that git ignores. */
const COUNTED = 'echo x >> ran';

/** Prints like pytest: of five tests these fail. */
function pytest(failing: string): string {
  return `set -- ${failing}; for t; do echo "FAILED a.py::$t - assert"; done; echo "$# failed, $((5 - $#)) passed in 0.01s"; test $# = 0`;
}

describe('several checks', () => {
  test('all run on a claim, also after one has failed, and each that failed is in the prompt', async () => {
    const scene = await makeScene([CLAIM, does(': > a; : > b', CLAIM)]);
    const { exitCode, stderr } = await scene.run([
      ...['--verify', 'test -f a || { echo "a is gone"; exit 3; }'],
      ...['--verify', 'echo fine'],
      ...['--verify', 'test -f b || { echo "b is gone"; exit 4; }'],
    ]);
    expect(exitCode).toBe(0);
    expect(scene.prompt(2)).toMatch(
      /BEGIN DATA: the output of the check test -f a [^\n]*\na is gone\n=/,
    );
    expect(scene.prompt(2)).toMatch(
      /BEGIN DATA: the output of the check test -f b [^\n]*\nb is gone\n=/,
    );
    expect(scene.prompt(2)).not.toMatch(/^fine$/m);
    expect(stderr).toMatch(/not accepted: test -f a .* exited with 3; test -f b .* exited with 4/);
  });

  test('have names in the configuration, which the flag replaces', async () => {
    const config = 'checks:\n  unit: echo unit >> ran\n  lint: echo lint >> ran; exit 5\n';
    const scene = await makeScene([CLAIM, CLAIM]);
    await scene.write('ralph.config.yaml', config);
    const named = ['--config', 'ralph.config.yaml', '-n', '1'];
    const { exitCode, stderr } = await scene.run(named);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('not accepted: lint exited with 5');
    expect(scene.read('ran')).toBe('unit\nlint\n');
    expect(checksOf(scene)).toEqual(['1 unit passed', '1 lint failed']);
    expect(scene.notes()[0]?.text).toContain('a check failed: lint (echo lint \\>\\> ran; exit 5)');
    const plan = await scene.run([...named, '--dry-run', '--json']);
    const { settings } = JSON.parse(plan.stdout);
    expect(settings.find(({ name }: { name: string }) => name === 'verify').value).toEqual([
      'unit: echo unit >> ran',
      'lint: echo lint >> ran; exit 5',
    ]);
    expect((await scene.run([...named, '--verify', 'true', '--task-id', 'u'])).exitCode).toBe(0);
    expect(scene.read('ran')).toBe('unit\nlint\n');
  });

  test('need trust where ralph finds the configuration by itself', async () => {
    const scene = await makeScene([CLAIM]);
    await scene.write('ralph.config.yaml', 'checks:\n  unit: echo unit >> ran\n');
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(2);
    expect(stderr).toContain('sets verify, and it is new');
    expect(scene.has('ran')).toBe(false);
  });
});

describe('what failed', () => {
  test('has 4,000 characters in the prompt, the beginning and the end of each, without colours', async () => {
    const scene = await makeScene([CLAIM, CLAIM]);
    const loud = (name: string) =>
      `printf '\\033[31m${name} begins\\033[0m\\n'; i=0; while [ $i -lt 3000 ]; do echo "${name} line $i"; i=$((i+1)); done; echo ${name} ends; test -f ok`;
    await scene.run(['-n', '2', '--verify', loud('one'), '--verify', loud('two')]);
    const prompt = scene.prompt(2);
    const blocks = [
      ...prompt.matchAll(/BEGIN DATA: the output of the check[^\n]*\n([\s\S]*?)\n=====/g),
    ];
    const shown = blocks.map(([, text = '']) => text);
    expect(shown).toHaveLength(2);
    expect(shown[0]).toMatch(
      /^one begins\none line 0\n[\s\S]*left out[\s\S]*one line 2999\none ends$/,
    );
    expect(shown[1]).toMatch(/^two begins\n[\s\S]*two ends$/);
    expect(shown.join('').length).toBeLessThanOrEqual(4_000);
    expect(shown.join('').length).toBeGreaterThan(3_800);
    expect(prompt).not.toContain('\u001b');
  });

  test('is shown of --until as well, although nothing was claimed', async () => {
    const scene = await makeScene([WORK, does(': > ok')]);
    const until = 'echo begins; seq 1 5000; echo ends; test -f ok';
    expect((await scene.run(['--until', until])).exitCode).toBe(0);
    const [, text = ''] =
      /BEGIN DATA: the output of the command that decides[^\n]*\n([\s\S]*?)\n=====/.exec(
        scene.prompt(2),
      ) ?? [];
    expect(text).toMatch(/^begins\n1\n[\s\S]*left out[\s\S]*5000\nends$/);
    expect(text.length).toBeLessThanOrEqual(4_000);
  });
});

describe('--verify-each', () => {
  test('checks an iteration that claims nothing; --revert-failed takes a red one back', async () => {
    const scene = await repository([
      does('echo bad > tracked'),
      does('echo good > tracked', CLAIM),
    ]);
    const args = ['--verify-each', '--revert-failed', '--verify', 'grep -qv bad tracked'];
    const { exitCode, stderr } = await scene.run(args);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('grep -qv bad tracked fails: it exited with 1');
    expect(stderr).toContain('took back what iteration 1 changed: 1 file');
    expect(scene.prompt(2)).toContain('taken back, since checks failed after it');
    expect(scene.read('tracked')).toBe('good\n');
    expect(checksOf(scene).map((line) => line.split(' ')[0])).toEqual(['1', '2']);
  });
});

describe('--baseline', () => {
  test('runs before the first iteration: what fails is told to the agent, what passes to the person', async () => {
    const scene = await repository([does('echo two > tracked', CLAIM)]);
    const { exitCode, stderr } = await scene.run([
      ...['--baseline', '--verify', 'grep -q two tracked', '--verify', 'true'],
    ]);
    expect(exitCode).toBe(0);
    expect(scene.prompt(1)).toContain('These checks failed before you began: grep -q two tracked.');
    expect(stderr).toContain('at the start grep -q two tracked fails: it exited with 1');
    expect(stderr).toContain('true passes already, so only a new test');
    expect(checksOf(scene)).toEqual([
      ...['0 grep -q two tracked failed', '0 true passed'],
      ...['1 grep -q two tracked passed', '1 true passed'],
    ]);
  });

  test('is not taken without the flag', async () => {
    const scene = await makeScene([CLAIM]);
    await scene.run(['--verify', 'true']);
    expect(checksOf(scene)).toEqual(['1 true passed']);
  });

  test('makes what the checks write nobody’s work', async () => {
    const scene = await repository([does('true', CLAIM)]);
    await scene.run(['--baseline', '--verify', 'echo written > by-check']);
    const { iterations } = scene.state() as { iterations: { files_changed: number }[] };
    expect(iterations).toMatchObject([{ files_changed: 0 }]);
  });

  test('with --known-failures allow, what failed by name then may fail, and one more may not', async () => {
    const scene = await repository([
      does('echo "adds divides multiplies" > failing', CLAIM),
      does('echo divides > failing', CLAIM),
    ]);
    await scene.write('failing', 'adds divides\n');
    const args = ['--known-failures', 'allow', '--verify', pytest('$(cat failing)')];
    const { exitCode, stderr } = await scene.run(args);
    expect(exitCode).toBe(0);
    expect(scene.prompt(1)).toContain(
      'with these tests: a.py::adds, a.py::divides. A test that failed then may',
    );
    expect(stderr).toContain('fails: 2 of 5 tests\n');
    expect(stderr).toContain('fails only with tests that failed before the first iteration (1)');
    expect(scene.journal().filter(({ event }) => event === 'check_ended')).toMatchObject([
      { iteration: 0, verdict: 'failed', tests: 5, failed: 2 },
      { iteration: 1, verdict: 'failed', tests: 5, failed: 3 },
      { iteration: 2, verdict: 'known-failures', tests: 5, failed: 1 },
    ]);
  });

  test('says what is in the way of known failures', async () => {
    const scene = await repository([does('echo broken > build', CLAIM), does('rm build', CLAIM)]);
    await scene.write('failing', 'adds\n');
    const build = 'test ! -e build || echo "make: *** [build] Error 1"';
    const args = ['--verify', `${build}; ${pytest('$(cat failing)')}`];
    const { exitCode, stderr } = await scene.run(['--known-failures', 'allow', ...args]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'and known failures do not excuse it: something else failed: make: *** [build] Error',
    );
  });

  test('tells of failed tests behind exit code 0 before they cost anything, and finds them', async () => {
    const scene = await repository([does('echo two > tracked', CLAIM), CLAIM]);
    const args = ['--baseline', '--verify', `{ ${pytest('adds')}; } | cat`];
    const told = await scene.run(args);
    expect(told.exitCode).toBe(0);
    expect(told.stderr).toContain('ends with 0, although 1 of 5 tests failed: a pipe, or what');
    expect(told.stderr).toMatch(/not proven: .* ended with 0, although 1 of 5 tests failed/);
  });

  test('is kept over a resume', async () => {
    const scene = await repository([WORK, does('true', CLAIM)]);
    await scene.write('failing', 'adds\n');
    const args = [
      '--known-failures',
      'allow',
      '--verify',
      `${COUNTED}; ${pytest('$(cat failing)')}`,
    ];
    expect((await scene.run([...args, '-n', '1'])).exitCode).toBe(3);
    expect((await scene.ralph(['resume', 't', '-n', '+1'])).exitCode).toBe(0);
    expect(scene.prompt(2)).toContain('failed before you began');
    expect(checksOf(scene).map((line) => line.split(' ')[0])).toEqual(['0', '2']);
  });
});

describe('a check that passed on a tree', () => {
  test('is run again on each claim', async () => {
    const scene = await repository([CLAIM, CLAIM, does('echo two > tracked', CLAIM)]);
    const { exitCode } = await scene.run([
      ...['--verify', `${COUNTED}; true`, '--verify', 'echo y >> ran; grep -q two tracked'],
    ]);
    expect(exitCode).toBe(0);
    expect(scene.read('ran')).toBe('x\ny\nx\ny\nx\ny\n');
  });

  test('is not run again after an iteration without a claim, and that is said', async () => {
    const scene = await repository([WORK, WORK, CLAIM]);
    const { stderr } = await scene.run(['--verify-each', '--verify', COUNTED]);
    expect(scene.read('ran')).toBe('x\nx\n');
    expect(stderr).toContain('passed on this very tree before, so it is not run again');
  });

  test('that failed is not run again after an iteration without a claim', async () => {
    const scene = await repository([WORK, WORK, CLAIM]);
    const args = ['-n', '3', '--no-progress-limit', '0', '--verify-each'];
    await scene.run([...args, '--verify', `${COUNTED}; false`]);
    expect(scene.read('ran')).toBe('x\nx\n');
    expect(checksOf(scene).filter((line) => line.endsWith('reused'))).toHaveLength(1);
  });

  test.for<[why: string, args: readonly string[], shell: string]>([
    ['without snapshots', ['--no-snapshots'], 'true'],
    ['after --until, which may have changed something', ['--until', 'false'], 'true'],
    [
      'beside a file that is in no snapshot',
      ['--snapshot-limit', '1KB'],
      'head -c 2000 /dev/zero > big',
    ],
    ['beside files that are left out', ['--snapshot-exclude', 'x/**'], 'true'],
    ['in a tree that another has come between', [], 'echo $RALPH_ITERATION > new'],
  ])('is run again %s', async ([, args, shell]) => {
    const scene = await repository([does(shell, CLAIM), does(shell, CLAIM)]);
    const { exitCode } = await scene.run([
      ...['--promise', 'TASK_COMPLETE', '--confirm', '2', '--verify', COUNTED, ...args],
    ]);
    expect(exitCode).toBe(0);
    expect(scene.read('ran')).toBe('x\nx\n');
  });
});

describe('a mistake', () => {
  test.for<[args: readonly string[], problem: string]>([
    [['--verify-each'], '--verify-each needs --verify'],
    [['--baseline'], '--baseline needs --verify'],
    [['--known-failures', 'allow'], '--known-failures needs --verify'],
    [
      ['--verify', 'true', '--verify', ' '],
      '--verify expects a shell command; found an empty text',
    ],
    [
      ['--verify', 'true', '--no-baseline', '--known-failures', 'allow'],
      'exclude each other: without a baseline, no failure is known',
    ],
  ])('%j is told', async ([args, problem]) => {
    const scene = await makeScene([CLAIM]);
    const { exitCode, stderr } = await scene.run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(problem);
  });
});
