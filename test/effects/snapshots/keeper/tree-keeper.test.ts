import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { snapshotMessage } from '../../../../src/core/snapshots/snapshot-message.ts';
import { undoNames } from '../../../../src/core/snapshots/snapshot-names.ts';
import { askGit, type CallExtras, makeGit } from '../../../../src/effects/git/call/git.ts';
import {
  openTreeKeeper,
  type TreeKeeper,
  type TreeKeeperRequest,
} from '../../../../src/effects/snapshots/keeper/tree-keeper.ts';
import { createGitProgress } from '../../../../src/effects/snapshots/keeper/tree-progress.ts';
import { GIT_ENV, gitIn, makeRepository, put } from '../../../helpers/repository.ts';
import { idsInMemory } from '../../../helpers/snapshots.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

async function keeperOf(folder: string, more: Partial<TreeKeeperRequest> = {}) {
  const warnings: string[] = [];
  const notices: string[] = [];
  const request: TreeKeeperRequest = {
    cwd: folder,
    excluded: [join(folder, 'Done')],
    excludedGlobs: [],
    maxBytes: 1_000,
    folder: await tempFolder(),
    taskId: 't',
    ids: idsInMemory(),
    env: GIT_ENV,
    runId: 'run',
    signal: new AbortController().signal,
    now: () => '2026-01-01T00:00:00.000Z',
    warn: (why) => warnings.push(why),
    notice: (sentence) => notices.push(sentence),
    ...more,
  };
  const keeper = await openTreeKeeper(request);
  if (keeper === null) throw new Error('no keeper');
  const { cwd, excluded, env } = request;
  const progress = createGitProgress({ cwd, excluded, env }, keeper);
  const ended = (iteration: number, as: 'end' | 'attempt' | 'missing-end' = 'end') =>
    keeper.after({ iteration, as, outcome: 'answered' });
  const names = async () => (await keeper.timeline()).snapshots.map(({ name }) => name);
  return { keeper, ids: request.ids, progress, ended, names, warnings, notices };
}

/** Keeps the tree before an iteration, after something has run. */
function keepBefore(keeper: TreeKeeper, iteration: number): Promise<void> {
  keeper.disturb();
  return keeper.before(iteration);
}

async function stage(files = { 'a.txt': 'a' }) {
  const repository = await makeRepository(files);
  const kept = await keeperOf(repository.folder);
  await keepBefore(kept.keeper, 1);
  await kept.progress.mark();
  return { ...repository, ...kept };
}

describe('the known tree', () => {
  test('is the one that was kept last, until a program runs', async () => {
    const { folder, keeper, ended } = await stage();
    const before = keeper.knownTree();
    expect(before).toMatch(/^[0-9a-f]{40}$/);
    keeper.loseTree();
    expect(keeper.knownTree()).toBeNull();
    await ended(1);
    expect(keeper.knownTree()).toBe(before);
    put(folder, { b: '1' });
    await ended(2);
    expect(keeper.knownTree()).toMatch(/^[0-9a-f]{40}$/);
    expect(keeper.knownTree()).not.toBe(before);
    rmSync(join(folder, 'b'));
    await ended(3);
    expect(keeper.knownTree()).toBe(before);
  });

  test('is none beside what is in no snapshot, and after an end that was kept before', async () => {
    const { folder, keeper, ended } = await stage();
    put(folder, { b: '1' });
    await ended(1);
    await ended(1, 'missing-end');
    expect(keeper.knownTree()).toBeNull();
    put(folder, { large: 'x'.repeat(1_001) });
    await ended(2);
    expect(keeper.knownTree()).toBeNull();
    rmSync(join(folder, 'large'));
    await ended(3);
    expect(keeper.knownTree()).not.toBeNull();
    const { keeper: partly } = await keeperOf(folder, { excludedGlobs: ['x/**'], taskId: 'u' });
    await keepBefore(partly, 1);
    expect(partly.knownTree()).toBeNull();
  });
});

