import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLag } from '../../../../src/effects/branches/commit/index-lag.ts';
import { askGit, makeGit } from '../../../../src/effects/git/call/git.ts';
import { createPatience, type Patience } from '../../../../src/effects/git/git-locks.ts';
import { commitsIn } from '../../../helpers/commits.ts';
import { put } from '../../../helpers/repository.ts';

type Scene = Awaited<ReturnType<typeof commitsIn>>;

/** An iteration of one file is kept; its commit is made while `meanwhile` is done. */
async function commitWhile(meanwhile: (scene: Scene) => void, when: 'before' | 'in the middle') {
  const scene = await commitsIn();
  await scene.begin();
  await scene.work(1, { 'a.txt': '1\n' });
  if (when === 'before') meanwhile(scene);
  let looks = 0;
  const patience: Patience = {
    async untilGone() {
      looks += 1;
      // It looks for locks once the files are in ralph's index, and before it looks at HEAD again.
      if (looks === 1 && when === 'in the middle') meanwhile(scene);
      return null;
    },
  };
  const committed = await scene.commit({}, { patience });
  expect(looks).toBeGreaterThan(0);
  return { ...scene, committed };
}

test.for<[string, (scene: Scene) => void]>([
  ['another branch moves', ({ git }) => git('branch', '-f', 'main', newCommit(git))],
  ['a branch is made', ({ git }) => git('branch', 'other')],
  ['git packs the refs', ({ git }) => git('pack-refs', '--all')],
  ['the branch is written as it is', ({ git }) => git('update-ref', 'refs/heads/work', 'HEAD')],
])('%s: the commit is made', async ([, meanwhile]) => {
  const { committed, git } = await commitWhile(meanwhile, 'in the middle');
  expect(committed.settlement).toMatchObject({ kind: 'committed', branch: 'work' });
  expect(git('log', '--format=%s', 'work')).toBe('Did it\nfirst');
});

test('git gc removes the folder in which git wanted to write: the commit is made', async () => {
  const scene = await commitsIn();
  await scene.begin();
  await scene.work(1, { 'a.txt': '1\n' });
  let commits = 0;
  const withPrograms = makeGit(async (args, extras) => {
    if (args[0] === 'commit') commits += 1;
    if (args[0] !== 'commit' || commits > 1) return askGit(scene.withPrograms, args, extras);
    const complaint = 'error: unable to create temporary file: No such file or directory\n';
    return { exitCode: 128, output: '', complaint };
  });
  const { settlement } = await scene.commit({}, { withPrograms });
  expect([settlement.kind, commits]).toEqual(['committed', 2]);
});

const commitByPerson = ({ git, folder }: Scene): void => {
  put(folder, { 'b.txt': 'b\n' });
  git('add', 'b.txt');
  git('commit', '-q', '-m', 'by a person');
};

test.for<['before' | 'in the middle', string, (scene: Scene) => void, string]>([
  ['before', 'a person commits here', commitByPerson, 'by a person\nfirst'],
  ['in the middle', 'a person commits here', commitByPerson, 'by a person\nfirst'],
  [
    'before',
    'a person changes branches',
    ({ git }) => git('checkout', '-q', '-b', 'away'),
    'first',
  ],
])('%s, %s: no commit is made', async ([when, , meanwhile, log]) => {
  const { committed, git, commit, keep } = await commitWhile(meanwhile, when);
  expect(committed.settlement).toEqual({ kind: 'not-committed', why: 'HEAD moved meanwhile' });
  expect(git('log', '--format=%s', 'HEAD')).toBe(log);
  // Once that is kept, the work goes into the next commit.
  await keep('2.0');
  expect((await commit()).settlement).toMatchObject({ kind: 'committed', files: 1 });
  expect(git('log', '-3', '--format=%s', 'HEAD')).toBe(`Did it\n${log}`);
});

function newCommit(git: Scene['git']): string {
  return git('commit-tree', '-m', 'elsewhere', 'main^{tree}');
}

test('a person who commits while the hooks run has the branch', async () => {
  const { folder, git, begin, work, commit } = await commitsIn();
  const hook =
    '#!/bin/sh\ngit update-ref refs/heads/work $(git commit-tree -p work -m mine work^{tree})\n';
  put(folder, { '.git/hooks/pre-commit': hook });
  chmodSync(join(folder, '.git/hooks/pre-commit'), 0o755);
  await begin();
  await work(1, { 'a.txt': '1\n' });
  expect((await commit()).settlement).toEqual({
    kind: 'not-committed',
    why: 'HEAD moved meanwhile',
  });
  expect(git('log', '--format=%s')).toBe('mine\nfirst');
});

