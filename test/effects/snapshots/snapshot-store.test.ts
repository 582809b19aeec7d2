import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { askGit } from '../../../src/effects/git/call/git.ts';
import {
  bytesBelow,
  type Files,
  GIT_ENV,
  gitIn,
  makeRepository,
  put,
} from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function stage(files?: Files) {
  const { folder, git } = await makeRepository(files);
  const { take } = await snapshotsOf(folder);
  const tree = (ref: string): string[] => git('ls-tree', '-r', '--name-only', ref).split('\n');
  return { folder, git, take, tree };
}

describe('what a snapshot holds', () => {
  test('tracked and untracked files are in it, ignored ones are not', async () => {
    const { folder, git, take, tree } = await stage({ 'a.txt': 'a', '.gitignore': '*.log\n' });
    put(folder, { 'b/new.txt': 'new', 'x.log': 'ignored', 'a.txt': 'changed' });
    expect(await take('0')).toMatchObject({ name: '0' });
    expect(tree('refs/ralph/t/0')).toEqual(['.gitignore', 'a.txt', 'b/new.txt']);
    expect(git('show', 'refs/ralph/t/0:a.txt')).toBe('changed');
  });

  test('every byte is kept, whatever the attributes say', async () => {
    const attributes = [
      '* text=auto',
      '*.utf16 working-tree-encoding=UTF-16LE',
      '*.id ident',
      '*.lfs filter=lfs',
    ];
    const { folder, git, take } = await stage({ '.gitattributes': `${attributes.join('\n')}\n` });
    const files = {
      'crlf.txt': 'a\r\nb\r\n',
      'x.utf16': 'a\0b\0',
      'x.id': '$Id: something $\n',
      'x.lfs': 'large',
    };
    put(folder, files);
    await take('0');
    for (const [name, content] of Object.entries(files)) {
      const length = git('cat-file', '-s', `refs/ralph/t/0:${name}`);
      expect(Number(length), name).toBe(content.length);
    }
  });

  test('the executable bit, links, empty files and names that are not UTF-8 are kept', async () => {
    const { folder, git, take } = await stage();
    put(folder, { 'run.sh': '#!/bin/sh\n', empty: '' });
    chmodSync(join(folder, 'run.sh'), 0o755);
    symlinkSync('nowhere', join(folder, 'link'));
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]), 'x');
    await take('0');
    const listed = git('ls-tree', '-r', 'refs/ralph/t/0');
    expect(listed).toMatch(/^100755 blob \S+\trun\.sh$/m);
    expect(listed).toMatch(/^120000 blob \S+\tlink$/m);
    expect(listed).toMatch(/^100644 blob \S+\tempty$/m);
    expect(listed).toContain('"\\377\\376"');
  });

  test('files that flags of the index hide are kept as they are in the tree', async () => {
    const { folder, git, take } = await stage({ assumed: 'old', skipped: 'old' });
    git('update-index', '--assume-unchanged', 'assumed');
    git('update-index', '--skip-worktree', 'skipped');
    put(folder, { assumed: 'new', skipped: 'new', intended: 'new' });
    git('add', '-N', 'intended');
    await take('0');
    for (const name of ['assumed', 'skipped', 'intended']) {
      expect(git('show', `refs/ralph/t/0:${name}`), name).toBe('new');
    }
  });

  test.each(['check', '[c]heck', 'prüfung'])(
    '%s: written again in the same second, with its old time back, has changed',
    async (name) => {
      const { folder, git, take } = await stage({ [name]: 'test -s out' });
      const write = (text: string): void => {
        put(folder, { [name]: text, [`beside ${text}`]: '' });
        utimesSync(join(folder, name), 1_000_000_000, 1_000_000_000);
      };
      write('test -s out');
      await take('0');
      write('test -s out');
      // Ralph's index then learns the times of all files.
      git('add', '--all');
      await take('1');
      write('true || out');
      await take('2');
      expect(git('show', `refs/ralph/t/1:${name}`)).toBe('test -s out');
      expect(git('show', `refs/ralph/t/2:${name}`)).toBe('true || out');
      write('test -s new');
      await take('3');
      write('true || new');
      await take('4');
      expect(git('show', `refs/ralph/t/4:${name}`)).toBe('true || new');
    },
  );

  test.each(['trustctime = false', 'checkStat = minimal', 'ignoreStat = true'])(
    'no setting of the user hides a change: %s',
    async (setting) => {
      const { folder, git } = await stage({ check: 'test -s out' });
      const global = join(await tempFolder(), 'gitconfig');
      writeFileSync(global, `[core]\n\t${setting}\n`);
      const { take } = await snapshotsOf(folder, {}, { ...GIT_ENV, GIT_CONFIG_GLOBAL: global });
      const age = (): void => utimesSync(join(folder, 'check'), 1_000_000_000, 1_000_000_000);
      age();
      await take('0');
      // Git looks at whole seconds.
      await setTimeout(2_100);
      await take('0');
      put(folder, { check: 'true || out' });
      age();
      await take('1');
      expect(git('show', 'refs/ralph/t/1:check')).toBe('true || out');
    },
  );

  test.runIf(process.platform === 'linux')(
    'no setting of the user changes what is kept: fileMode, symlinks, ignoreCase',
    async () => {
      const { folder, git } = await makeRepository({ README: 'a' });
      symlinkSync('README', join(folder, 'link'));
      git('add', 'link');
      rmSync(join(folder, 'link'));
      const global = join(await tempFolder(), 'gitconfig');
      writeFileSync(
        global,
        '[core]\n\tfileMode = false\n\tsymlinks = false\n\tignoreCase = true\n',
      );
      const env = { ...GIT_ENV, GIT_CONFIG_GLOBAL: global };
      const { take } = await snapshotsOf(folder, {}, env);
      put(folder, { link: 'README', readme: 'b', 'run.sh': '#!/bin/sh\n' });
      chmodSync(join(folder, 'run.sh'), 0o755);
      await take('0');
      const modes = git('ls-tree', '-r', '--format=%(objectmode) %(path)', 'refs/ralph/t/0');
      const files = ['100644 README', '100644 link', '100644 readme', '100755 run.sh'];
      expect(modes.split('\n')).toEqual(files);
    },
  );

  test.runIf(process.platform === 'linux')(
    'a group that shares the repository can write beside the objects of a snapshot',
    async () => {
      const folder = await tempFolder();
      gitIn(folder)('init', '-q', '--shared=group');
      const { take } = await snapshotsOf(folder);
      put(folder, Object.fromEntries(['b', 'c', 'd', 'e'].map((name) => [name, name])));
      await take('0');
      const objects = join(folder, '.git/objects');
      const modes = readdirSync(objects).map((name) => statSync(join(objects, name)).mode & 0o020);
      expect(modes).not.toContain(0);
    },
  );

  test('what a sparse checkout leaves out stays as the index has it', async () => {
    const { folder, git, take, tree } = await stage({ 'in/a': 'a', 'out/b': 'b' });
    git('sparse-checkout', 'set', 'in');
    put(folder, { 'in/a': 'changed' });
    await take('0');
    expect(tree('refs/ralph/t/0')).toEqual(['in/a', 'out/b']);
  });

  test('what an agent calls left out by a sparse checkout is gone', async () => {
    const { folder, git, take, tree } = await stage({ 'in/a': 'a', 'in/c': 'c', 'out/b': 'b' });
    git('sparse-checkout', 'set', 'in');
    await take('0');
    git('update-index', '--skip-worktree', 'in/c');
    rmSync(join(folder, 'in/c'));
    await take('1');
    expect(tree('refs/ralph/t/1')).toEqual(['in/a', 'out/b']);
  });

  test('a file once kept stays kept if the agent then ignores it', async () => {
    const { folder, take, tree } = await stage();
    put(folder, { new: 'new' });
    await take('0');
    put(folder, { '.gitignore': 'new\n', new: 'newer' });
    await take('1');
    expect(tree('refs/ralph/t/1')).toContain('new');
  });

  test('a file that became a folder, and a folder that became a file, are kept as they are', async () => {
    const { folder, take, tree } = await stage({ file: 'x', 'folder/a': 'a' });
    await take('0');
    rmSync(join(folder, 'file'));
    rmSync(join(folder, 'folder'), { recursive: true });
    put(folder, { 'file/inside': 'x', folder: 'now a file' });
    const { changed, leftOut } = await take('1');
    expect(tree('refs/ralph/t/1')).toEqual(['file/inside', 'folder']);
    expect([...leftOut]).toEqual([]);
    expect([...changed].sort()).toEqual(['file', 'file/inside', 'folder', 'folder/a']);
  });

  test('a folder that became a link is kept as a link, and nothing counts as unreadable', async () => {
    const { folder } = await makeRepository({ 'folder/x': 'x', 'other/x': 'x' });
    const { take, store, own } = await snapshotsOf(folder);
    await take('0');
    rmSync(join(folder, 'folder'), { recursive: true });
    symlinkSync('nowhere', join(folder, 'folder'));
    const { leftOut, changed } = await take('1');
    expect([...leftOut]).toEqual([]);
    expect(changed.toSorted()).toEqual(['folder', 'folder/x']);
    const { output } = await askGit(own.own, [
      'ls-tree',
      '-r',
      '--name-only',
      store.newest?.tree ?? '',
    ]);
    expect(output).toBe('folder\nother/x\n');
  });

  test('what is excluded later is in none from then on, with no old content either', async () => {
    const { folder, git } = await makeRepository();
    put(folder, { data: 'old', 'kept.txt': 'k' });
    const { own, store, take } = await snapshotsOf(folder);
    await take('0');
    const pathspecs = ['--', ':(top,exclude,glob)data'];
    const later = await snapshotsOf(
      folder,
      { newest: store.newest, pathspecs },
      GIT_ENV,
      own.folder,
    );
    await later.take('1');
    expect(git('ls-tree', '--name-only', 'refs/ralph/t/1').split('\n')).toEqual([
      'a.txt',
      'kept.txt',
    ]);
    expect(await later.take('2')).toMatchObject({ isAsNewest: true });
  });

  test('the parents are HEAD and the index', async () => {
    const { folder, git, take } = await stage();
    put(folder, { staged: 'staged' });
    git('add', 'staged');
    put(folder, { staged: 'staged and changed' });
    await take('0');
    expect(git('rev-parse', 'refs/ralph/t/0^1')).toBe(git('rev-parse', 'HEAD'));
    expect(git('show', 'refs/ralph/t/0^2:staged')).toBe('staged');
    expect(git('show', 'refs/ralph/t/0:staged')).toBe('staged and changed');
  });

  test('before the first commit there is a snapshot, too', async () => {
    const folder = await tempFolder();
    gitIn(folder)('init', '-q');
    put(folder, { a: 'a' });
    const { take } = await snapshotsOf(folder);
    expect(await take('0')).toMatchObject({ isAsNewest: false });
  });

  test.for(['config', 'HEAD', 'refs/heads/main'])(
    'a HEAD that git cannot read is not the time before the first commit: %s',
    async (file) => {
      const { folder, git, take } = await stage();
      await take('0');
      git('commit', '-q', '--allow-empty', '-m', 'second');
      writeFileSync(join(folder, '.git', file), '[\n');
      await expect(take('1')).rejects.toThrow(/^git cannot read HEAD: \S/);
    },
  );

  test('a commit whose object is lost is not, either', async () => {
    const { folder, git, take } = await stage();
    git('commit', '-q', '--allow-empty', '-m', 'second');
    const id = git('rev-parse', 'HEAD');
    rmSync(join(folder, '.git', 'objects', id.slice(0, 2), id.slice(2)), { force: true });
    await expect(take('0')).rejects.toThrow(id);
  });
});

