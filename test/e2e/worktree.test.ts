import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { until } from '../helpers/processes.ts';
import { bytesBelow } from '../helpers/repository.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const DONE: Turn = { text: 'Good.\n\nTASK_COMPLETE' };
/** An agent that asks a person. */
const ASKS = '<approval id="x">Go on?</approval>';
const COMMITS: Turn = { shell: 'echo new > new.txt; git add . && git commit -qm Work', ...DONE };
const LEAVES_WORK: Turn = { shell: 'echo new > new.txt', ...DONE };

interface Stage extends Scene {
  /** Runs git in the repository, or in the work tree of that name. */
  git(args: string, tree?: string): string;
  /** A path in the work tree of that name. */
  tree(name: string, path?: string): string;
}

/** A repository with a file, and `.env` ignored. */
async function stage(turns: Turn | readonly Turn[] = DONE): Promise<Stage> {
  const scene = await makeScene(turns);
  await scene.write('a.txt', 'a\n');
  await scene.write('.gitignore', '.env\n.ralph_state\nbuild\n');
  scene.makeRepository();
  const tree = (name: string, path = '') => join(`${scene.folder}.ralph`, name, path);
  const git = (args: string, name?: string) =>
    execFileSync('git', args.split(' '), {
      cwd: name === undefined ? scene.folder : tree(name),
      env: { PATH: '/usr/bin:/bin', HOME: scene.home, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    }).trim();
  return { ...scene, git, tree };
}

/** The files of the user's own work tree, and what git says of it. */
function ownTree({ folder, git }: Stage) {
  const { '.git/index': index, ...files } = Object.fromEntries(
    Object.entries(bytesBelow(folder)).filter(
      ([name]) => !/^\.ralph_state|^\.git\/(?!index$|HEAD$)|^Needs_Action/.test(name),
    ),
  );
  return { index, files, status: git('status --porcelain'), stash: git('stash list') };
}

describe('a work tree of its own', () => {
  test('has the agent’s work on a branch of its own, and the user’s files stay as they are', async () => {
    const scene = await stage(COMMITS);
    await scene.write('a.txt', 'changed\n');
    await scene.write('mine.txt', 'mine\n');
    scene.git('add mine.txt');
    const before = ownTree(scene);
    const { exitCode, stderr } = await scene.run(['--worktree']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stderr).toContain(`The task works in ${scene.tree('t')}, on the new branch ralph/t.`);
    expect(stderr).toMatch(/What is not committed in .* is not in it: (a|mine)\.txt and 1 more\./);
    expect(scene.git('show ralph/t:new.txt')).toBe('new');
    expect(scene.git('show ralph/t:a.txt')).toBe('a');
    expect(ownTree(scene)).toEqual(before);
    expect(scene.state().git.work_tree).toEqual({
      path: scene.tree('t'),
      branch: 'ralph/t',
      base: scene.git('rev-parse HEAD'),
      onto: scene.git('branch --show-current'),
      origin: scene.folder,
    });
  });

  test('is removed at the end if all in it is committed; the branch stays', async () => {
    const scene = await stage({ ...COMMITS, shell: `${COMMITS.shell}; echo x > .env` });
    const { stderr } = await scene.run(['--worktree']);
    expect(stderr).toMatch(/The work tree .*work\.ralph\/t is removed, .* branch ralph\/t stays/);
    expect(stderr).not.toContain('ralph undo');
    expect(existsSync(scene.tree('t'))).toBe(false);
    expect(scene.git('worktree list').split('\n')).toHaveLength(1);
    expect(scene.git('branch --list ralph/*')).toBe('ralph/t');
    const { stdout } = await scene.ralph(['status', 't']);
    expect(stdout).toMatch(/^work tree +gone$/m);
    expect(stdout).not.toContain('ralph undo');
  });

  test('goes with its branch if that got no commit, and a resume makes both again', async () => {
    const scene = await stage([{ text: 'Nothing.' }, COMMITS]);
    const { stderr } = await scene.run(['--worktree', '--no-progress-limit', '1']);
    expect(stderr).toMatch(
      /and its branch ralph\/t are removed, since nothing was committed on this branch/,
    );
    expect(stderr).not.toMatch(/ralph (?:land|undo)/);
    expect(scene.git('branch --list ralph/*')).toBe('');
    expect(existsSync(scene.tree('t'))).toBe(false);
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 0 });
    expect(scene.git('branch --list ralph/*')).toBe('ralph/t');
  });

  test('stays at the end if something is not committed, and only then can be undone', async () => {
    const scene = await stage(LEAVES_WORK);
    const { exitCode, stderr } = await scene.run(['--worktree']);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /its branch is ralph\/t\. To take back its last iteration: ralph undo t$/m,
    );
    expect(stderr).toMatch(
      /work\.ralph\/t stays, since it holds what is not committed \(new\.txt\)/,
    );
    expect(readFileSync(scene.tree('t', 'new.txt'), 'utf8')).toBe('new\n');
  });

  test('that the agent has removed is not said to stay', async () => {
    const scene = await stage({ ...DONE, shell: 'rm -rf "$PWD"' });
    const { stderr } = await scene.run(['--worktree']);
    expect(stderr).toContain(`The work tree ${scene.tree('t')} is gone; its branch is ralph/t.`);
    expect(stderr).not.toContain('stays');
  });

  test('stays while the task is not over', async () => {
    const scene = await stage({ ...DONE, text: ASKS });
    const { stderr } = await scene.run(['--worktree', '--no-wait']);
    expect(stderr).toContain('stays, since the task is not over');
    expect(existsSync(scene.tree('t', 'a.txt'))).toBe(true);
  });

  test('stays for a plan that git ignores, until the task is completed', async () => {
    const tick = { shell: "sed -i '0,/\\[ \\]/s//[x]/' build/PLAN.md", text: 'Ticked.' };
    const scene = await stage([tick, tick]);
    await scene.write('build/PLAN.md', '- [ ] one\n- [ ] two\n');
    const plan = ['--plan-file', 'build/PLAN.md', '--copy', 'build/PLAN.md'];
    const { stderr } = await scene.run(['--worktree', '--max-iterations', '1', ...plan]);
    expect(stderr).toMatch(/work\.ralph\/t stays, since git ignores the plan build\/PLAN\.md/);
    const resumed = await scene.ralph(['resume', 't', '--max-iterations', '2']);
    expect(resumed).toMatchObject({ exitCode: 0 });
    expect(existsSync(scene.tree('t'))).toBe(false);
  });

  test('begins at --base, below --worktree-dir', async () => {
    const scene = await stage(LEAVES_WORK);
    scene.git('branch old');
    await scene.write('later.txt', 'later\n');
    scene.git('add later.txt');
    scene.git('commit -qm later');
    const args = ['--worktree', '--base', 'old', '--worktree-dir', '../elsewhere'];
    expect((await scene.run(args)).exitCode).toBe(0);
    expect(readdirSync(join(scene.folder, '../elsewhere/t')).sort()).toEqual(
      ['.git', '.gitignore', 'a.txt', 'new.txt'].sort(),
    );
    expect(scene.state().git.work_tree).toMatchObject({ onto: 'old' });
  });

  test('gets another name where branch or folder is another’s', async () => {
    const scene = await stage(LEAVES_WORK);
    scene.git('branch ralph/t');
    await mkdir(scene.tree('t-2'), { recursive: true });
    await scene.run(['--worktree']);
    expect(scene.git('branch --show-current', 't-3')).toBe('ralph/t-3');
    expect(readdirSync(scene.tree('t-2'))).toEqual([]);
  });

  test.for([
    ['where a branch is called ralph', 't', 'branch ralph', 'ralph-t'],
    ['for an id that git refuses', 'a..b', 'branch other', 'ralph-a%2E%2Eb'],
  ])('has a branch that git allows %s', async ([, id = '', before = '', branch = '']) => {
    const scene = await stage(LEAVES_WORK);
    scene.git(before);
    const { exitCode } = await scene.run(['--task-id', id, '--worktree']);
    expect(exitCode).toBe(0);
    expect(scene.git('branch --show-current', id)).toBe(branch);
  });

  test('is where the checks, the globs and --cwd are meant, but not the prompt file', async () => {
    const scene = await stage([
      { ...DONE, text: 'No.' },
      { shell: 'pwd > ../where.txt; touch done.txt', text: 'Yes.' },
    ]);
    await scene.write('sub/PROMPT.md', 'as committed\n');
    scene.git('add .');
    scene.git('commit -qm sub');
    const file = await scene.write('sub/PROMPT.md', 'as it is now\n');
    await scene.write('sub/done.txt', 'not this one\n');
    const { exitCode } = await scene.ralph([
      ...['run', '--task-id', 't', '--delay', '0', '--worktree', '--cwd', 'sub', '--vault', '.'],
      ...['--prompt-file', file, '--watch-glob', 'done.txt', '--watch-existing', '-n', '3'],
      ...['--no-ask-back', '--state-dir', join(scene.folder, '.ralph_state')],
    ]);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.prompt(1)).toContain('as it is now');
    expect(readFileSync(scene.tree('t', 'where.txt'), 'utf8')).toBe(`${scene.tree('t', 'sub')}\n`);
  });

  test('is shown by --dry-run, which makes nothing', async () => {
    const scene = await stage();
    const { stdout, exitCode } = await scene.run(['--worktree', '--dry-run', '--verbose']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`in ${scene.tree('t')}`);
    expect(stdout).toMatch(
      /work\.ralph\/t: a work tree of its own, on the new branch ralph\/t from/,
    );
    expect(existsSync(scene.tree(''))).toBe(false);
    expect(scene.git('branch --list ralph/*')).toBe('');
  });

  test('is each task’s own, though two have the same id in two work trees of the repository', async () => {
    const scene = await stage(LEAVES_WORK);
    const other = join(scene.folder, '../other');
    scene.git(`worktree add -q ${other}`);
    const ends = [await scene.run(['--worktree']), await scene.run(['--worktree'], { cwd: other })];
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(scene.git('branch --show-current', 't')).toBe('ralph/t');
    expect(scene.git('branch --show-current', 't-2')).toBe('ralph/t-2');
  });
});