describe('the snapshots of a task', () => {
  test('are named by its iterations, and one that changed nothing has none', async () => {
    const { folder, keeper, ended, names } = await stage();
    put(folder, { b: '1' });
    await ended(1);
    await keepBefore(keeper, 2);
    await ended(2);
    await keepBefore(keeper, 3);
    put(folder, { b: '3' });
    await ended(3, 'attempt');
    put(folder, { b: '4' });
    await ended(3);
    expect(await names()).toEqual(['0', '1', '3.1', '3']);
  });

  test('tell what somebody else changed between two iterations', async () => {
    const { folder, keeper, ended, names } = await stage();
    put(folder, { b: '1' });
    await ended(1);
    put(folder, { b: 'mine' });
    await keepBefore(keeper, 2);
    expect(await names()).toEqual(['0', '1', '2.0']);
  });

  test('go on in a later process, which keeps what a dead driver could not', async () => {
    const { folder, ids, ended, names } = await stage();
    put(folder, { b: '1' });
    await ended(1);
    put(folder, { b: 'half done' });
    const later = await keeperOf(folder, { ids });
    await later.ended(2, 'attempt');
    await later.ended(1, 'missing-end');
    put(folder, { b: 'whole' });
    await later.ended(2, 'missing-end');
    expect(await names()).toEqual(['0', '1', '2.1', '2']);
  });

  test('begin again after a driver that was killed before the task began', async () => {
    const { folder, git } = await stage();
    put(folder, { b: 'mine' });
    writeFileSync(join(folder, '.git/refs/ralph/t/0.lock'), '');
    const later = await keeperOf(folder);
    await later.keeper.before(1);
    expect([await later.names(), later.warnings]).toEqual([['0'], []]);
    expect(git('show', 'refs/ralph/t/0:b')).toBe('mine');
  });

  test('that cannot be made are told once, and made again later', async () => {
    const { folder, ended, keeper, names, warnings } = await stage();
    renameSync(join(folder, '.git'), join(folder, 'away'));
    put(folder, { b: '1' });
    await ended(1);
    await keepBefore(keeper, 2);
    expect(keeper.isWorking).toBe(false);
    expect(warnings).toHaveLength(1);
    renameSync(join(folder, 'away'), join(folder, '.git'));
    await ended(2);
    expect(keeper.isWorking).toBe(true);
    expect(await names()).toEqual(['0', '2']);
  });

  test('are made again from the start if git has thrown away what they need', async () => {
    const { folder, ended, git, names, warnings } = await stage();
    put(folder, { b: '1' });
    await ended(1);
    for (const name of ['0', '1']) git('update-ref', '-d', `refs/ralph/t/${name}`);
    git('reflog', 'expire', '--expire=now', '--all');
    git('gc', '-q', '--prune=now');
    put(folder, { b: '2' });
    await ended(2);
    expect([await names(), warnings]).toEqual([['2'], []]);
    expect(git('show', 'refs/ralph/t/2:b')).toBe('2');
  });

  test('contain a new file that the agent has staged', async () => {
    const { folder, ended, git } = await stage();
    put(folder, { staged: 'new' });
    git('add', 'staged');
    await ended(1);
    expect(git('show', 'refs/ralph/t/1:staged')).toBe('new');
  });

  test('are made even if nobody can read the index', async () => {
    const { folder, ended, git, warnings } = await stage();
    put(folder, { 'a.txt': 'changed', b: 'b', '.git/index': 'garbage' });
    await ended(1);
    expect([git('show', 'refs/ralph/t/1:a.txt'), git('show', 'refs/ralph/t/1:b')]).toEqual([
      'changed',
      'b',
    ]);
    expect(warnings).toEqual([]);
  });

  test('are refused if the configuration names another work tree', async () => {
    const { folder, git } = await stage();
    git('config', 'core.worktree', await tempFolder());
    await expect(keeperOf(folder)).rejects.toThrow(/core\.worktree/);
  });

  test('contain nothing of the folders of the vault, even if it is committed', async () => {
    const { folder, ended, git } = await stage();
    put(folder, { 'Done/note.md': 'x', b: 'b' });
    git('add', '--all');
    git('commit', '-q', '-m', 'both');
    await ended(1);
    expect(git('ls-tree', '-r', '--name-only', 'refs/ralph/t/1')).toBe('a.txt\nb');
  });

  test('are none outside a repository', async () => {
    const request = { cwd: await tempFolder(), excluded: [], env: GIT_ENV };
    const opened = await openTreeKeeper({
      ...{ ...request, excludedGlobs: [], maxBytes: 1, folder: request.cwd, taskId: 't' },
      ...{
        ids: idsInMemory(),
        runId: 'r',
        signal: new AbortController().signal,
        now: () => '',
      },
      warn: () => {},
      notice: () => {},
    });
    expect(opened).toBeNull();
  });
});

