import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGitProgress } from '../../../src/effects/snapshots/keeper/tree-progress.ts';
import type { GitProgressRequest } from '../../../src/effects/workspace/git-progress.ts';
import { holdTime, passTimeThrough } from '../../helpers/agent-life.ts';
import { isDead, until, untilDead } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const USER = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};
const ENV = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

const NOTHING = { commits: 0, filesChanged: 0 };
const files = (filesChanged: number) => ({ commits: 0, filesChanged });
const commits = (count: number, filesChanged: number) => ({ commits: count, filesChanged });

type Files = Readonly<Record<string, string>>;
type Options = Partial<GitProgressRequest> & { readonly within?: string };

function gitIn(folder: string) {
  return (...args: string[]): string =>
    execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
      cwd: folder,
      env: { ...ENV, ...USER },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
}

async function put(folder: string, content: Files): Promise<void> {
  for (const [name, text] of Object.entries(content)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** What a look from this folder finds. */
function watch(folder: string, more: Partial<GitProgressRequest> = {}) {
  const { mark, since } = createGitProgress({
    ...{ cwd: folder, excluded: [], env: ENV },
    ...more,
  });
  return {
    ...{ mark, changes: since },
    /** What has changed, in numbers. */
    async since() {
      const change = await since();
      if (change === null) return null;
      const { onlyFile, ...numbers } = change;
      return numbers;
    },
  };
}

/** A repository with one commit of these files, and the dirt on top of it; marked. */
async function stage(committed: Files = { 'a.txt': 'a' }, dirt: Files = {}, options: Options = {}) {
  const folder = await tempFolder();
  const git = gitIn(folder);
  git('init');
  await put(folder, committed);
  git('add', '--all');
  git('commit', '--allow-empty', '-m', 'first');
  await put(folder, dirt);
  const { within = '.', ...more } = options;
  const progress = watch(join(folder, within), more);
  const base = await progress.mark();
  const { since, changes, mark } = progress;
  return { folder, git, base, since, changes, mark, progress, at: inside(folder) };
}

function inside(folder: string) {
  return (name: string): string => join(folder, name);
}

describe('nothing has changed', () => {
  test('nothing has changed in three idle iterations', async () => {
    const { since, base, git } = await stage();
    expect(base).toBe(git('rev-parse', 'HEAD'));
    for (const _ of [1, 2, 3]) expect(await since()).toEqual(NOTHING);
  });

  test('nothing has changed in three idle iterations over old uncommitted changes', async () => {
    const { since, git, at } = await stage(
      { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', 'd.txt': 'd' },
      { 'a.txt': 'changed', 'new/new.txt': 'new' },
    );
    git('rm', 'b.txt');
    await rm(at('c.txt'));
    await put(at('.'), { 'd.txt': 'staged' });
    git('add', 'd.txt');
    await put(at('.'), { 'd.txt': 'and changed' });
    expect(await since()).toEqual(files(3));
    for (const _ of [1, 2, 3]) expect(await since()).toEqual(NOTHING);
  });

  test('staging and unstaging changes nothing', async () => {
    const { since, git } = await stage({ 'a.txt': 'a' }, { 'a.txt': 'b', 'new.txt': 'n' });
    git('add', '--all');
    expect(await since()).toEqual(NOTHING);
    git('reset');
    expect(await since()).toEqual(NOTHING);
  });

  test('rewriting a dirty file with the same content changes nothing', async () => {
    const { since, folder } = await stage({ 'a.txt': 'a' }, { 'a.txt': 'b', 'out.xml': '<a/>' });
    await put(folder, { 'a.txt': 'b' });
    await rm(join(folder, 'out.xml'));
    await put(folder, { 'out.xml': '<a/>' });
    expect(await since()).toEqual(NOTHING);
  });

  test('ignored files change nothing', async () => {
    const { since, folder } = await stage({ '.gitignore': 'dist/\n*.log\n' });
    await put(folder, { 'dist/a.js': 'a', 'b.log': 'b' });
    expect(await since()).toEqual(NOTHING);
  });

  test('looking at the work tree changes nothing', async () => {
    const { since, git, folder } = await stage({ 'a.txt': 'a' }, { 'a.txt': 'b' });
    const index = () => statSync(join(folder, '.git/index'), { bigint: true }).ctimeNs;
    // As a checkout leaves it: the index is out of date, and a status of one's own would renew it.
    utimesSync(join(folder, 'a.txt'), 1, 1);
    const before = index();
    await since();
    expect(index()).toBe(before);
    git('status');
    expect(await since()).toEqual(NOTHING);
  });
});

describe('a file has changed', () => {
  test('a file that is new each time counts as changed', async () => {
    const { since, folder } = await stage({ 'a.txt': 'a' }, { 'old.txt': 'old' });
    for (const n of [1, 2, 3]) {
      await put(folder, { [`new/${n}.txt`]: 'new' });
      expect(await since()).toEqual(files(1));
    }
    expect(await since()).toEqual(NOTHING);
  });

  test('a new empty file counts as changed, and so does one among many in a new folder', async () => {
    const { since, folder } = await stage({}, {});
    await put(folder, { 'x/1': '', 'x/2': '', 'x/y/3': '' });
    expect(await since()).toEqual(files(3));
  });

  test('a clean file counts as changed, and again when it changes further', async () => {
    const { since, folder } = await stage();
    for (const text of ['b', 'c', 'dd']) {
      await put(folder, { 'a.txt': text });
      expect(await since()).toEqual(files(1));
    }
  });

  test('a dirty file that is changed back counts as changed', async () => {
    const { since, folder, git } = await stage(
      { 'a.txt': 'a', 'b.txt': 'b' },
      { 'a.txt': 'x', 'b.txt': 'x' },
    );
    await put(folder, { 'a.txt': 'a' });
    expect(await since()).toEqual(files(1));
    git('checkout', 'b.txt');
    expect(await since()).toEqual(files(1));
  });

  test('a file counts as changed even with its old size and its old times', async () => {
    const names = ['a.txt', 'n.txt', 'large.bin'];
    const large = 'x'.repeat(2 * 1024 * 1024);
    const dirt = { 'a.txt': 'two', 'n.txt': 'two', 'large.bin': large };
    const { since, mark, at, folder } = await stage({ 'a.txt': 'one' }, dirt);
    for (const name of names) utimesSync(at(name), 1_000, 1_000);
    await mark();
    await put(folder, { 'a.txt': 'six', 'n.txt': 'six', 'large.bin': `${large.slice(1)}y` });
    for (const name of names) utimesSync(at(name), 1_000, 1_000);
    expect(await since()).toEqual(files(3));
  });

  test('a file that is too large to be read counts as changed even if it is only touched', async () => {
    const { since, at } = await stage({}, { 'large.bin': 'x'.repeat(2 * 1024 * 1024) });
    expect(await since()).toEqual(NOTHING);
    utimesSync(at('large.bin'), 1_000, 1_000);
    expect(await since()).toEqual(files(1));
  });

  test('a deleted file counts as changed, be it clean, dirty or untracked', async () => {
    const { since, at } = await stage(
      { 'a.txt': 'a', 'b.txt': 'b' },
      { 'b.txt': 'x', 'new.txt': 'n' },
    );
    for (const name of ['a.txt', 'b.txt', 'new.txt']) await rm(at(name));
    expect(await since()).toEqual(files(3));
    expect(await since()).toEqual(NOTHING);
  });

  test('a moved file counts in both places', async () => {
    const { since, at, git } = await stage({ 'a.txt': 'a' }, { 'new.txt': 'n' });
    git('mv', 'a.txt', 'b.txt');
    await rename(at('new.txt'), at('other.txt'));
    expect(await since()).toEqual(files(4));
  });

  test('a file that has become executable counts as changed', async () => {
    const { since, at } = await stage({ 'a.sh': 'a' }, { 'b.sh': 'b' });
    await chmod(at('a.sh'), 0o755);
    await chmod(at('b.sh'), 0o755);
    expect(await since()).toEqual(files(2));
  });

  test('the only file that changed has its name told', async () => {
    const { changes, git, at, folder } = await stage({ 'a.txt': 'a', 'b.txt': 'b' });
    await put(folder, { 'a.txt': 'changed' });
    expect(await changes()).toEqual({ ...files(1), onlyFile: at('a.txt') });
    git('commit', '--all', '-m', 'a');
    await put(folder, { 'b.txt': 'changed', 'c.txt': 'new' });
    expect(await changes()).toEqual(commits(1, 2));
    expect(await changes()).toEqual(NOTHING);
  });

  test('a link that now leads elsewhere counts as changed', async () => {
    const { since, at } = await stage();
    await symlink('a.txt', at('link'));
    expect(await since()).toEqual(files(1));
    await rm(at('link'));
    await symlink('b.txt', at('link'));
    expect(await since()).toEqual(files(1));
    expect(await since()).toEqual(NOTHING);
  });

  test.for([
    'with blank.txt',
    'ü😀.txt',
    'line\nbreak.txt',
    '"quoted".txt',
    ' .txt',
    '1 .M N... x',
  ])('whatever its name: %j', async (name) => {
    const { since, folder } = await stage({ [`tracked/${name}`]: 'a' });
    await put(folder, { [name]: 'a', [`tracked/${name}`]: 'b' });
    expect(await since()).toEqual(files(2));
    await put(folder, { [name]: 'b' });
    expect(await since()).toEqual(files(1));
  });

  test('a file whose name is not UTF-8 counts as changed', async () => {
    const { since, folder } = await stage();
    const file = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff, 0x66])]);
    await writeFile(file, 'a');
    expect(await since()).toEqual(files(1));
    await writeFile(file, 'b');
    expect(await since()).toEqual(files(1));
  });

  test('files in a merge that stopped count as changed', async () => {
    const { since, git, folder } = await stage();
    git('checkout', '-b', 'other');
    await put(folder, { 'a.txt': 'other' });
    git('commit', '-am', 'other');
    git('checkout', 'main');
    await put(folder, { 'a.txt': 'main' });
    git('commit', '-am', 'main');
    await since();
    expect(() => git('merge', 'other')).toThrow();
    expect(await since()).toEqual(files(1));
    await put(folder, { 'a.txt': 'solved' });
    expect(await since()).toEqual(files(1));
    expect(await since()).toEqual(NOTHING);
  });

  test('seen from a folder inside the tree', async () => {
    const { since, folder } = await stage(
      { 'sub/a.txt': 'a', 'b.txt': 'b' },
      {},
      { within: 'sub' },
    );
    await put(folder, { 'sub/a.txt': 'x', 'b.txt': 'x', 'sub/new.txt': 'n' });
    expect(await since()).toEqual(files(3));
    await put(folder, { 'sub/new.txt': 'other', 'b.txt': 'other' });
    expect(await since()).toEqual(files(2));
  });

  test('among 5,000, with 1,000 of them dirty before', async () => {
    const many = (from: number, to: number, text: string): Files =>
      Object.fromEntries(
        Array.from({ length: to - from }, (_, n) => [`d${(from + n) % 50}/f${from + n}`, text]),
      );
    const { since, folder } = await stage(many(0, 5_000, 'a'), many(0, 1_000, 'b'));
    expect(await since()).toEqual(NOTHING);
    await put(folder, { ...many(990, 1_005, 'c'), ...many(5_000, 5_003, 'new') });
    await rm(join(folder, 'd0/f4000'));
    expect(await since()).toEqual(files(15 + 3 + 1));
    expect(await since()).toEqual(NOTHING);
  });
});