describe('what a snapshot costs the repository', () => {
  test('index, HEAD, stash, reflog and configuration keep every byte', async () => {
    const { folder, git, take } = await stage();
    put(folder, { staged: 's', 'a.txt': 'changed', new: 'n' });
    git('add', 'staged');
    const before = bytesBelow(join(folder, '.git'));
    const status = git('status', '--porcelain=v2');
    await take('0');
    put(folder, { new: 'other' });
    await take('1');
    const after = Object.entries(bytesBelow(join(folder, '.git'))).filter(
      ([name]) => !name.startsWith('objects/') && !name.startsWith('refs/ralph/'),
    );
    expect(Object.fromEntries(after)).toEqual(
      Object.fromEntries(Object.entries(before).filter(([name]) => !name.startsWith('objects/'))),
    );
    expect(git('status', '--porcelain=v2')).toBe(status);
    expect(git('fsck', '--strict')).toBe('');
  });

  test('no program of the repository runs', async () => {
    const { folder, git, take } = await stage({
      'a.txt': 'a',
      '.gitattributes': '* filter=evil\n',
    });
    const sign = join(await tempFolder(), 'ran');
    const program = join(folder, '.git', 'evil.sh');
    writeFileSync(program, `#!/bin/sh\necho ran >> '${sign}'\ncat\n`);
    chmodSync(program, 0o755);
    for (const name of [
      'core.fsmonitor',
      'filter.evil.clean',
      'filter.evil.smudge',
      'gpg.program',
    ]) {
      git('config', name, program);
    }
    git('config', 'commit.gpgSign', 'true');
    const hooks = join(folder, '.git', 'hooks');
    mkdirSync(hooks, { recursive: true });
    for (const hook of [
      'reference-transaction',
      'post-index-change',
      'pre-commit',
      'post-commit',
    ]) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\necho ${hook} >> '${sign}'\n`);
      chmodSync(join(hooks, hook), 0o755);
    }
    put(folder, { 'a.txt': 'changed', b: 'b' });
    expect(await take('0')).toMatchObject({ isAsNewest: false });
    expect(bytesBelow(join(sign, '..'))).toEqual({});
  });
});

describe('bad paths', () => {
  test('each costs only itself', async () => {
    const { folder, take, tree } = await stage();
    put(folder, { good: 'g', 'sub/.GIT': 'x', 'git~1': 'x', large: 'x'.repeat(2_000) });
    gitIn(folder)('init', '-q', 'empty-repository');
    const taken = await take('0');
    expect(tree('refs/ralph/t/0')).toEqual(['a.txt', 'git~1', 'good']);
    expect(Object.fromEntries(taken.leftOut)).toEqual({
      'sub/.GIT': 'unnameable',
      large: 'too-large',
      'empty-repository': 'empty-repository',
    });
  });
});

describe('names', () => {
  test('a ref that is there is never moved', async () => {
    const { folder, git, take } = await stage();
    await take('1');
    const first = git('rev-parse', 'refs/ralph/t/1');
    put(folder, { b: 'b' });
    expect(await take('1', '1.1')).toMatchObject({ name: '1.1' });
    expect(git('rev-parse', 'refs/ralph/t/1')).toBe(first);
  });

  test('one with a ref below it is taken, too', async () => {
    const { git, take } = await stage();
    git('update-ref', 'refs/ralph/t/1/x', 'HEAD');
    expect(await take('1', '1.1')).toMatchObject({ name: '1.1' });
  });

  test('where nothing differs, the newest one stands for it', async () => {
    const { take } = await stage();
    await take('0');
    expect(await take('1')).toMatchObject({
      isAsNewest: true,
      name: '0',
    });
  });

  test('a commit, or a staged file, is a difference', async () => {
    const { folder, git, take } = await stage();
    await take('0');
    put(folder, { b: 'b' });
    await take('1');
    git('add', 'b');
    expect(await take('2')).toMatchObject({ isAsNewest: false, changed: [] });
    git('commit', '-q', '-m', 'b');
    expect(await take('3')).toMatchObject({ isAsNewest: false, changed: [] });
  });

  test('a tree that was not kept yet is still a difference at the next look', async () => {
    const { folder } = await makeRepository({ a: 'old' });
    const { store, take } = await snapshotsOf(folder);
    await take('0');
    put(folder, { a: 'new' });
    const { tree } = await store.keepTree();
    expect(await store.keepTree()).toMatchObject({ tree, isAsNewest: false });
    await take('1');
    expect(await store.keepTree()).toMatchObject({ tree, isAsNewest: true });
  });

  test('the agent cannot hide a change in ralph’s own index', async () => {
    const { folder, git } = await makeRepository({ secret: 'old' });
    const store = await snapshotsOf(folder);
    await store.take('0');
    gitIn(folder)(
      `--git-dir=${store.own.folder}`,
      `--work-tree=${folder}`,
      'update-index',
      '--assume-unchanged',
      'secret',
    );
    writeFileSync(join(store.own.folder, 'config'), '[core]\n\tbare = true\n');
    put(folder, { secret: 'new' });
    await store.take('1');
    expect(git('show', 'refs/ralph/t/1:secret')).toBe('new');
  });

  test('a failure is told in words', async () => {
    const { folder, take } = await stage();
    renameSync(join(folder, '.git'), join(folder, 'git-is-away'));
    await expect(take('0')).rejects.toThrow(/\S/);
  });
});

describe('repositories of an odd kind', () => {
  test('a partial clone with a sparse checkout has snapshots, and stays sound', async () => {
    const { folder: origin, git: atOrigin } = await makeRepository({ 'in/a': 'a', 'out/b': 'b' });
    atOrigin('config', 'uploadpack.allowFilter', 'true');
    const folder = join(await tempFolder(), 'clone');
    gitIn(origin)('clone', '-q', '--no-local', '--filter=blob:none', '--sparse', origin, folder);
    const git = gitIn(folder);
    git('sparse-checkout', 'set', 'in');
    const { take } = await snapshotsOf(folder);
    put(folder, { 'in/a': 'changed', 'in/new': 'new' });
    expect(await take('0')).toMatchObject({ isAsNewest: false });
    expect(git('ls-tree', '-r', '--name-only', 'refs/ralph/t/0').split('\n')).toEqual([
      'in/a',
      'in/new',
      'out/b',
    ]);
    expect(git('fsck')).not.toMatch(/missing|error/);
    git('gc', '-q');
  });

  test('a shallow clone, and a merge that has conflicts, are no hindrance', async () => {
    const { folder: origin, git: atOrigin } = await makeRepository({ a: 'one\n', b: 'b' });
    atOrigin('checkout', '-q', '-b', 'other');
    put(origin, { a: 'two\n' });
    atOrigin('commit', '-q', '-a', '-m', 'two');
    atOrigin('checkout', '-q', 'main');
    put(origin, { a: 'three\n', '.gitignore': 'a\n' });
    atOrigin('add', '--all');
    atOrigin('commit', '-q', '-m', 'three');
    expect(() => atOrigin('merge', '-q', 'other')).toThrow();
    const { take } = await snapshotsOf(origin);
    await take('0');
    // It is ignored, but git tracks it.
    expect(atOrigin('show', 'refs/ralph/t/0:a')).toContain('<<<<<<<');
    expect(atOrigin('log', '-1', '--format=%P', 'refs/ralph/t/0').split(' ')).toHaveLength(1);
    const shallow = join(await tempFolder(), 'clone');
    gitIn(origin)('clone', '-q', '--depth', '1', `file://${origin}`, shallow);
    const clone = await snapshotsOf(shallow);
    put(shallow, { c: 'c' });
    await clone.take('0');
    expect(gitIn(shallow)('fsck')).not.toMatch(/missing|error/);
  });
});