describe('what a new work tree has not got', () => {
  /** `.env`, and a folder of hooks that git ignores. */
  async function incomplete(): Promise<Stage> {
    const scene = await stage(COMMITS);
    await scene.write('.env', 'SECRET=1\n');
    await scene.write('build/hooks/pre-commit', '');
    scene.git('config core.hooksPath build/hooks');
    return scene;
  }
  const IGNORED = 'What git ignores is not in it: .env';

  test('is told to the person, and to the agent with its first prompt', async () => {
    const scene = await incomplete();
    const { stderr } = await scene.run(['--worktree', '--commit']);
    expect(stderr).toContain(`${IGNORED} (--setup, --copy).`);
    expect(stderr).toMatch(/No hook will run at a commit: .* build\/hooks, is not in it/);
    expect(scene.prompt(1)).toContain(IGNORED);
    expect(scene.prompt(1)).toContain('No hook of git will run at a commit');
  });

  test.for<[string, string]>([
    ['--setup', 'mkdir -p build/hooks'],
    ['--copy', 'build/hooks/*'],
  ])('is not told if %s has prepared it', async (args) => {
    const scene = await incomplete();
    const { stderr } = await scene.run(['--worktree', '--commit', ...args]);
    expect(stderr + scene.prompt(1)).not.toMatch(/What git ignores|No hook/);
  });
});