describe('a commit', () => {
  test('a commit counts, and so do the files in it', async () => {
    const { since, git, folder } = await stage({ 'a.txt': 'a', 'b.txt': 'b' });
    await put(folder, { 'a.txt': 'x', 'new.txt': 'n' });
    git('add', '--all');
    git('commit', '-m', 'second');
    expect(await since()).toEqual(commits(1, 2));
    expect(await since()).toEqual(NOTHING);
  });

  test('a commit of old uncommitted changes counts, but not the files in it', async () => {
    const { since, git } = await stage({ 'a.txt': 'a' }, { 'a.txt': 'b', 'new.txt': 'n' });
    git('add', '--all');
    git('commit', '-m', 'second');
    expect(await since()).toEqual(commits(1, 0));
  });

  test('each of several commits counts', async () => {
    const { since, git } = await stage();
    for (const name of ['one', 'two', 'three']) git('commit', '--allow-empty', '-m', name);
    expect(await since()).toEqual(commits(3, 0));
  });

  test('an amended commit counts', async () => {
    const { since, git } = await stage();
    git('commit', '--amend', '-m', 'better');
    expect(await since()).toEqual(commits(1, 0));
  });

  test('the first commit counts', async () => {
    const folder = await tempFolder();
    const git = gitIn(folder);
    git('init');
    const { mark, since } = watch(folder);
    expect(await mark()).toBeNull();
    expect(await since()).toEqual(NOTHING);
    await put(folder, { 'a.txt': 'a', 'b.txt': 'b' });
    expect(await since()).toEqual(files(2));
    await put(folder, { 'b.txt': 'c', 'c.txt': 'c' });
    git('add', '--all');
    git('commit', '-m', 'first');
    git('commit', '--allow-empty', '-m', 'second');
    expect(await since()).toEqual(commits(2, 2));
    expect(await mark()).toBe(git('rev-parse', 'HEAD'));
  });

  test('a commit on another branch counts, though HEAD is back where it was', async () => {
    const { since, git } = await stage();
    git('checkout', '-b', 'other');
    git('commit', '--allow-empty', '-m', 'second');
    git('checkout', 'main');
    expect(await since()).toEqual(commits(1, 0));
  });

  test('a commit without a branch counts', async () => {
    const { since, git } = await stage();
    git('checkout', '--detach');
    git('commit', '--allow-empty', '-m', 'second');
    expect(await since()).toEqual(commits(1, 0));
  });

  test('a commit in a SHA-256 repository counts', async () => {
    const folder = await tempFolder();
    const git = gitIn(folder);
    git('init', '--object-format=sha256');
    const { mark, since } = watch(folder);
    await mark();
    await put(folder, { 'a.txt': 'a' });
    git('add', '--all');
    git('commit', '-m', 'first');
    expect(await since()).toEqual(commits(1, 1));
  });
});