test('a later process knows when nothing differs from the newest snapshot', async () => {
  const { folder, git } = await makeRepository();
  put(folder, { b: 'b' });
  const first = await snapshotsOf(folder);
  await first.take('0');
  const later = async () => {
    const { store } = await snapshotsOf(folder, { newest: first.store.newest });
    return (await store.keepTree()).isAsNewest;
  };
  expect(await later()).toBe(true);
  git('add', 'b');
  expect(await later()).toBe(false);
  git('reset', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'moved');
  expect(await later()).toBe(false);
});

test.for(['same', 'later'])(
  'a folder where the user’s index names a file is no bad path: %s process',
  async (which) => {
    const { folder, git } = await makeRepository({ swap: 'a file', other: 'x' });
    const first = await snapshotsOf(folder);
    rmSync(join(folder, 'swap'));
    put(folder, { 'swap/file': 'inside' });
    const taken = await first.take('0');
    expect([...taken.leftOut]).toEqual([]);
    put(folder, { 'swap/deep': 'deep' });
    git('add', 'other');
    const { newest } = first.store;
    const { take } = which === 'same' ? first : await snapshotsOf(folder, { newest });
    const again = await take('1');
    expect([...again.leftOut]).toEqual([]);
    expect(again.changed).toEqual(['swap/deep']);
    expect(git('ls-tree', '-r', '--name-only', 'refs/ralph/t/1').split('\n')).toEqual([
      'other',
      'swap/deep',
      'swap/file',
    ]);
  },
);

test('what is gone from the tree and still in the user’s index is no change at the next start', async () => {
  const { folder, git } = await makeRepository({ gone: 'x', other: 'x' });
  rmSync(join(folder, 'gone'));
  const first = await snapshotsOf(folder);
  await first.take('0');
  const later = await snapshotsOf(folder, { newest: first.store.newest });
  expect(await later.take('1')).toMatchObject({ changed: [], isAsNewest: true });
  put(folder, { other: 'y' });
  git('add', 'other');
  expect(await later.take('1')).toMatchObject({ changed: ['other'] });
});

test('packed refs and other branches are no reason for a new snapshot, a new commit is one', async () => {
  const { git, take } = await stage();
  await take('0');
  git('branch', 'other');
  git('pack-refs', '--all');
  expect(await take('1')).toMatchObject({ isAsNewest: true });
  git('commit', '-q', '--allow-empty', '-m', 'second');
  expect(await take('1')).toMatchObject({ isAsNewest: false });
});