describe('a tree that nothing has disturbed', () => {
  /** A keeper that lists nothing again, and says how often git was called. */
  async function quiet() {
    const staged = await stage();
    const { own } = staged.keeper.git;
    const run = vi.fn((args: readonly string[], extras: CallExtras) => askGit(own, args, extras));
    Object.assign(staged.keeper.git, { own: makeGit(run) });
    return { ...staged, run };
  }

  test('is not looked at again, and what somebody changes just then is in the next snapshot', async () => {
    const { folder, keeper, ended, names, run } = await quiet();
    await keeper.before(1);
    expect(run).not.toHaveBeenCalled();
    put(folder, { 'a.txt': 'by a person' });
    await keeper.before(1);
    expect(run).not.toHaveBeenCalled();
    await ended(1);
    expect(await names()).toEqual(['0', '1']);
    run.mockClear();
    await keeper.before(2);
    expect(run).not.toHaveBeenCalled();
  });

  test('is looked at again after a claim was kept, since who judges it takes time', async () => {
    const { folder, keeper, names } = await quiet();
    put(folder, { b: 'by a check' });
    await keeper.keepChecked(1);
    put(folder, { 'a.txt': 'by a person, while a judge reads' });
    await keeper.before(2);
    expect(await names()).toEqual(['0', '1', '2.0']);
  });

  const commit = ['commit', '-q', '--allow-empty', '-m', 'mine'];
  test.each<[string, (git: ReturnType<typeof gitIn>, folder: string) => void]>([
    ['HEAD', (git) => git(...commit)],
    ['the branch', (git) => git('switch', '-q', '-c', 'other')],
    ['the index', (git) => git('rm', '-q', '--cached', 'a.txt')],
  ])('is looked at again once somebody has moved %s', async (_, move) => {
    const { folder, git, keeper, names } = await quiet();
    move(git, folder);
    await keeper.before(2);
    expect(await names()).toEqual(['0', '2.0']);
  });

  test('is looked at again once a program has run, or time has passed', async () => {
    for (const how of ['disturb', 'loseTree'] as const) {
      const { folder, keeper, names } = await quiet();
      put(folder, { 'a.txt': how });
      keeper[how]();
      await keeper.before(2);
      expect(await names()).toEqual(['0', '2.0']);
    }
  });
});