describe('no new commit', () => {
  test('switching the branch and back is no new commit', async () => {
    const { since, mark, git, folder } = await stage();
    git('checkout', '-b', 'other');
    await put(folder, { 'a.txt': 'other' });
    git('commit', '-am', 'other');
    git('tag', 'v1');
    await mark();
    for (const place of ['main', 'other', '--detach', 'main', 'v1']) {
      git('checkout', place);
      expect(await since()).toEqual(NOTHING);
    }
  });

  test('going back and forth in the history is no new commit', async () => {
    const { since, mark, git } = await stage();
    git('commit', '--allow-empty', '-m', 'second');
    const second = git('rev-parse', 'HEAD');
    await mark();
    git('reset', '--hard', 'HEAD~1');
    expect(await since()).toEqual(NOTHING);
    git('reset', '--hard', second);
    expect(await since()).toEqual(NOTHING);
  });

  test('a commit from before the mark is no new one', async () => {
    const { since, mark, git, folder } = await stage();
    // What `--after` does.
    await put(folder, { 'a.txt': 'formatted', 'log.txt': 'l' });
    git('commit', '-am', 'by --after');
    expect(await mark()).toBe(git('rev-parse', 'HEAD'));
    expect(await since()).toEqual(NOTHING);
  });

  test('is one of a loop in another work tree of the repository', async () => {
    const { since, git, folder } = await stage();
    const elsewhere = join(await tempFolder(), 'elsewhere');
    git('worktree', 'add', '-b', 'theirs', elsewhere);
    gitIn(elsewhere)('commit', '--allow-empty', '-m', 'theirs');
    expect(await since()).toEqual(NOTHING);
    // One that lies inside is the agent's own, and shows as a new folder too.
    git('worktree', 'add', '-b', 'mine', join(folder, 'inside'));
    expect(await since()).toEqual(files(1));
    gitIn(join(folder, 'inside'))('commit', '--allow-empty', '-m', 'mine');
    expect(await since()).toEqual(commits(1, 1));
  });

  test('is one that is fetched, until it is merged', async () => {
    const { since, git, folder } = await stage();
    const clone = join(await tempFolder(), 'clone');
    git('clone', folder, clone);
    const other = watch(clone);
    await other.mark();
    git('commit', '--allow-empty', '-m', 'upstream');
    await since();
    gitIn(clone)('fetch');
    expect(await other.since()).toEqual(NOTHING);
  });
});

