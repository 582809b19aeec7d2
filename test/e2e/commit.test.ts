import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT } from '../helpers/patience.ts';
import { gitIn, put } from '../helpers/repository.ts';
import { makeScene } from '../helpers/scene.ts';

// What --commit and --revert-failed do with the work of each iteration.

const DONE: Turn = { text: 'All good.\n\nTASK_COMPLETE' };

/** A scene whose folder is a repository on branch `work`; its hooks are these. */
async function stage(turns: readonly Turn[], hooks: Readonly<Record<string, string>> = {}) {
  const scene = await makeScene(turns);
  await scene.write('a.txt', 'a\n');
  await scene.write('b.txt', 'b\n');
  scene.makeRepository();
  const git = gitIn(scene.folder);
  git('checkout', '-q', '-b', 'work');
  for (const [name, script] of Object.entries(hooks)) {
    chmodSync(await scene.write(`.git/hooks/${name}`, `#!/bin/sh\n${script}\n`), 0o755);
  }
  const log = (ref = 'HEAD'): string[] => git('log', '--format=%s', ref).split('\n');
  const events = (name: string) => scene.journal().filter(({ event }) => event === name);
  return { ...scene, git, log, events };
}

/** Kills the driver, once, from inside a hook. */
const KILL_ONCE = [
  'test -e .git/killed && exit 0',
  'touch .git/killed',
  'kill -9 $(sed -n \'s/.*"pid": *\\([0-9]*\\),.*/\\1/p\' .ralph_state/t.json | head -n 1)',
  'exit 1',
].join('\n');

