import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { withoutControls } from '../../src/core/text/untrusted-text.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { until } from '../helpers/processes.ts';
import { gitIn } from '../helpers/repository.ts';
import { runRalph } from '../helpers/run-ralph.ts';
import { type Json, makeScene, type Scene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// The file that says what a completed task has proven, and the command that checks it again.

const DIES = fileURLToPath(new URL('../fixtures/dies-at-proof.cjs', import.meta.url));
const CLAIM = 'All good.\n\nTASK_COMPLETE';
const PROOF = '.ralph_state/history/t/proof.json';

/** Prints like pytest: three tests pass, and those that the file `red` names fail. */
const PYTEST =
  'set -- $(cat red 2>/dev/null); for t; do echo "FAILED a.py::$t - assert"; done\necho "$# failed, 3 passed in 0.01s"; test $# = 0\n';

/** A repository in which the agent writes `b.txt`, and a check that wants it. */
async function makeRepository(
  files: Readonly<Record<string, string>> = {},
  turn: Turn = { text: CLAIM, shell: 'echo b > b.txt' },
): Promise<Scene> {
  const scene = await makeScene(turn);
  await scene.write('.gitignore', '.ralph_state\nignored\n');
  await scene.write('check.sh', `test -f b.txt || exit 3\n${PYTEST}`);
  for (const [name, content] of Object.entries(files)) await scene.write(name, content);
  scene.makeRepository();
  gitIn(scene.folder)('branch', '-M', 'main');
  return scene;
}

/** The same, once its task is completed. */
async function makeProven(...args: Parameters<typeof makeRepository>): Promise<Scene> {
  const scene = await makeRepository(...args);
  expect(await scene.run(['--verify', 'sh check.sh'])).toMatchObject({ exitCode: 0 });
  return scene;
}

/** Commits everything, and clones it to where another person has it, with the proof beside. */
async function clone(scene: Scene) {
  const git = gitIn(scene.folder);
  git('add', '--all');
  git('commit', '-q', '--allow-empty', '-m', 'Do it');
  const [folder, home] = [await tempFolder(), await tempFolder()];
  gitIn(folder)('clone', '-q', `file://${scene.folder}`, 'clone');
  const file = join(folder, 'theirs.json');
  writeFileSync(file, scene.read(PROOF));
  const env = { XDG_STATE_HOME: join(home, 'state') };
  const ralph = (...args: readonly string[]) => runRalph(args, { cwd: folder, home, env });
  const change = (edit: (proof: Json) => void): void => {
    const proof = JSON.parse(readFileSync(file, 'utf8'));
    edit(proof);
    writeFileSync(file, JSON.stringify(proof));
  };
  return { folder, file, ralph, change, clone: join(folder, 'clone') };
}

describe('a completed task with checks', () => {
  test('leaves its proof in the history, and says so everywhere', async () => {
    const scene = await makeProven();
    const proof = JSON.parse(scene.read(PROOF));
    const tree = gitIn(scene.folder)('rev-parse', `${scene.snapshot(1)}^{tree}`);
    expect(proof.subject).toEqual([{ name: 'tree', digest: { gitTree: tree } }]);
    expect(proof.predicate).toMatchObject({
      result: 'PASSED',
      configuration: [{ name: 'check.sh' }],
      passedTests: ['sh check.sh'],
      ralph_checks: [{ command: 'sh check.sh', exit_code: 0, tests: 3, known_failures: [] }],
      ralph_setup: { folder: '', setup: null, copy: [], timeout_ms: 180_000 },
    });
    const line = 'proven: sh check.sh (3 tests)';
    expect(scene.journal().at(-1)?.evidence.proof).toMatchObject({ proven: true });
    expect((await scene.ralph(['status', 't'])).stdout).toContain(`proof       ${line}\n`);
    expect((await scene.ralph(['report'])).stdout).toContain(`; ${line} |`);
    await scene.ralph(['report', '--html', 'report.html']);
    expect(scene.read('report.html')).toContain(line);

    const shown = await scene.ralph(['proof', 't']);
    expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
    expect(shown.stdout.replace(/\d+ms/, '5ms')).toBe(
      `result     passed\ntree       ${tree}\ncheck      sh check.sh: passed, 3 tests, 5ms\njudged by  check.sh\n`,
    );
    const json = await scene.ralph(['proof', 't', '--json']);
    expect(JSON.parse(json.stdout)).toEqual(proof);
  });

  test('is told of in the closing summary, with what was found', async () => {
    const scene = await makeRepository(
      {},
      { text: CLAIM, shell: ': > b.txt; echo exit 0 > check.sh' },
    );
    const { stderr, exitCode } = await scene.run(['--verify', 'sh check.sh']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('ralph: not proven: check.sh changed\n');
    expect(stderr.match(/not proven|check\.sh changed/g)).toHaveLength(2);
    const status = await scene.ralph(['status', 't']);
    expect(status.stdout).toContain('proof       not proven: check.sh changed\n');
    expect(JSON.parse(scene.read(PROOF)).predicate.ralph_findings).toEqual([
      { finding: 'bent-judge', detail: 'check.sh changed', held: false },
    ]);
    expect((await scene.ralph(['proof', 't'])).stdout).toContain('finding    check.sh changed\n');
  });

  test('proves the commit, too, where its tree is that of the commit', async () => {
    const scene = await makeRepository();
    gitIn(scene.folder)('checkout', '-q', '-b', 'work');
    await scene.run(['--verify', 'sh check.sh', '--commit']);
    const commit = gitIn(scene.folder)('rev-parse', 'HEAD');
    const { subject } = JSON.parse(scene.read(PROOF));
    expect(subject.map(({ name }: Json) => name)).toEqual(['tree', 'commit']);
    expect(subject[1].digest).toEqual({ gitCommit: commit });
  });

  test('that cannot write its proof says so, and is completed all the same', async () => {
    const shell = ': > b.txt; mkdir .ralph_state/t/proof.json';
    const scene = await makeRepository({}, { text: CLAIM, shell });
    const { stderr, exitCode } = await scene.run(['--verify', 'sh check.sh']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('ralph: The proof of this task could not be written: ');
    expect(scene.state().status).toBe('completed');
  });

  test.for(['before', 'after'])(
    'has its proof if ralph is killed %s it is written',
    async (moment) => {
      const scene = await makeRepository();
      const env = { NODE_OPTIONS: `--require ${DIES}`, DIES: moment };
      const killed = await scene.run(['--verify', 'sh check.sh; echo >> ignored'], { env });
      expect(killed.signal).toBe('SIGKILL');
      expect(scene.has('.ralph_state/t/proof.json')).toBe(moment === 'after');
      // What a person does meanwhile is not part of it.
      await scene.write('c.txt', 'c\n');
      expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 0 });
      const { subject } = JSON.parse(scene.read(PROOF));
      const tree = gitIn(scene.folder)('rev-parse', `${scene.snapshot(1)}^{tree}`);
      expect(subject).toEqual([{ name: 'tree', digest: { gitTree: tree } }]);
      expect(scene.names('.ralph_state/history/t').filter((name) => /tmp/.test(name))).toEqual([]);
      expect(scene.read('ignored')).toBe('\n');
      expect(await scene.ralph(['proof', 't', '--again'])).toMatchObject({ exitCode: 0 });
    },
  );
});

describe('a task without checks', () => {
  test('has no proof, and says so in one line', async () => {
    const scene = await makeRepository();
    const { stderr } = await scene.run();
    expect(stderr).toContain('ralph: not proven: no check was named (--verify "npm test")\n');
    expect(scene.has(PROOF)).toBe(false);
    const shown = await scene.ralph(['proof', 't']);
    expect(shown).toMatchObject({
      stdout: 't has no proof: not proven: no check was named (--verify "npm test")\n',
      exitCode: 0,
    });
    expect(await scene.ralph(['proof', 't', '--again'])).toMatchObject({ exitCode: 1 });
  });

  test('has none before it is completed', async () => {
    const scene = await makeRepository({}, { text: 'Not yet.' });
    await scene.run(['-n', '1', '--verify', 'true']);
    const { stdout } = await scene.ralph(['proof', 't']);
    expect(stdout).toBe('t has no proof: it is max_iterations_reached\n');
  });
});

describe('ralph proof ID --again', () => {
  test('runs the checks on the tree of the claim, whatever has changed since', async () => {
    const scene = await makeProven();
    await scene.write('b.txt', 'other\n');
    await scene.write('check.sh', 'exit 1\n');
    const git = gitIn(scene.folder);
    const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD')];
    const { stderr, stdout, exitCode } = await scene.ralph(['proof', 't', '--again']);
    const tree = git('rev-parse', '--short=7', `${scene.snapshot(1)}^{tree}`);
    expect({ stderr, stdout, exitCode }).toEqual({
      stderr: `ralph: the proof of t still holds: sh check.sh (3 tests) on tree ${tree} in a clean checkout\n`,
      stdout: '',
      exitCode: 0,
    });
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD')]).toEqual(before);
    expect(git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(existsSync(`${scene.folder}.ralph`)).toBe(false);
  });

  test('says what differs, shows the end of the output, and keeps the checkout', async () => {
    const scene = await makeRepository();
    await scene.write('ignored', 'here\n');
    await scene.run(['--verify', 'test -f ignored || { echo "it is not built"; exit 4; }']);
    const { stderr, exitCode } = await scene.ralph(['proof', 't', '--again']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/the proof of t does not hold on tree [0-9a-f]{7}:\n/);
    expect(stderr).toContain('exited with 4.\nralph: it is not built\n');
    const folder = /the checkout is kept in (.+)\n/.exec(stderr)?.[1] ?? '';
    expect(existsSync(join(folder, 'b.txt'))).toBe(true);
  });

  test('prepares the checkout as the task does, in the folder in which it worked', async () => {
    const scene = await makeRepository({ 'web/a.txt': 'a\n' });
    await scene.write('web/ignored', 'key\n');
    const check = 'test "$(basename "$PWD")" = web && test -f ignored && test -f ready';
    const run = ['--cwd', 'web', '--worktree', '--setup', ': > ready', '--copy', 'ignored'];
    const end = await scene.run([...run, '--verify', check]);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(await scene.ralph(['proof', 't', '--again'])).toMatchObject({ exitCode: 0 });
  });

  test('accepts the tests that failed at the start, and no other one', async () => {
    const scene = await makeRepository({ red: 'one two\n', 'pytest.sh': PYTEST });
    const known = ['--known-failures', 'allow', '--worktree', '--verify', 'sh pytest.sh'];
    expect(await scene.run(known)).toMatchObject({ exitCode: 0 });
    const { predicate } = JSON.parse(scene.read(PROOF));
    expect(predicate.warnedTests).toEqual(['sh pytest.sh']);
    expect(predicate.ralph_checks[0].known_failures).toEqual(['a.py::one', 'a.py::two']);
    // The task has shown nothing new, so its proof says nothing: what passes again stays unproven.
    const passed = { exitCode: 1, stderr: expect.stringContaining('passed again on tree') };
    expect(await scene.ralph(['proof', 't', '--again'])).toMatchObject(passed);
    const landed = await scene.ralph(['land', 't', '--onto', 'main']);
    expect(landed.stderr).toContain('t has landed on main');

    const { clone: repo, ralph, change } = await clone(scene);
    const again = ['proof', 'theirs.json', '--repo', repo, '--again', '--yes'];
    expect(await ralph(...again)).toMatchObject(passed);
    change((proof) => {
      proof.predicate.ralph_checks[0].known_failures = ['a.py::one'];
    });
    const differs = { exitCode: 1, stderr: expect.stringContaining('does not hold on tree') };
    expect(await ralph(...again)).toMatchObject(differs);
  });

  test('removes the checkout that a killed one has left', async () => {
    const scene = await makeRepository();
    await scene.run(['--verify', 'test -z "$KILL" || kill -9 $PPID; test -f b.txt']);
    const killed = await scene.ralph(['proof', 't', '--again'], { env: { KILL: '1' } });
    expect(killed.signal).toBe('SIGKILL');
    expect(readdirSync(`${scene.folder}.ralph`)).toHaveLength(1);
    expect(await scene.ralph(['proof', 't', '--again'])).toMatchObject({ exitCode: 0 });
    expect(existsSync(`${scene.folder}.ralph`)).toBe(false);
    expect(gitIn(scene.folder)('worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('waits while another one of the repository is at it', async () => {
    const scene = await makeRepository();
    const waits = ': > "$SIGN"; while ! test -e "$SIGN.go"; do sleep 0.05; done';
    await scene.run(['--verify', `test -z "$SIGN" || { ${waits}; }; test -f b.txt`]);
    // There a check may write in a sandbox, too.
    const sign = join(scene.fake.dir, 'sign');
    const first = await scene.start(['proof', 't', '--again'], { env: { SIGN: sign } });
    await until(
      () => existsSync(sign),
      () => 'the check',
    );
    const second = await scene.start(['proof', 't', '--again']);
    await second.untilStderr(/waiting for other checks in this repository/);
    writeFileSync(`${sign}.go`, '');
    expect(await first.ended).toMatchObject({ exitCode: 0 });
    expect(await second.ended).toMatchObject({ exitCode: 0 });
  });

  test('has the files that a filter of the user keeps in another form', async () => {
    const scene = await makeRepository();
    const filter = `[filter "x"]\n\tclean = sed s/^/X/\n\tsmudge = sed s/^X//\n\trequired\n`;
    appendFileSync(join(scene.home, '.gitconfig'), filter);
    await scene.write('.gitattributes', '*.x filter=x\n');
    // Git looks at the content of a file that is as new as its index.
    utimesSync(await scene.write('a.x', 'hello\n'), 1_700_000_000, 1_700_000_000);
    const env = { HOME: scene.home, PATH: process.env.PATH };
    for (const args of [
      ['add', '--all'],
      ['commit', '-q', '-m', 'x'],
    ]) {
      execFileSync('git', args, { cwd: scene.folder, env });
    }
    expect(gitIn(scene.folder)('show', 'HEAD:a.x')).toBe('Xhello');
    const end = await scene.run(['--verify', 'grep -q ^hello a.x && test -f b.txt']);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(await scene.ralph(['proof', 't', '--again'])).toMatchObject({ exitCode: 0 });
  });

  test('says that it was stopped', async () => {
    const scene = await makeRepository();
    await scene.run(['--verify', 'test -z "$SIGN" || { : > "$SIGN"; sleep 60; }; test -f b.txt']);
    // There a check may write in a sandbox, too.
    const sign = join(scene.fake.dir, 'sign');
    const run = await scene.start(['proof', 't', '--again'], { env: { SIGN: sign } });
    await until(
      () => existsSync(sign),
      () => 'the check',
    );
    run.child.kill('SIGINT');
    const { exitCode, stderr } = await run.ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain('It was stopped before the checks had ended.');
  });

  test('runs nothing of a proof that another hand has changed', async () => {
    const scene = await makeProven();
    const changed = scene.read(PROOF).replaceAll('sh check.sh', 'touch ran');
    await scene.write(PROOF, changed);
    const { exitCode, stderr, stdout } = await scene.ralph(['proof', 't', '--again']);
    expect(exitCode).toBe(2);
    expect(stdout).toContain('    touch ran\n');
    expect(stderr).toContain('nothing was run');
    const shown = await scene.ralph(['proof', 't']);
    expect(shown.stderr).toContain('was not written by you here, or was changed since');
  });
});

describe('ralph proof FILE --repo DIR', () => {
  test('gives the same verdict in a fresh clone, by another user in another folder', async () => {
    const { clone: repo, ralph } = await clone(await makeProven());
    const shown = await ralph('proof', 'theirs.json', '--repo', repo);
    expect(shown).toMatchObject({ exitCode: 0 });
    expect(shown.stdout).toContain('sh check.sh: passed, 3 tests');
    const { stdout, stderr, exitCode } = await ralph(
      ...['proof', 'theirs.json', '--repo', 'clone', '--again', '--yes'],
    );
    expect({ stderr, exitCode }).toEqual({
      stderr: expect.stringContaining('this proof still holds: sh check.sh (3 tests) on tree'),
      exitCode: 0,
    });
    expect(stdout).toContain('    sh check.sh\n');
  });

  test('runs nothing unless a person or --yes agrees', async () => {
    const { clone: repo, ralph, folder, change } = await clone(await makeProven());
    change(({ predicate }) => {
      predicate.ralph_checks[0].command = `touch ${folder}/ran`;
      predicate.ralph_setup.setup = `touch ${folder}/ran`;
    });
    const end = await ralph('proof', 'theirs.json', '--repo', repo, '--again');
    expect(end.exitCode).toBe(2);
    expect(end.stdout).toContain(`    touch ${folder}/ran\n    touch ${folder}/ran\n`);
    expect(end.stderr).toContain('--yes answers the question');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  test('says that the tree is not there', async () => {
    const { clone: repo, ralph, change } = await clone(await makeProven());
    change(({ subject }) => {
      subject[0].digest.gitTree = '1'.repeat(40);
    });
    for (const more of [[], ['--again', '--yes']]) {
      const end = await ralph('proof', 'theirs.json', '--repo', repo, ...more);
      expect(end.exitCode).toBe(1);
      expect(end.stderr).toContain(`has not got the tree ${'1'.repeat(40)}`);
    }
  });

  test('takes no commit for a tree', async () => {
    const { clone: repo, ralph, change } = await clone(await makeProven());
    const commit = gitIn(repo)('rev-parse', 'HEAD');
    change(({ subject }) => {
      subject[0].digest.gitTree = commit;
    });
    const end = await ralph('proof', 'theirs.json', '--repo', repo, '--again', '--yes');
    expect(end.stderr).toContain('has not got the tree');
  });

  test.for<readonly [string, (proof: Json) => void, string]>([
    [
      'judge files',
      ({ predicate }) => {
        predicate.configuration[0].digest.sha256 = '0'.repeat(64);
      },
      'check.sh is not the file that judged then',
    ],
    [
      'numbers',
      ({ predicate }) => {
        predicate.ralph_checks[0].tests = 7;
      },
      'sh check.sh ran 3 tests, and 7 then',
    ],
  ])('tells that its %s differ', async ([, edit, says]) => {
    const { clone: repo, ralph, change } = await clone(await makeProven());
    change(edit);
    const end = await ralph('proof', 'theirs.json', '--repo', repo, '--again', '--yes');
    expect(end.exitCode).toBe(1);
    expect(end.stderr).toContain(says);
  });

  test('prints no control characters, and runs no command that holds some', async () => {
    const { clone: repo, ralph, folder, change } = await clone(await makeProven());
    change(({ predicate }) => {
      const [check] = predicate.ralph_checks;
      check.name = 'unit\u001b[2J';
      check.command = `touch ${folder}/ran #\u202e`;
      predicate.ralph_findings = [{ finding: 'x', detail: '\u001b]0;x\u0007\u009b', held: false }];
    });
    for (const more of [[], ['--json'], ['--again', '--yes']]) {
      const end = await ralph('proof', 'theirs.json', '--repo', repo, ...more);
      const text = end.stdout + end.stderr;
      expect(text).toBe(withoutControls(text));
    }
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  test('is found under the tree that git has committed, where that is another one', async () => {
    const shell = "printf 'b\\r\\n' > b.txt";
    const files = { '.gitattributes': '* text=auto\n' };
    const proven = await makeProven(files, { text: CLAIM, shell });
    const { subject } = JSON.parse(proven.read(PROOF));
    expect(subject.map(({ name }: Json) => name)).toEqual(['tree', 'committed']);
    const { clone: repo, ralph } = await clone(proven);
    expect(gitIn(repo)('rev-parse', 'HEAD^{tree}')).toBe(subject[1].digest.gitTree);
    const end = await ralph('proof', 'theirs.json', '--repo', repo, '--again', '--yes');
    expect(end).toMatchObject({ exitCode: 0 });
  });

  test('is refused in words where there is no proof or no repository', async () => {
    const { ralph, folder, file, clone: repo } = await clone(await makeProven());
    const end = await ralph('proof', 'theirs.json');
    expect(end).toMatchObject({ exitCode: 2 });
    expect(end.stderr).toContain('with --repo DIR');
    expect(await ralph('proof', 'none.json', '--repo', repo)).toMatchObject({ exitCode: 2 });
    const nowhere = join(folder, 'empty');
    mkdirSync(nowhere);
    const none = await ralph('proof', 'theirs.json', '--repo', nowhere, '--again', '--yes');
    expect(none).toMatchObject({ exitCode: 1 });
    expect(none.stderr).toContain('none can be used');
    writeFileSync(file, '{"_type":"https://in-toto.io/Statement/v1"}');
    const damaged = await ralph('proof', 'theirs.json', '--repo', repo);
    expect(damaged).toMatchObject({ exitCode: 1 });
    expect(damaged.stderr).toContain('is no proof');
  });
});