describe('--copy and --setup', () => {
  test('prepare a new work tree once, and touch nothing of the user’s', async () => {
    const scene = await stage([{ ...DONE, text: 'No.' }, LEAVES_WORK]);
    await scene.write('.env', 'KEY=1\n');
    const before = ownTree(scene);
    const setup = 'cat .env >> ready.txt';
    const args = ['--worktree', '--copy', '.env', '--copy', 'none', '--setup', setup];
    const { stderr, exitCode } = await scene.run(args);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(readFileSync(scene.tree('t', 'ready.txt'), 'utf8')).toBe('KEY=1\n');
    expect(readFileSync(scene.tree('t', '.env'), 'utf8')).toBe('KEY=1\n');
    expect(stderr).toContain("--copy 'none' matches no file");
    expect(ownTree(scene)).toEqual(before);
  });

  test('do nothing without a work tree of its own', async () => {
    const scene = await stage();
    const before = ownTree(scene);
    const { exitCode } = await scene.run(['--setup', 'touch ready.txt', '--copy', 'a.txt']);
    expect(exitCode).toBe(0);
    expect(ownTree(scene)).toEqual(before);
  });

  test('a --setup that fails ends the task before the agent, and a resume tries again', async () => {
    const scene = await stage(LEAVES_WORK);
    const setup = 'echo tried >> tried.txt; echo no such package; test -e ready.txt';
    const first = await scene.run(['--worktree', '--setup', setup]);
    expect(first.exitCode).toBe(1);
    expect(first.stderr).toMatch(/failed \(setup\): .*ended with 1: no such package/);
    expect(first.stderr).toContain('stays, since --setup has not succeeded in it');
    expect(scene.fake.calls()).toEqual([]);
    expect(scene.state()).toMatchObject({ status: 'failed', exit_reason: 'failed:setup' });
    writeFileSync(scene.tree('t', 'ready.txt'), '');
    const second = await scene.ralph(['resume', 't']);
    expect({ ...second }).toMatchObject({ exitCode: 0 });
    expect(readFileSync(scene.tree('t', 'tried.txt'), 'utf8')).toBe('tried\ntried\n');
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test.for([
    ['SIGTERM', 143],
    ['SIGKILL', null],
  ] as const)('a --setup cut off by %s is begun again by a resume', async ([signal, code]) => {
    const scene = await stage(LEAVES_WORK);
    const setup = 'echo tried >> tried.txt; test -e go || sleep 60';
    const run = await scene.start([
      'run',
      '--prompt',
      'Fix it',
      '--task-id',
      't',
      '--worktree',
      '--setup',
      setup,
    ]);
    await until(
      () => existsSync(scene.tree('t', 'tried.txt')),
      () => 'the setup runs',
    );
    run.child.kill(signal);
    expect((await run.ended).exitCode).toBe(code);
    expect(scene.fake.calls()).toEqual([]);
    writeFileSync(scene.tree('t', 'go'), '');
    expect((await scene.ralph(['resume', 't'])).exitCode).toBe(0);
    expect(readFileSync(scene.tree('t', 'tried.txt'), 'utf8')).toBe('tried\ntried\n');
  });
});

describe('a task in a work tree of its own is resumed', () => {
  const HANGS: Turn = { shell: 'echo half > half.txt', hangs: true };

  async function killed(scene: Stage, more: readonly string[] = []) {
    const args = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 't', '--worktree'];
    const run = await scene.start([...args, ...more]);
    await until(
      () => existsSync(scene.tree('t', 'half.txt')),
      () => 'the agent works',
    );
    run.child.kill('SIGKILL');
    await run.ended;
  }

  test('in it, after a kill', async () => {
    const scene = await stage([HANGS, LEAVES_WORK]);
    await killed(scene, ['--setup', 'echo once >> setup.txt']);
    const { exitCode, stderr } = await scene.ralph(['resume', 't']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(readFileSync(scene.tree('t', 'half.txt'), 'utf8')).toBe('half\n');
    expect(readFileSync(scene.tree('t', 'new.txt'), 'utf8')).toBe('new\n');
    expect(readFileSync(scene.tree('t', 'setup.txt'), 'utf8')).toBe('once\n');
    expect(scene.has('new.txt')).toBe(false);
  });

  test('in one that is made again, with its setup, if it is gone', async () => {
    const scene = await stage([
      { ...HANGS, shell: 'echo kept > kept.txt; git add .; git commit -qm kept; echo > half.txt' },
      LEAVES_WORK,
    ]);
    await killed(scene, ['--setup', 'echo once >> build']);
    rmSync(scene.tree('t'), { recursive: true });
    const { exitCode, stderr } = await scene.ralph(['resume', 't']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stderr).toContain('was gone; it is made again from the branch ralph/t');
    expect(readFileSync(scene.tree('t', 'kept.txt'), 'utf8')).toBe('kept\n');
    expect(readFileSync(scene.tree('t', 'build'), 'utf8')).toBe('once\n');
    expect(scene.git('branch --show-current', 't')).toBe('ralph/t');
  });

  test('not in one that is another task’s by now', async () => {
    const scene = await stage([HANGS, LEAVES_WORK]);
    await killed(scene);
    scene.git(`worktree remove --force ${scene.tree('t')}`);
    scene.git('branch -D ralph/t');
    const vault = join(scene.folder, '../vault');
    await mkdir(vault);
    const other = await scene.run(['--worktree', '--vault', vault]);
    expect({ ...other }).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await scene.ralph(['resume', 't']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(stderr).toContain("is another task's by now");
  });

  test('with neither --worktree nor --base changed', async () => {
    const scene = await stage({ ...DONE, text: 'No.' });
    await scene.run(['-n', '1', '--no-ask-back']);
    const { exitCode, stderr } = await scene.ralph(['resume', 't', '--worktree', '-n', '+1']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--worktree cannot change when a task is resumed');
  });
});

describe('one driver a work tree', () => {
  async function busy(more: readonly string[] = [], then = DONE) {
    const scene = await stage([{ shell: 'touch build', hangs: true }, then, then]);
    const args = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 'first'];
    const first = await scene.start([...args, ...more]);
    await until(
      () => scene.has('build'),
      () => 'the first works',
    );
    const vault = join(scene.folder, '../vault');
    await mkdir(vault);
    const second = (words: readonly string[] = []) => scene.run(['--vault', vault, ...words]);
    const end = async () => {
      first.child.kill('SIGTERM');
      await first.ended;
    };
    return { scene, first, vault, second, end };
  }

  test('a second one is refused, whatever its vault, and told of the first', async () => {
    const { scene, second, first, end, vault } = await busy();
    const { exitCode, stderr } = await second();
    expect(exitCode).toBe(7);
    expect(stderr).toContain(
      `task 'first' of the vault ${scene.folder}, pid ${first.pid} works in the work tree ${scene.folder}`,
    );
    expect(stderr).toContain('--worktree');
    expect(existsSync(join(vault, '.ralph_state/t.json'))).toBe(false);
    await end();
    expect((await second()).exitCode).toBe(0);
    expect(existsSync(join(scene.folder, '.git/ralph'))).toBe(false);
  });

  test('a second one works beside it in a work tree of its own, or with --share-worktree', async () => {
    const { second, end } = await busy();
    expect((await second(['--worktree'])).exitCode).toBe(0);
    expect((await second(['--share-worktree'])).exitCode).toBe(0);
    await end();
  });

  test('one that commits shares its work tree with none', async () => {
    const { second, end } = await busy(['--commit']);
    expect((await second(['--share-worktree'])).exitCode).toBe(7);
    await end();
  });

  test('a resume is refused, too', async () => {
    const scene = await stage([{ text: 'No.' }, { shell: 'touch build', hangs: true }, DONE]);
    expect((await scene.run(['-n', '1', '--no-ask-back'])).exitCode).toBe(3);
    const args = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 'first'];
    const first = await scene.start(args);
    await until(
      () => scene.has('build'),
      () => 'the first works',
    );
    expect((await scene.ralph(['resume', 't', '-n', '+1'])).exitCode).toBe(7);
    first.child.kill('SIGTERM');
    await first.ended;
    expect((await scene.ralph(['resume', 't', '-n', '+1'])).exitCode).toBe(0);
  });

  test('a pass over the vault leaves a file alone until the other has ended', async () => {
    const { scene, end } = await busy([], { text: 'All of it.\n\nProcessing complete' });
    const file = await scene.write('In_Progress/a.md', 'Answer the letter.\n');
    utimesSync(file, 1_000_000, 1_000_000);
    const rescue = ['rescue', '--delay', '0'];
    const { exitCode, stdout } = await scene.ralph(rescue);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    expect(stdout).not.toContain('problem');
    expect(scene.names('In_Progress')).toEqual(['a.md']);
    expect(scene.fake.calls()).toHaveLength(1);
    await end();
    await scene.ralph(rescue);
    expect(scene.names('Done')).toEqual(['a.md']);
  });
});

describe('ralph watch with several tasks at once', () => {
  const NAMES = ['one', 'two', 'three', 'four'];
  /** Changes the line that all others change, too, and commits it when all four are at work. */
  const CONFLICTS: Turn = {
    shell:
      'echo "$RALPH_TASK_ID" > a.txt; touch "$TOGETHER/$RALPH_TASK_ID"; ' +
      'i=0; while [ $(ls "$TOGETHER" | wc -l) -lt 4 ] && [ $i -lt 1200 ]; do sleep 0.05; i=$((i+1)); done; ' +
      'git add a.txt && git commit -qm "$RALPH_TASK_ID"',
    ...DONE,
  };

  async function watched(args: readonly string[]) {
    const scene = await stage(CONFLICTS);
    const together = join(scene.folder, '../together');
    await mkdir(together);
    for (const name of NAMES) await scene.write(`Needs_Action/${name}.md`, 'Answer the letter.\n');
    const watch = await scene.start(
      ['watch', '--interval', '50ms', '--start-new', '--concurrency', '4', '--delay', '0', ...args],
      { env: { TOGETHER: together } },
    );
    for (const name of NAMES) await watch.untilStderr(new RegExp(`${name}: completed`));
    expect(scene.names('Done')).toHaveLength(4);
    watch.child.kill('SIGTERM');
    const { stderr } = await watch.ended;
    return { scene, stderr };
  }

  test('gives each its own work tree with --worktree: all branches are whole', async () => {
    const { scene, stderr } = await watched(['--worktree']);
    for (const name of NAMES) {
      expect(scene.git(`show ralph/${name}:a.txt`)).toBe(name);
      expect(scene.git(`rev-list --count HEAD..ralph/${name}`)).toBe('1');
    }
    expect(scene.git('fsck --no-dangling --no-progress')).toBe('');
    expect(scene.read('a.txt')).toBe('a\n');
    expect(stderr).not.toContain('in the same files');
  });

  test('says once that they share one without it', async () => {
    const { stderr } = await watched([]);
    expect(stderr.split('in the same files')).toHaveLength(2);
  });

  test('refuses to commit where they share one', async () => {
    const scene = await stage();
    await scene.write('Needs_Action/one.md', 'Answer the letter.\n');
    const { exitCode, stderr } = await scene.ralph(['watch', '--concurrency', '2', '--commit']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--commit needs a work tree in which no other task works');
  });
});

describe('usage errors', () => {
  test.for([
    [['--worktree']],
    [['--commit']],
    [['--revert-failed']],
    [['--snapshots']],
    [['--setup', 'true', '--copy', '.env']],
  ])('outside of a repository: %j', async ([args = []]) => {
    const scene = await makeScene(DONE);
    const { exitCode, stderr } = await scene.run(args);
    expect(exitCode).toBe(2);
    const flags = args.filter((word) => word.startsWith('--')).join(', ');
    expect(stderr).toMatch(new RegExp(`${flags} needs? a git work tree, and there is none at`));
    expect(scene.names()).toEqual([]);
  });

  test('a configuration that asks for commits changes nothing outside of a repository', async () => {
    const scene = await makeScene(DONE);
    const { exitCode } = await scene.run([], { env: { RALPH_COMMIT: 'true' } });
    expect(exitCode).toBe(0);
  });

  test('a configuration that asks for a work tree of its own is refused there', async () => {
    const scene = await makeScene(DONE);
    const { exitCode } = await scene.run([], { env: { RALPH_WORKTREE: 'true' } });
    expect(exitCode).toBe(2);
  });

  test.for([
    [['--base', 'main'], '--base needs --worktree'],
    [['--worktree-dir', '..'], '--worktree-dir needs --worktree'],
    [['--worktree', '--worktree-dir', '.git/config'], '--worktree is not possible here: ENOTDIR'],
    [['--worktree', '--base', 'none'], "found none called 'none'"],
    [['--worktree', '--cwd', 'empty', '--vault', '.'], 'expects a folder that is committed'],
    [['--share-worktree', '--commit'], '--commit needs a work tree in which no other task works'],
  ] as const)('in a repository: %j', async ([args, problem]) => {
    const scene = await stage();
    await mkdir(join(scene.folder, 'empty'));
    const { exitCode, stderr } = await scene.run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(problem);
    expect(existsSync(scene.tree(''))).toBe(false);
  });

  test('a repository that git does not open', async () => {
    const scene = await stage();
    writeFileSync(join(scene.folder, '.git/config'), '[core\n');
    const { exitCode, stderr } = await scene.run(['--worktree']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/git does not open the one at .*\(bad config/);
  });

  test('a repository without a commit', async () => {
    const scene = await makeScene(DONE);
    execFileSync('git', ['init', '-q'], { cwd: scene.folder });
    const { exitCode, stderr } = await scene.run(['--worktree']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--worktree needs a commit to begin with');
  });
});