describe('--commit', () => {
  test('commits what each iteration changed, the last one before the task ends', async () => {
    const { run, git, log, events } = await stage([
      { shell: 'echo 1 > a.txt; echo new > new.txt', text: 'Changed the first file.' },
      { text: 'Nothing to do here.' },
      { ...DONE, shell: 'rm b.txt', text: 'Removed the second file.\n\nTASK_COMPLETE' },
    ]);
    const { exitCode, stderr } = await run([
      '--commit',
      '--after',
      'git log -1 --format=%s >> .git/seen',
    ]);
    expect(exitCode).toBe(0);
    expect(log()).toEqual(['Removed the second file.', 'Changed the first file.', 'Start']);
    expect(git('show', '--format=', '--name-only', 'HEAD^')).toBe('a.txt\nnew.txt');
    expect(git('log', '-1', '--format=%an %(trailers:separator=%x2C )')).toBe(
      'Test Ralph-Task: t, Ralph-Iteration: 3, Ralph-Outcome: answered',
    );
    expect(git('status', '--porcelain')).toBe('');
    expect(stderr).toContain(
      `committed 2 files on work (${git('rev-parse', 'HEAD^').slice(0, 10)})`,
    );
    expect(events('iteration_committed')).toMatchObject([
      { iteration: 1, branch: 'work', files: 2 },
      { iteration: 3, branch: 'work', files: 1, commit: git('rev-parse', 'HEAD') },
    ]);
    // It is done before --after.
    expect(git('show', 'HEAD^', '--format=%s', '-s')).toBe('Changed the first file.');
  });

  test('comes before --after', async () => {
    const { run, read } = await stage([{ ...DONE, shell: 'echo 1 > a.txt' }]);
    await run(['--commit', '--after', 'git log -1 --format=%s > seen']);
    expect(read('seen')).toBe('All good.\n');
  });

  test('leaves what was dirty or staged before as it was', async () => {
    const { run, folder, git, events } = await stage([
      { ...DONE, shell: 'echo agent > work.txt; echo agent >> a.txt' },
    ]);
    put(folder, { 'half.txt': '1\n', 'staged.txt': '1\n' });
    git('add', 'half.txt', 'staged.txt');
    put(folder, { 'half.txt': '2\n', 'a.txt': 'a person’s\n', 'loose.txt': '1\n' });
    const entries = () => git('ls-files', '-s', 'half.txt', 'staged.txt', 'a.txt', 'b.txt');
    const before = entries();
    const { stderr } = await run(['--commit']);
    expect(git('show', '--format=', '--name-only', 'HEAD')).toBe('work.txt');
    expect(entries()).toBe(before);
    expect(git('status', '--porcelain')).toBe('M a.txt\nAM half.txt\nA  staged.txt\n?? loose.txt');
    expect(stderr.match(/Not committed: a\.txt \(it had changes of yours/g)).toHaveLength(1);
    expect(events('iteration_committed')).toMatchObject([{ files: 1 }]);
  });

  test('says once what it leaves', async () => {
    const { run, git } = await stage([
      { shell: 'echo KEY=1 > .env; echo 1 > x', text: 'One.' },
      { ...DONE, shell: 'echo KEY=2 > .env; echo 2 > x' },
    ]);
    const { stderr } = await run(['--commit']);
    expect(
      stderr.match(/Not committed: \.env \(a new file that looks like a secret/g),
    ).toHaveLength(1);
    expect(git('status', '--porcelain')).toBe('?? .env');
  });

  test.for<[string, readonly string[]]>([
    ['main', ['checkout', '-q', '-b', 'main']],
    ['a detached HEAD', ['checkout', '-q', '--detach']],
  ])('makes a branch of its own beside %s', async ([, checkout]) => {
    const { run, git, log } = await stage([
      { shell: 'echo 1 > a.txt', text: 'One.' },
      { ...DONE, shell: 'echo 2 > a.txt' },
    ]);
    git(...checkout);
    git('branch', 'ralph/t');
    const { stderr } = await run(['--commit']);
    expect(log('ralph/t-2')).toEqual(['All good.', 'One.', 'Start']);
    expect(log('ralph/t')).toEqual(['Start']);
    if (checkout.includes('main')) expect(log('main')).toEqual(['Start']);
    expect(git('symbolic-ref', '--short', 'HEAD')).toBe('ralph/t-2');
    expect(stderr.match(/go to the new branch ralph\/t-2/g)).toHaveLength(1);
  });

  test('takes its words from --commit-message, its branches from --protect-branch', async () => {
    const { run, log } = await stage([{ ...DONE, shell: 'echo 1 > a.txt' }]);
    await run([
      '--commit',
      '--commit-message',
      '{task} {iteration}: {summary}',
      '--protect-branch',
      'work',
    ]);
    expect(log('ralph/t')).toEqual(['t 1: All good.', 'Start']);
    expect(log('work')).toEqual(['Start']);
  });

  test('tells the agent what a failing hook says; the work stays, and the next commit has it', async () => {
    const { run, git, prompt, log, events } = await stage(
      [
        { shell: 'echo TODO > a.txt; echo 1 > new.txt', text: 'One.' },
        { ...DONE, shell: 'git status --porcelain > .git/seen; echo done > a.txt' },
      ],
      { 'pre-commit': 'grep -q TODO a.txt && echo "a.txt has a TODO" && exit 1; exit 0' },
    );
    const { stderr } = await run(['--commit']);
    expect(stderr).toContain('not committed (your files are unchanged): git commit ended with 1');
    expect(prompt(2)).toContain('a.txt has a TODO');
    expect(prompt(2)).toContain('it could not be committed');
    expect(log()).toEqual(['All good.', 'Start']);
    expect(git('show', '--format=', '--name-only', 'HEAD')).toBe('a.txt\nnew.txt');
    expect(events('commit_failed')).toMatchObject([{ iteration: 1 }]);
  });

  test('what a hook has formatted is the iteration’s for undo, and is committed after a refusal', async () => {
    const { run, ralph, git, has, read, log } = await stage(
      [
        { shell: 'echo 1 > new.txt', text: 'One.' },
        { ...DONE, shell: 'echo 2 >> new.txt' },
      ],
      { 'pre-commit': 'grep -q formatted new.txt || { echo formatted >> new.txt; exit 1; }' },
    );
    await run(['--commit']);
    expect(log()).toEqual(['All good.', 'Start']);
    expect(git('show', 'HEAD:new.txt')).toBe('1\nformatted\n2');
    expect(await ralph(['undo', 't', '1', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(has('new.txt')).toBe(false);
    expect(await ralph(['undo', 't', '--redo', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(read('new.txt')).toBe('1\nformatted\n2\n');
  });

  test.for<[string, string, string]>([
    [
      'a hook',
      'printf "#!/bin/sh\\ntouch ran\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit',
      'the hook',
    ],
    [
      'a filter',
      'git config filter.x.clean "touch ran"; echo "* filter=x" > .gitattributes',
      'filter.x.clean',
    ],
    [
      'a setting',
      'git config core.hooksPath hooks; mkdir hooks; cp /bin/true hooks/pre-commit',
      'core.hookspath',
    ],
  ])('does not run %s that the agent has changed', async ([, shell, named]) => {
    const { run, log, has, events } = await stage([{ ...DONE, shell: `echo 1 > a.txt; ${shell}` }]);
    expect((await run(['--commit'])).exitCode).toBe(0);
    expect(log()).toEqual(['Start']);
    expect(has('ran')).toBe(false);
    expect(events('commit_failed')).toMatchObject([{ why: expect.stringContaining(named) }]);
  });

  test('remembers over a resume how git was set up when the task began', async () => {
    const { run, ralph, log, events } = await stage([
      { shell: 'echo 1 > a.txt; git config user.name Agent', text: 'One.' },
      { ...DONE, shell: 'echo 2 > a.txt' },
    ]);
    await run(['-n', '1']);
    expect((await ralph(['resume', 't', '-n', '2', '--delay', '0', '--commit'])).exitCode).toBe(0);
    expect(log()).toEqual(['Start']);
    expect(events('commit_failed')).toMatchObject([{ why: expect.stringContaining('user.name') }]);
  });

  test('no signature: says so, and the work stays', async () => {
    const { run, git, log, events } = await stage([{ ...DONE, shell: 'echo 1 > a.txt' }]);
    git('config', 'commit.gpgSign', 'true');
    git('config', 'gpg.program', '/bin/false');
    await run(['--commit']);
    expect(log()).toEqual(['Start']);
    expect(git('status', '--porcelain')).toBe('M a.txt');
    const why = expect.stringContaining('cannot be signed');
    expect(events('commit_failed')).toMatchObject([{ why }]);
  });

  test('no author: every start is refused with 2, and nothing is started', async () => {
    const scene = await stage([{ text: 'Not yet.' }]);
    const { exitCode } = await scene.run(['--commit', '-n', '1']);
    expect(exitCode).toBe(3);
    for (const name of ['user.name', 'user.email']) scene.git('config', name, '');
    const refusal =
      '--commit commits in your name, and git knows none: git config --global user.name "NAME" and git config --global user.email ADDRESS set it.\n';
    const starts = [
      () => scene.run(['--commit', '--quiet']),
      () => scene.run(['--commit', '--detach']),
      () => scene.ralph(['resume', 't', '-n', '+1']),
      () => scene.ralph(['watch', '--commit']),
      () => scene.ralph(['rescue', '--commit']),
    ];
    for (const start of starts) {
      expect(await start()).toMatchObject({ exitCode: 2, stdout: '', stderr: `ralph: ${refusal}` });
    }
    const dry = await scene.ralph(['resume', 't', '--dry-run']);
    expect(dry.exitCode).toBe(2);
    expect(dry.stdout).toContain(' would be refused, with exit code 2. Nothing was started');
    expect(dry.stdout).toContain(`\nIt would be refused because:\n  ${refusal}`);
    expect((await scene.ralph(['doctor'])).stdout).toContain('git: no author is known');
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('commits nothing while a merge is under way', async () => {
    const { run, git, log, events, folder } = await stage([
      { ...DONE, shell: 'git merge other; echo 1 > new.txt' },
    ]);
    git('checkout', '-q', '-b', 'other');
    put(folder, { 'a.txt': 'other\n' });
    git('commit', '-q', '-a', '-m', 'other');
    git('checkout', '-q', 'work');
    put(folder, { 'a.txt': 'work\n' });
    git('commit', '-q', '-a', '-m', 'work');
    await run(['--commit']);
    expect(log()).toEqual(['work', 'Start']);
    expect(existsSync(join(folder, '.git/MERGE_HEAD'))).toBe(true);
    expect(events('commit_failed')).toMatchObject([{ why: 'a merge is under way' }]);
  });

  test.for(['pre-commit', 'post-commit'])('a driver killed in %s commits once', async (name) => {
    const { run, ralph, git, log, folder } = await stage(
      [{ shell: 'echo 1 > a.txt; echo new > new.txt', text: 'One.' }, DONE],
      { [name]: KILL_ONCE },
    );
    put(folder, { 'staged.txt': 'x' });
    git('add', 'staged.txt');
    expect(await run(['--commit'])).toMatchObject({ signal: 'SIGKILL' });
    expect((await ralph(['resume', 't', '--delay', '0'])).exitCode).toBe(0);
    expect(log()).toEqual(['One.', 'Start']);
    expect(git('show', '--format=', '--name-only', 'HEAD')).toBe('a.txt\nnew.txt');
    expect(git('status', '--porcelain')).toBe('A  staged.txt');
  });

  test('without snapshots commits nothing, and says so', async () => {
    const { run, log, events } = await stage([{ ...DONE, shell: 'echo 1 > a.txt' }]);
    await run(['--commit', '--no-snapshots']);
    expect(log()).toEqual(['Start']);
    expect(events('commit_failed')).toMatchObject([
      { why: expect.stringContaining('no snapshot') },
    ]);
  });
});

describe('--revert-failed', () => {
  const CUT: Turn = { shell: 'echo wrong > a.txt; git add a.txt; echo new > new.txt', hangs: true };

  test('takes back an iteration that was cut, and tells the agent what went', async () => {
    const { run, read, has, git, prompt, log, events, snapshot } = await stage([
      CUT,
      { ...DONE, shell: 'echo right > b.txt' },
    ]);
    // It bounds the commit as well.
    const limit = ['--iteration-timeout', LIMIT];
    const { exitCode, stderr } = await run(['--commit', '--revert-failed', ...limit]);
    expect(exitCode).toBe(0);
    expect(events('commit_failed')).toEqual([]);
    expect(read('a.txt')).toBe('a\n');
    expect(has('new.txt')).toBe(false);
    expect(git('status', '--porcelain')).toBe('');
    expect(log()).toEqual(['All good.', 'Start']);
    expect(prompt(2)).toContain('+wrong');
    expect(prompt(2)).toContain('What the previous iteration changed was taken back');
    expect(stderr).toContain('took back what iteration 1 changed: 2 files');
    expect(events('iteration_reverted')).toMatchObject([{ iteration: 1, files: 2, kept: [] }]);
    // Nothing is lost.
    expect(git('show', `${snapshot(1)}:a.txt`)).toBe('wrong');
  });

  test('keeps what somebody else changed between the iterations', async () => {
    const { run, read } = await stage([{ shell: 'echo 1 > new.txt', text: 'One.' }, CUT, DONE]);
    await run([
      ...['--revert-failed', '--iteration-timeout', LIMIT],
      ...['--after', 'test -e p.txt || echo person | tee p.txt > b.txt'],
    ]);
    expect([read('a.txt'), read('b.txt'), read('p.txt')]).toEqual(['a\n', 'person\n', 'person\n']);
    expect(read('new.txt')).toBe('1\n');
  });

  test('without the flag, and after an answer, nothing is taken back', async () => {
    const { run, read } = await stage([CUT, { ...DONE, shell: 'echo right > b.txt' }]);
    await run(['--iteration-timeout', LIMIT]);
    expect([read('a.txt'), read('b.txt')]).toEqual(['wrong\n', 'right\n']);
  });

  test('without snapshots touches nothing, and says so', async () => {
    const { run, read, events } = await stage([CUT, DONE]);
    await run(['--revert-failed', '--no-snapshots', '--iteration-timeout', LIMIT]);
    expect(read('a.txt')).toBe('wrong\n');
    expect(events('revert_failed')).toMatchObject([{ iteration: 1 }]);
  });
});