describe('progress by snapshots', () => {
  test('counts the files of all attempts, and not what others changed', async () => {
    const { folder, keeper, ended, progress } = await stage();
    put(folder, { b: '1' });
    await ended(1, 'attempt');
    put(folder, { c: '1', 'a.txt': 'changed' });
    await ended(1);
    expect(await progress.since()).toEqual({ commits: 0, filesChanged: 3 });
    put(folder, { mine: 'x' });
    await keepBefore(keeper, 2);
    await ended(2);
    expect(await progress.since()).toEqual({ commits: 0, filesChanged: 0 });
  });

  test('counts commits, once', async () => {
    const { folder, git, ended, progress } = await stage();
    put(folder, { b: '1' });
    git('add', 'b');
    git('commit', '-q', '-m', 'b');
    await ended(1);
    expect(await progress.since()).toMatchObject({ commits: 1, filesChanged: 1 });
    await ended(2);
    expect(await progress.since()).toEqual({ commits: 0, filesChanged: 0 });
  });

  test('sees files that are too large for a snapshot', async () => {
    const { folder, keeper, ended, progress } = await stage();
    put(folder, { large: 'x'.repeat(2_000) });
    await keepBefore(keeper, 2);
    put(folder, { large: 'y'.repeat(2_000) });
    await ended(2);
    expect(await progress.since()).toMatchObject({ commits: 0, filesChanged: 1 });
  });

  test('sees what is done in repositories inside, and says that no snapshot keeps it', async () => {
    const { folder, git, keeper, ended, progress, notices } = await stage();
    put(folder, { '.gitignore': 'ignored', 'shown/a': 'a', 'ignored/a': 'a' });
    const inside = gitIn(join(folder, 'shown'));
    for (const each of [inside, gitIn(join(folder, 'ignored'))]) {
      each('init', '-q');
      each('add', 'a');
      each('commit', '-q', '-m', 'a');
    }
    await keepBefore(keeper, 2);
    await progress.mark();
    expect(notices).toEqual([]);
    put(folder, { 'shown/a': 'b', 'ignored/a': 'b' });
    await ended(2);
    expect(await progress.since()).toEqual({ commits: 0, filesChanged: 2 });
    expect(notices).toEqual([
      expect.stringMatching(/^The repository ignored is in no snapshot/),
      expect.stringMatching(/^Of the repository shown snapshots keep only the commit/),
    ]);
    inside('commit', '-q', '-a', '-m', 'b');
    await ended(3);
    expect(await progress.since()).toMatchObject({ commits: 0, filesChanged: 1 });
    expect(notices).toHaveLength(2);
    const inAll = await progress.inAll(git('rev-parse', 'HEAD'), new AbortController().signal);
    // Beside .gitignore and the repository that git shows the files in both.
    expect(inAll).toMatchObject({ commits: 0, filesChanged: 2 + 2 });
  });

  test('asks git status while no snapshot can be made', async () => {
    const { folder, git, ended, progress } = await stage();
    const objects = join(folder, '.git', 'objects');
    renameSync(objects, `${objects}-away`);
    writeFileSync(objects, 'in the way');
    put(folder, { b: '1' });
    await ended(1);
    expect(await progress.since()).toBeNull();
    rmSync(objects);
    renameSync(`${objects}-away`, objects);
    expect(await progress.since()).toBeNull();
    put(folder, { c: '1' });
    git('add', 'c');
    expect(await progress.since()).toMatchObject({ commits: 0, filesChanged: 1 });
  });

  test('goes on where git cannot read HEAD', async () => {
    const { folder, git } = await stage();
    git('commit', '-q', '--allow-empty', '-m', 'second');
    const later = await keeperOf(folder);
    writeFileSync(join(folder, '.git', 'config'), '[');
    expect(await later.progress.mark()).toBeNull();
    await later.ended(1);
    expect(later.warnings).toEqual([expect.stringMatching(/^git cannot read HEAD: bad config/)]);
    expect(await later.progress.since()).toBeNull();
  });

  test('sums up everything since the first snapshot, with its lines', async () => {
    const { folder, git, ended, progress } = await stage();
    const base = git('rev-parse', 'HEAD');
    put(folder, { 'a.txt': 'b\nc\n', new: '1\n2\n3\n', bytes: '\0' });
    git('commit', '-qam', 'a');
    await ended(1);
    expect(await progress.inAll(base, new AbortController().signal)).toEqual({
      commits: 1,
      filesChanged: 3,
      names: ['a.txt', 'bytes', 'new'],
      lines: { added: 5, removed: 1 },
    });
  });

  test('sums up where there is no commit yet, and no further than the first one', async () => {
    const folder = await tempFolder();
    const git = gitIn(folder);
    git('init', '-q');
    const { keeper, ended, progress } = await keeperOf(folder);
    await keepBefore(keeper, 1);
    await ended(1);
    const inAll = () => progress.inAll(null, new AbortController().signal);
    expect(await inAll()).toMatchObject({ commits: 0, filesChanged: 0 });
    put(folder, { a: '1' });
    await ended(2);
    expect(await inAll()).toMatchObject({ commits: 0, filesChanged: 1 });
    git('commit', '-q', '--allow-empty', '-m', 'first');
    expect(await inAll()).toBeNull();
  });
});