describe('folders that are left out', () => {
  test('count for nothing: old, new, with signs in their names, linked or outside', async () => {
    const folder = await tempFolder();
    const outside = await tempFolder();
    const git = gitIn(folder);
    git('init');
    await put(folder, { 'vault/Done/a.md': 'a', 'vault/work.md': 'w', 'real/b.md': 'b' });
    git('add', '--all');
    git('commit', '-m', 'first');
    await symlink(join(folder, 'real'), join(folder, 'link'));
    const names = ['vault/Done', 'vault/.ralph_state', '*x*', 'link'];
    const excluded = [...names.map(inside(folder)), outside, folder];
    const { mark, since } = watch(join(folder, 'vault'), { excluded });
    await mark();
    await put(folder, {
      'vault/Done/a.md': 'changed',
      'vault/Done/new.md': 'n',
      'vault/.ralph_state/state.json': '{}',
      '*x*/a': 'a',
      'real/b.md': 'changed',
    });
    expect(await since()).toEqual(NOTHING);
    git('add', '--all', 'vault');
    git('commit', '-m', 'second');
    expect(await since()).toEqual(commits(1, 0));
    await put(folder, { 'vault/work.md': 'changed', 'vault/Done2/a.md': 'a', 'xx/a': 'a' });
    expect(await since()).toEqual(files(3));
  });
});

