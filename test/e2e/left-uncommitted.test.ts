import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { gitIn, put } from '../helpers/repository.ts';
import { makeScene } from '../helpers/scene.ts';

// What --commit does, and says, of work that is in no commit when the task ends.

const DONE: Turn = {
  shell: 'echo 1 > a.txt; echo n > new.txt',
  text: 'All good.\n\nTASK_COMPLETE',
};

async function stage(turns: readonly Turn[] = [DONE]) {
  const scene = await makeScene(turns);
  await scene.write('a.txt', 'a\n');
  scene.makeRepository();
  const git = gitIn(scene.folder);
  git('checkout', '-q', '-b', 'work');
  put(scene.folder, { 'staged.txt': 'mine\n' });
  git('add', 'staged.txt');
  return { ...scene, git, end: () => scene.journal().at(-1) };
}

test('what is left is one of the last lines, also with --quiet, and an event says it', async () => {
  const { run, git, folder, end } = await stage();
  put(folder, { '.git/MERGE_HEAD': '' });
  const { exitCode, stderr } = await run(['--commit', '--quiet']);
  expect(stderr).toBe('ralph: t: left: 2 files not committed: a merge is under way\n');
  expect(exitCode).toBe(0);
  expect(end()).toMatchObject({
    event: 'task_completed',
    uncommitted: { reason: 'a merge is under way', files: 2 },
  });
  expect(git('log', '--format=%s')).toBe('Start');
});

test('what the commits leave out is said at the end, as long as HEAD lacks it', async () => {
  const turn: Turn = {
    shell:
      'echo 1 >> a.txt; echo n > new.txt; for f in id_rsa .env staged.txt; do echo s > $f; done',
    text: 'On it.',
  };
  const last: Turn = {
    shell: 'echo .env > .gitignore; git commit -qm mine staged.txt',
    text: 'TASK_COMPLETE',
  };
  const { run, git, folder, end } = await stage([turn, last]);
  put(folder, { 'a.txt': 'by a person\n' });
  const { exitCode, stderr } = await run(['--commit', '--quiet', '--delay', '0']);
  expect(exitCode).toBe(0);
  const reason =
    /^a\.txt \(it had changes of yours before\), id_rsa \(a new file that looks like a secret/;
  expect(end()).toMatchObject({ uncommitted: { reason: expect.stringMatching(reason), files: 2 } });
  expect(stderr).toContain('left: 2 files not committed: a.txt (it had changes of');
  expect(git('status', '--porcelain')).toBe('M a.txt\n?? id_rsa');
});

test('it is tried once more before ralph decides about the work tree', async () => {
  const { run, git, journal, end, state } = await stage();
  const merge = '"$(git rev-parse --git-dir)/MERGE_HEAD"';
  const { exitCode, stderr } = await run([
    ...['--commit', '--worktree', '--setup', `touch ${merge}`, '--after', `rm ${merge}`],
  ]);
  expect(exitCode).toBe(0);
  expect(git('log', '--format=%s', 'ralph/t')).toBe('All good.\nStart');
  expect(stderr).toContain('is removed, since all in it is committed');
  const events = journal().filter(({ event }) => /^iteration_committed|commit_failed/.test(event));
  expect(events).toMatchObject([
    { event: 'commit_failed', why: 'a merge is under way' },
    { event: 'iteration_committed', iteration: 1, branch: 'ralph/t', files: 2 },
  ]);
  expect(end()).not.toHaveProperty('uncommitted');
  expect(state()).toMatchObject({ git: { branches: ['ralph/t'] } });
});

test('all commits of an agent that changes branches are counted, and their branches named', async () => {
  const away = (text: string): Turn => ({
    shell: `git checkout -q main; echo "${text}" > f`,
    text,
  });
  const { run, git, end } = await stage([away('On it.'), away('TASK_COMPLETE')]);
  git('branch', 'main');
  git('rm', '-q', '-f', 'staged.txt');
  const { stderr } = await run(['--commit']);
  expect(stderr).toMatch(/changed: \S+ .*, in 2 commits\n/);
  expect(stderr).toContain('commits: on ralph/t, ralph/t-2');
  expect(end()).toMatchObject({ git: { branches: ['ralph/t', 'ralph/t-2'] } });
  expect(git('log', '--format=%s', 'main')).toBe('Start');
});

test('a hook that has just refused the work is not run once more', async () => {
  const { run, write, read } = await stage();
  const hook = await write(
    '.git/hooks/pre-commit',
    '#!/bin/sh\necho run >> .git/seen\necho no\nexit 1\n',
  );
  chmodSync(hook, 0o755);
  const { stderr } = await run(['--commit']);
  expect(stderr).toContain('left: 2 files not committed: git commit ended with 1: no');
  expect(read('.git/seen')).toBe('run\n');
});

test('an index that was locked follows when the task ends', async () => {
  const { run, git, folder } = await stage();
  put(folder, { '.git/index.lock': '' });
  const { stderr } = await run(['--commit', '--after', 'rm .git/index.lock']);
  expect(stderr).toContain(`${join(folder, '.git/index.lock')} has been there since`);
  expect(stderr).not.toContain('reset -q');
  expect(git('status', '--porcelain')).toBe('A  staged.txt');
});

test('an index that is still locked: the last lines say what is to be done, and that does it', async () => {
  const { run, git, folder } = await stage();
  put(folder, { '.git/index.lock': '' });
  const { stderr } = await run(['--commit', '--quiet']);
  expect(stderr).toMatch(/index\.lock has been there since \S+Z, and may be removed if no git is/);
  const command = /then git (.*) brings/.exec(stderr)?.[1]?.split(' ') ?? [];
  expect(command).toEqual(['-C', folder, 'reset', '-q', '--', 'a.txt', 'new.txt']);
  rmSync(join(folder, '.git/index.lock'));
  git(...command);
  expect(git('status', '--porcelain')).toBe('A  staged.txt');
});

test('an index that was locked to the end follows at the next resume', async () => {
  const { run, ralph, git, folder, read } = await stage([
    { shell: 'echo 1 > a.txt', text: 'On it.' },
    { shell: 'git status --porcelain > .git/seen', text: 'TASK_COMPLETE' },
  ]);
  put(folder, { '.git/index.lock': '' });
  await run(['--commit', '-n', '1']);
  rmSync(join(folder, '.git/index.lock'));
  expect(git('status', '--porcelain', 'a.txt')).toBe('MM a.txt');
  expect((await ralph(['resume', 't', '-n', '2', '--delay', '0'])).exitCode).toBe(0);
  expect(read('.git/seen')).not.toContain('a.txt');
});