describe('an untracked secret', () => {
  test('from before the task is told once', async () => {
    const { folder } = await makeRepository({ 'a.txt': 'a', '.env.shared': 'tracked' });
    put(folder, { '.env': 'A=1' });
    const { keeper, ended, notices } = await keeperOf(folder);
    await keepBefore(keeper, 1);
    const told = [expect.stringContaining('.env looks like a secret')];
    expect(notices).toEqual(told);
    put(folder, { b: '1', '.env': 'A=2' });
    await ended(1);
    expect(notices).toEqual(told);
  });
});

describe('a tree that is kept under no name', () => {
  test('is part of the next snapshot with a name', async () => {
    const { folder, keeper, ended, names, notices } = await stage();
    keeper.filesTouched();
    put(folder, { b: '1', '.env': 'A=1' });
    const kept = await keeper.keepUnnamed();
    expect(kept.changed.toSorted()).toEqual(['.env', 'b']);
    put(folder, { c: '1' });
    expect((await keeper.keepUnnamed()).changed.toSorted()).toEqual(['.env', 'b', 'c']);
    expect(await names()).toEqual(['0']);
    await ended(1);
    expect(await names()).toEqual(['0', '1']);
    expect(keeper.filesTouched()?.toSorted()).toEqual(['.env', 'b', 'c']);
    expect(notices).toEqual([expect.stringContaining('.env looks like a secret')]);
    expect((await keeper.keepUnnamed()).isAsNewest).toBe(true);
    await ended(2);
    expect(await names()).toEqual(['0', '1']);
    expect(keeper.filesTouched()).toEqual([]);
  });

  test('is kept once more from the start if git has lost a part of it', async () => {
    const { folder, keeper, git } = await stage();
    put(folder, { b: '1' });
    await keeper.keepUnnamed();
    git('gc', '--quiet', '--prune=now');
    put(folder, { c: '1' });
    const { tree } = await keeper.keepUnnamed();
    expect(git('ls-tree', '-r', '--name-only', tree).split('\n')).toEqual(['a.txt', 'b', 'c']);
  });
});

test('an iteration after an undo has a start of its own, even if the undo has changed no file', async () => {
  const { keeper, ended, names } = await stage();
  const about = { taskId: 't', order: keeper.nextOrder(), at: 'now', subject: 'undo' };
  const kept = await keeper.store.keepTree();
  await keeper.store.keep(kept, undoNames(), ({ branch }) => snapshotMessage({ ...about, branch }));
  await keepBefore(keeper, 2);
  await ended(2);
  expect(await names()).toEqual(['0', 'undo.1', '2.0']);
});

test('of what is rewritten at a commit only those paths are the iteration’s', async () => {
  const { folder, git, keeper, ended, names } = await stage();
  put(folder, { 'a.txt': 'the agent’s', 'b.txt': 'b' });
  await ended(1);
  await keeper.keepRewritten(1, ['a.txt']);
  expect(await names()).toEqual(['0', '1']);
  put(folder, { 'a.txt': 'formatted', 'b.txt': 'a person’s', 'c.txt': 'a person’s' });
  await keeper.keepRewritten(1, ['a.txt']);
  expect(keeper.knownTree()).toBeNull();
  await keepBefore(keeper, 2);
  const changed = (from: string, to: string) =>
    git('diff-tree', '--name-only', '-r', `refs/ralph/t/${from}`, `refs/ralph/t/${to}`);
  expect(await names()).toEqual(['0', '1', '1.1', '2.0']);
  expect([changed('1', '1.1'), changed('1.1', '2.0')]).toEqual(['a.txt', 'b.txt\nc.txt']);
});