describe('a repository inside the tree', () => {
  test('counts as one file by its commits, and by its own files', async () => {
    const { since, folder } = await stage();
    const nested = join(folder, 'nested');
    await put(nested, { 'a.txt': 'a' });
    const git = gitIn(nested);
    git('init');
    expect(await since()).toEqual(files(1));
    expect(await since()).toEqual(NOTHING);
    git('add', '--all');
    expect(await since()).toEqual(NOTHING);
    git('commit', '-m', 'first');
    expect(await since()).toEqual(files(1));
    expect(await since()).toEqual(NOTHING);
    await put(nested, { 'a.txt': 'b', 'b.txt': 'b' });
    expect(await since()).toEqual(files(2));
    // It writes the index again.
    git('status');
    expect(await since()).toEqual(NOTHING);
  });

  test('counts though the root ignores it, and not if it changed before the mark', async () => {
    const { since, mark, at } = await stage({ '.gitignore': 'vendor\n' });
    gitIn(at('.'))('init', 'vendor/lib');
    expect(await since()).toEqual(files(1));
    await put(at('vendor/lib'), { 'a.txt': 'a' });
    await mark();
    expect(await since()).toEqual(NOTHING);
    await put(at('vendor/lib'), { 'a.txt': 'b' });
    expect(await since()).toEqual(files(1));
  });

  test('counts likewise as a submodule', async () => {
    const { since, git, folder } = await stage();
    const origin = await tempFolder();
    gitIn(origin)('init');
    gitIn(origin)('commit', '--allow-empty', '-m', 'first');
    git('-c', 'protocol.file.allow=always', 'submodule', 'add', origin, 'module');
    git('commit', '-m', 'a module');
    expect(await since()).toEqual(commits(1, 2));
    for (const name of ['one', 'two']) {
      gitIn(join(folder, 'module'))('commit', '--allow-empty', '-m', name);
      expect(await since()).toEqual(files(1));
    }
    expect(await since()).toEqual(NOTHING);
  });
});