describe('a lock of git', () => {
  const LOCKS = ['HEAD.lock', 'refs/heads/work.lock', 'packed-refs.lock'];

  /** Commits one file while a lock is there, which goes after some looks; resolves to the number of pauses, too. */
  async function commitLocked(name: string, looks: number) {
    const scene = await commitsIn();
    await scene.begin();
    await scene.work(1, { 'a.txt': '1\n' });
    put(scene.folder, { [`.git/${name}`]: '' });
    let pauses = 0;
    const patience = createPatience(async () => {
      pauses += 1;
      if (pauses === looks) rmSync(join(scene.folder, '.git', name));
    });
    return { ...scene, committed: await scene.commit({}, { patience }), pauses };
  }

  test('that goes is waited for', async () => {
    const { committed, git } = await commitLocked('HEAD.lock', 3);
    expect(committed.settlement.kind).toBe('committed');
    expect(git('log', '--format=%s')).toBe('Did it\nfirst');
  });

  test.for(LOCKS)('%s that stays: nothing is committed, and it is named', async (name) => {
    const { committed, git, pauses } = await commitLocked(name, Number.POSITIVE_INFINITY);
    const why = new RegExp(`/${name} has been there since 20.*Z, and may be removed if no git`);
    expect(committed.settlement).toEqual({
      kind: 'not-committed',
      why: expect.stringMatching(why),
    });
    expect([git('log', '--format=%s'), pauses]).toEqual(['first', 20]);
  });

  test('index.lock that goes is waited for', async () => {
    const { committed, git, own } = await commitLocked('index.lock', 3);
    expect(committed.settlement.kind).toBe('committed');
    expect(readLag(own)).toEqual(new Map());
    expect(git('status', '--porcelain')).toBe('');
  });

  test('index.lock that stays is waited for once, and the commit is made', async () => {
    const { committed, git, own, pauses } = await commitLocked(
      'index.lock',
      Number.POSITIVE_INFINITY,
    );
    expect(committed.settlement.kind).toBe('committed');
    expect([...readLag(own).keys()]).toEqual(['a.txt']);
    expect([git('show', 'HEAD:a.txt'), pauses]).toEqual(['1', 20]);
  });
});

describe('an index that was locked', () => {
  /** One commit was made behind the index: `a.txt` was changed, and `new.txt` is new. */
  async function behind() {
    const scene = await commitsIn({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    put(scene.folder, { 'staged.txt': 'mine\n' });
    scene.git('add', 'staged.txt');
    await scene.begin();
    await scene.work(1, { 'a.txt': '1\n', 'new.txt': 'n\n' });
    put(scene.folder, { '.git/index.lock': '' });
    await scene.commit();
    rmSync(join(scene.folder, '.git/index.lock'));
    return scene;
  }

  test('has both commits after the next one, and what was staged is still staged', async () => {
    const { git, keep, work, commit } = await behind();
    await keep('2.0');
    await work(2, { 'b.txt': '2\n' });
    await commit({ iteration: 2 });
    expect(git('status', '--porcelain')).toBe('A  staged.txt');
  });

  test('follows where the next commit changes the same files, or takes them away', async () => {
    const { folder, git, keep, work, commit } = await behind();
    await keep('2.0');
    rmSync(join(folder, 'new.txt'));
    await work(2, { 'a.txt': '2\n' });
    await commit({ iteration: 2 });
    expect(git('show', '--format=', '--name-status', 'HEAD')).toBe('M\ta.txt\nD\tnew.txt');
    expect(git('status', '--porcelain')).toBe('A  staged.txt');
  });

  test('keeps what a person has staged meanwhile', async () => {
    const { folder, git, keep, work, commit } = await behind();
    put(folder, { 'a.txt': 'by a person\n' });
    git('add', 'a.txt');
    await keep('2.0');
    await work(2, { 'b.txt': '2\n' });
    await commit({ iteration: 2 });
    expect(git('show', ':a.txt')).toBe('by a person');
    expect(git('status', '--porcelain')).toBe('M  a.txt\nA  staged.txt');
  });

  test('gets nothing of the commits of another branch', async () => {
    const { git, keep, work, commit } = await behind();
    git('checkout', '-q', '-f', '-b', 'other', 'main');
    await keep('2.0');
    await work(2, { 'b.txt': '2\n' });
    await commit({ iteration: 2 });
    expect(git('ls-files')).toBe('a.txt\nb.txt');
  });
});
