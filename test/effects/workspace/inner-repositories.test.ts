import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createInnerRepositories } from '../../../src/effects/workspace/inner-repositories.ts';
import { GIT_ENV, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Makes a repository with one commit of `a.txt` in a folder that may not exist. */
function makeInner(folder: string, ...flags: readonly string[]) {
  put(folder, { 'a.txt': 'a\n' });
  const git = gitIn(folder);
  git('init', '-q', ...flags);
  git('add', '--all');
  git('commit', '-q', '-m', 'first');
  return git;
}

/** A git that counts its starts, and goes on with these lines of shell. */
async function fakeGit(script = 'PATH="$REAL_PATH" exec git "$@"') {
  const folder = await tempFolder();
  const calls = join(folder, 'calls');
  put(folder, { git: `#!/bin/sh\necho call >> '${calls}'\n${script}\n` });
  chmodSync(join(folder, 'git'), 0o755);
  return {
    env: { ...GIT_ENV, PATH: `${folder}:${GIT_ENV.PATH}`, REAL_PATH: GIT_ENV.PATH },
    count: () => (existsSync(calls) ? readFileSync(calls, 'utf8').split('call').length - 1 : 0),
  };
}

/** What a look finds below a folder; marked once this is called. */
async function watch(
  root: string,
  more: Partial<Parameters<typeof createInnerRepositories>[0]> = {},
) {
  const inner = createInnerRepositories({ excluded: [], env: GIT_ENV, ...more });
  await inner.mark(root);
  return {
    mark: () => inner.mark(root),
    since: async () => [...(await inner.since(root)).changed].sort(),
  };
}

/** Four kinds of a repository inside the tree; each resolves to its name. */
const KINDS: readonly (readonly [string, (root: string) => Promise<string>])[] = [
  [
    'a submodule',
    async (root) => {
      const { folder: origin } = await makeRepository();
      gitIn(root)('-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', origin, 'lib');
      gitIn(root)('commit', '-q', '-m', 'lib');
      return 'lib';
    },
  ],
  [
    'a submodule of a submodule',
    async (root) => {
      const [{ folder: lib }, { folder: deep }] = [await makeRepository(), await makeRepository()];
      const allowed = ['-c', 'protocol.file.allow=always', 'submodule', '-q'];
      gitIn(lib)(...allowed, 'add', deep, 'deep');
      gitIn(lib)('commit', '-q', '-m', 'deep');
      gitIn(root)(...allowed, 'add', lib, 'lib');
      gitIn(root)(...allowed, 'update', '--init', '--recursive');
      gitIn(root)('commit', '-q', '-m', 'lib');
      return 'lib/deep';
    },
  ],
  [
    'one that git shows',
    async (root) => {
      makeInner(join(root, 'shown'));
      return 'shown';
    },
  ],
  [
    'one that git ignores',
    async (root) => {
      put(root, { '.git/info/exclude': 'vendor\n' });
      makeInner(join(root, 'vendor/some/where'));
      return 'vendor/some/where';
    },
  ],
  [
    'a linked work tree of another repository',
    async (root) => {
      const git = makeInner(await tempFolder());
      git('worktree', 'add', '-q', join(root, 'linked'));
      return 'linked';
    },
  ],
];

describe.each(KINDS)('%s', (_, make) => {
  test('counts by its HEAD and its files, and not by what is as it was', async () => {
    const { folder: root } = await makeRepository();
    const name = await make(root);
    const at = join(root, name);
    put(at, { 'old.txt': 'dirty before' });
    const { since } = await watch(root);
    expect(await since()).toEqual([]);
    for (const text of ['b', 'c']) {
      put(at, { 'a.txt': text });
      expect(await since()).toEqual([`${name}/a.txt`]);
      expect(await since()).toEqual([]);
    }
    put(at, { 'new.txt': 'n' });
    expect(await since()).toEqual([`${name}/new.txt`]);
    const git = gitIn(at);
    git('add', '--all');
    expect(await since()).toEqual([]);
    git('commit', '-q', '-m', 'second');
    expect(await since()).toContain(name);
    put(at, { '.gitignore': '*.log' });
    expect(await since()).toEqual([`${name}/.gitignore`]);
    put(at, { 'a.log': 'l' });
    expect(await since()).toEqual([]);
  });
});

describe('the repositories inside', () => {
  test('count when they come and go', async () => {
    const { folder: root } = await makeRepository();
    const { since } = await watch(root);
    makeInner(join(root, 'x/inner'));
    expect(await since()).toEqual(['x/inner']);
    expect(await since()).toEqual([]);
    rmSync(join(root, 'x'), { recursive: true });
    expect(await since()).toEqual(['x/inner']);
    expect(await since()).toEqual([]);
  });

  test('are none in what is left out or installed, nor the work tree of another task', async () => {
    const { folder: root, git } = await makeRepository();
    makeInner(join(root, 'vault/inner'));
    makeInner(join(root, 'node_modules/fork'));
    makeInner(join(root, 'outer'));
    for (const name of ['theirs', 'mine']) git('worktree', 'add', '-q', join(root, name));
    put(root, { '.git/worktrees/theirs/ralph/task': 'x\n', 'outer/vault/note': 'a' });
    const excluded = [join(root, 'vault'), join(root, 'outer/vault')];
    const { since } = await watch(root, { excluded });
    const changed = ['vault/inner', 'node_modules/fork', 'outer', 'outer/vault', 'theirs', 'mine'];
    for (const name of changed) put(join(root, name), { 'a.txt': 'b' });
    expect(await since()).toEqual(['mine/a.txt', 'outer/a.txt']);
  });

  test('that are broken are no sign, and lead to no other repository', async () => {
    const { folder: root } = await makeRepository();
    const names = ['no-head', 'bad-head', 'lost-link', 'bad-index'];
    for (const name of names) makeInner(join(root, name));
    rmSync(join(root, 'no-head/.git/HEAD'));
    put(root, { 'bad-head/.git/HEAD': 'x', 'bad-index/.git/index': 'x' });
    rmSync(join(root, 'lost-link/.git'), { recursive: true });
    put(root, { 'lost-link/.git': 'gitdir: ../nowhere\n' });
    const { since } = await watch(root);
    for (const name of names) put(join(root, name), { 'a.txt': 'b' });
    expect(await since()).toEqual([]);
  });

  test('lose no change while git cannot read them', async () => {
    const { folder: root } = await makeRepository();
    makeInner(join(root, 'one'));
    makeInner(join(root, 'two'));
    const [head, index] = [join(root, 'one/.git/HEAD'), join(root, 'two/.git/index')];
    const { since } = await watch(root);
    for (const file of [head, index]) renameSync(file, `${file}.away`);
    put(root, { 'one/a.txt': 'b', 'two/.git/index': 'x', 'two/a.txt': 'b' });
    expect(await since()).toEqual([]);
    for (const file of [head, index]) renameSync(`${file}.away`, file);
    expect(await since()).toEqual(['one/a.txt', 'two/a.txt']);
  });

  test('cost one process each, none where there are none, and none beyond fifty', async () => {
    const { folder: root } = await makeRepository();
    const { env, count } = await fakeGit();
    const { since } = await watch(root, { env });
    expect(count()).toBe(0);
    makeInner(join(root, 'many/0'));
    await since();
    expect(count()).toBe(1);
    const template = join(root, 'many/0');
    for (let number = 1; number < 60; number += 1) {
      gitIn(root)('clone', '-q', '--shared', template, `many/${number}`);
    }
    const known = count();
    expect(await since()).toHaveLength(59);
    expect(count() - known).toBe(50);
    put(root, { 'many/0/a.txt': 'b' });
    expect(await since()).toEqual(['many/0/a.txt']);
    expect(await since()).toEqual([]);
  });

  test('are asked no more once that takes too long', async () => {
    const { folder: root } = await makeRepository();
    makeInner(join(root, 'inner'));
    const { env, count } = await fakeGit('exec sleep 60');
    const { since } = await watch(root, { env, timeoutMs: 2_000 });
    expect([await since(), count()]).toEqual([[], 1]);
  });
});

test('no program of a repository inside runs, and no setting leads out of it', async () => {
  const { folder: root } = await makeRepository();
  const [signs, elsewhere] = [await tempFolder(), await tempFolder()];
  const program = join(signs, 'program.sh');
  put(signs, { 'program.sh': `#!/bin/sh\necho ran >> '${signs}/ran'\ncat\n` });
  chmodSync(program, 0o755);
  const { folder: origin } = await makeRepository({ '.gitattributes': '* filter=evil\n' });
  gitIn(root)('-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', origin, 'module');
  makeInner(join(root, 'deep/inner'));
  mkdirSync(join(root, 'hooks'));
  put(root, { 'hooks/post-index-change': `#!/bin/sh\n${program}\n` });
  chmodSync(join(root, 'hooks/post-index-change'), 0o755);
  const evil = ['module', 'deep/inner'].map((name) => gitIn(join(root, name)));
  for (const git of evil) {
    for (const name of ['clean', 'process']) git('config', `filter.evil.${name}`, program);
    git('config', 'filter.evil.required', 'true');
    git('config', 'core.fsmonitor', program);
    git('config', 'core.hooksPath', join(root, 'hooks'));
  }
  put(root, { 'deep/inner/.gitattributes': '* filter=evil\n', 'module/a': 'b' });
  // The scene is what it claims to be.
  for (const git of evil) expect(() => git('add', '--all')).toThrow();
  expect(existsSync(join(signs, 'ran'))).toBe(true);
  rmSync(join(signs, 'ran'));
  makeInner(join(root, 'away'));
  put(elsewhere, { 'a.txt': 'a\n' });
  gitIn(join(root, 'away'))('config', 'core.worktree', elsewhere);
  const { since } = await watch(root);
  put(root, { 'deep/inner/a.txt': 'b', 'module/a': 'c' });
  put(elsewhere, { 'a.txt': 'b' });
  expect(await since()).toEqual(['deep/inner/a.txt', 'module/a']);
  expect(existsSync(join(signs, 'ran'))).toBe(false);
});