describe('a place', () => {
  test('that is a linked work tree is one', async () => {
    const { git } = await stage();
    const linked = join(await tempFolder(), 'linked');
    git('worktree', 'add', '-b', 'linked', linked);
    const { mark, since } = watch(linked);
    await mark();
    await put(linked, { 'new.txt': 'n' });
    expect(await since()).toEqual(files(1));
    gitIn(linked)('commit', '--allow-empty', '-m', 'here');
    expect(await since()).toEqual(commits(1, 0));
  });

  test('that is reached by a link is one', async () => {
    const { folder } = await stage({ 'sub/a.txt': 'a' });
    const link = join(await tempFolder(), 'link');
    await symlink(join(folder, 'sub'), link);
    await symlink('/', join(folder, 'sub/Done'));
    const { mark, since } = watch(link, { excluded: [join(link, 'Done')] });
    await mark();
    await rm(join(folder, 'sub/Done'));
    await put(folder, { 'sub/a.txt': 'b' });
    expect(await since()).toEqual(files(1));
  });

  test('whose index is held by the agent is looked at all the same', async () => {
    const { since, folder } = await stage();
    await put(folder, { '.git/index.lock': '', 'new.txt': 'n' });
    expect(await since()).toEqual(files(1));
    expect(existsSync(join(folder, '.git/index.lock'))).toBe(true);
  });

  test('with settings of its own is read alike', async () => {
    const { since, mark, git, folder } = await stage({ 'sub/a.txt': 'a' }, {}, { within: 'sub' });
    const trace = join(await tempFolder(), 'started');
    await put(folder, { 'watcher.sh': `#!/bin/sh\necho started >> ${trace}\n` });
    await chmod(join(folder, 'watcher.sh'), 0o755);
    for (const [name, value] of [
      ['status.showUntrackedFiles', 'no'],
      ['status.relativePaths', 'true'],
      ['status.showStash', 'true'],
      ['status.renames', 'copies'],
      ['diff.relative', 'true'],
      ['core.fsmonitor', join(folder, 'watcher.sh')],
    ] as const) {
      git('config', name, value);
    }
    await mark();
    await put(folder, { 'sub/a.txt': 'b', 'sub/new.txt': 'n' });
    expect(await since()).toEqual(files(2));
    expect(existsSync(trace)).toBe(false);
  });

  test('is not taken from variables that a hook has', async () => {
    const other = await stage({ 'x.txt': 'x' });
    const env = {
      ...ENV,
      GIT_DIR: join(other.folder, '.git'),
      GIT_WORK_TREE: other.folder,
      GIT_INDEX_FILE: join(other.folder, '.git/index'),
      GIT_LITERAL_PATHSPECS: '1',
    };
    const here = await stage({ 'a.txt': 'a' }, {});
    const { mark, since } = watch(here.folder, { env, excluded: [here.at('Done')] });
    expect(await mark()).toBe(here.base);
    await put(here.folder, { 'Done/a.md': 'a', 'new.txt': 'n' });
    expect(await since()).toEqual(files(1));
  });

  test('that becomes a repository, and ceases to be one', async () => {
    const folder = await tempFolder();
    const { mark, since } = watch(folder);
    expect(await mark()).toBeNull();
    expect(await since()).toBeNull();
    gitIn(folder)('init');
    expect(await since()).toBeNull();
    await put(folder, { 'a.txt': 'a' });
    expect(await since()).toEqual(files(1));
    await rm(join(folder, '.git'), { recursive: true });
    expect(await since()).toBeNull();
  });
});

test('follows a repository that is made nearer by', async () => {
  const { since, folder } = await stage({ 'a.txt': 'a', 'sub/b.txt': 'b' }, {}, { within: 'sub' });
  gitIn(join(folder, 'sub'))('init');
  expect(await since()).toBeNull();
  await put(folder, { 'a.txt': 'not in it', 'sub/c.txt': 'c' });
  expect(await since()).toEqual(files(1));
});

describe('nothing can be told', () => {
  async function silent(folder: string, more: Partial<GitProgressRequest> = {}): Promise<void> {
    const { mark, since } = watch(folder, more);
    expect(await mark()).toBeNull();
    expect(await since()).toBeNull();
    expect(await since()).toBeNull();
  }

  test('outside of a work tree, and no process is started to find that out', async () => {
    const { folder, trace, env } = await fakeGit('exit 1');
    await silent(folder, { env });
    expect(existsSync(trace)).toBe(false);
  });

  test('in a bare repository and inside .git', async () => {
    const bare = await tempFolder();
    gitIn(bare)('init', '--bare');
    await silent(bare);
    const { folder } = await stage();
    await silent(join(folder, '.git'));
  });

  test('where the folder is gone', async () => {
    await silent(join(await tempFolder(), 'gone'));
  });

  test('where git is missing or fails', async () => {
    const { folder } = await stage();
    await silent(folder, { env: { PATH: '/dev/null/none' } });
    const { env } = await fakeGit('echo nonsense; exit 128');
    await silent(folder, { env });
  });

  test('in a repository of another user', async () => {
    const { folder } = await stage();
    const { env } = await fakeGit(
      'export PATH="$REAL_PATH" GIT_TEST_ASSUME_DIFFERENT_OWNER=1; exec git "$@"',
    );
    await silent(folder, { env });
  });

  test('where its files are broken', async () => {
    const { folder } = await stage();
    await put(folder, { '.git/index': 'no index' });
    await silent(folder);
  });

  test('where it takes too long, and after two such looks no more are taken', async () => {
    // A script whose child holds the pipe: ending the script alone would not be enough.
    const { env, trace, started } = await fakeGit('sleep 600 & echo $! >> "$PIDS"; wait');
    const { folder } = await stage();
    holdTime();
    const { mark, since } = watch(folder, { env });
    for (const [index, look] of [mark, since].entries()) {
      const looking: Promise<unknown> = look();
      await until(
        () => started().length > index,
        () => 'what git has started',
      );
      expect(await passTimeThrough<unknown>(looking)).toBeNull();
    }
    for (const pid of started()) await untilDead(pid);
    const asked = await readFile(trace, 'utf8');
    expect(await since()).toBeNull();
    expect(await readFile(trace, 'utf8')).toBe(asked);
  });

  test('as soon as it is called off', async () => {
    const { env, started } = await fakeGit('sleep 60 & echo $! >> "$PIDS"; wait');
    const { folder } = await stage();
    const calledOff = new AbortController();
    const looking = watch(folder, { env, signal: calledOff.signal }).mark();
    await until(
      () => started().length > 0,
      () => 'what git has started',
    );
    calledOff.abort();
    expect(await looking).toBeNull();
    for (const pid of started()) await untilDead(pid);
    await silent(folder, { signal: calledOff.signal });
  });
});

test('keeps the mark where a look fails, so that nothing is lost', async () => {
  const { since, folder, at } = await stage();
  await put(folder, { 'new.txt': 'n' });
  await rename(at('.git/HEAD'), at('.git/HEAD.away'));
  expect(await since()).toBeNull();
  await rename(at('.git/HEAD.away'), at('.git/HEAD'));
  expect(await since()).toEqual(files(1));
});

test('forgets the mark where the next one fails, so that nobody else is counted', async () => {
  const { since, mark, folder, at } = await stage();
  await put(folder, { 'by-after.txt': 'n' });
  await rename(at('.git/HEAD'), at('.git/HEAD.away'));
  expect(await mark()).toBeNull();
  await rename(at('.git/HEAD.away'), at('.git/HEAD'));
  expect(await since()).toBeNull();
  expect(await since()).toEqual(NOTHING);
});

/** A program in place of git that leaves a trace of being started. */
async function fakeGit(script: string) {
  const folder = await tempFolder();
  const trace = join(folder, 'trace');
  const pids = join(folder, 'pids');
  await put(folder, { 'bin/git': `#!/bin/sh\necho "$@" >> "${trace}"\n${script}\n` });
  await chmod(join(folder, 'bin/git'), 0o755);
  const started = (): readonly number[] =>
    existsSync(pids) ? readFileSync(pids, 'utf8').split('\n').filter(Boolean).map(Number) : [];
  onTestFinished(() => {
    for (const pid of started()) if (!isDead(pid)) process.kill(pid, 'SIGKILL');
  });
  const PATH = `${folder}/bin:${ENV.PATH}`;
  return { folder, trace, started, env: { ...ENV, PATH, REAL_PATH: ENV.PATH, PIDS: pids } };
}
