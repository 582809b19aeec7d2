import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimWorkTree } from '../../../src/effects/branches/work-tree-claim.ts';
import { thisDriver, thisPlace } from '../../../src/effects/lock/driver-identity.ts';
import { systemClock } from '../../../src/effects/time/clock.ts';
import { checkResult } from '../../helpers/checks.ts';
import { makeLanding } from '../../helpers/landings.ts';
import { bytesBelow, gitIn, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** What must be as before where a landing is refused. */
function lookAt(folder: string) {
  const git = gitIn(folder);
  const { '.git/index': _, ...files } = Object.fromEntries(
    Object.entries(bytesBelow(folder)).filter(([name]) => !name.startsWith('.git/')),
  );
  return {
    files,
    refs: git('for-each-ref'),
    head: git('symbolic-ref', 'HEAD'),
    index: git('ls-files', '-s'),
    status: git('status', '--porcelain'),
    trees: git('worktree', 'list', '--porcelain'),
  };
}

/** A commit beside `main`. */
function unrelated(git: ReturnType<typeof gitIn>): string {
  return git('commit-tree', '-p', 'main', '-m', 'beside', 'main^{tree}');
}

describe('what lands', () => {
  test('commits, and what was left uncommitted, as one commit of the user', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'committed\n' });
    task.git('commit', '-qam', 'one');
    put(task.folder, { 'b.txt': 'left\n', 'new/c.txt': 'new\n', '.gitignore': 'out\n', out: 'x' });
    const before = git('rev-parse', 'main');
    const { end, stays } = await landTask(task);
    expect({ end, stays: [...stays] }).toEqual({
      end: { kind: 'landed', commit: git('rev-parse', 'main'), files: 4 },
      stays: [],
    });
    expect(git('log', '-1', '--format=%P %an %ae %cn %s|%(trailers:key=Ralph-Task)')).toBe(
      `${before} Ada ada@example.com Ada Do t|Ralph-Task: t`,
    );
    expect(git('status', '--porcelain')).toBe('');
    expect(bytesBelow(join(folder, 'new'))).toEqual({ 'c.txt': 'new\n' });
    expect(git('ls-tree', '-r', '--name-only', 'main').split('\n')).toEqual(
      ...[['.gitignore', 'a.txt', 'b.txt', 'new/c.txt']],
    );
    expect(git('worktree', 'list').split('\n')).toHaveLength(2);
    // The task's own work tree is as it was.
    expect(task.git('status', '--porcelain')).toBe('M b.txt\n?? .gitignore\n?? new/');
  });

  test('changes of a file that is apart do not land, committed or not, and those on the branch stay', async () => {
    const { git, folder, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'committed\n', 'list.md': 'added\n' });
    task.git('add', '-A');
    task.git('commit', '-qm', 'one');
    put(task.folder, { 'list.md': 'ticked\n', 'b.txt': 'left\n' });
    const first = await landTask(task, { apart: 'list.md' });
    expect(first).toMatchObject({ end: { kind: 'landed', files: 2 }, stays: new Map() });
    expect(git('ls-tree', '-r', '--name-only', 'main').split('\n')).toEqual(['a.txt', 'b.txt']);

    // The branch has one of its own, and the task has merged it.
    put(folder, { 'list.md': 'of the branch\n' });
    git('add', 'list.md');
    git('commit', '-qm', 'list');
    task.git('checkout', '-q', 'list.md');
    task.git('add', '-A');
    task.git('commit', '-qm', 'two');
    task.git('merge', '-q', '-X', 'ours', 'main');
    put(task.folder, { 'list.md': 'once more\n', 'c.txt': 'new\n' });
    const second = await landTask(task, { apart: 'list.md' });
    expect(second).toMatchObject({ end: { kind: 'landed', files: 1 }, stays: new Map() });
    expect(git('show', 'main:list.md')).toBe('of the branch');

    // What is in its place cannot land beside it.
    task.git('rm', '-qf', 'list.md');
    put(task.folder, { 'list.md/notes': 'of the task\n' });
    const third = await landTask(task, { apart: 'list.md' });
    const why = { kind: 'conflict', paths: ['list.md'] };
    expect(third.end).toEqual({ kind: 'refused', why });
  });

  test('a merge keeps the commits of the task behind it', async () => {
    const { git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'committed\n' });
    task.git('commit', '-qam', 'one');
    put(task.folder, { 'b.txt': 'left\n' });
    const before = git('rev-parse', 'main');
    expect(await landTask(task, { form: { kind: 'merge' } })).toMatchObject({
      end: { kind: 'landed' },
    });
    expect(git('rev-parse', 'main^1')).toBe(before);
    expect(git('rev-parse', 'main^2^')).toBe(task.git('rev-parse', 'HEAD'));
    expect(git('show', 'main:b.txt')).toBe('left');
  });

  test('onto a branch that is checked out nowhere, and that has gone on', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    git('branch', 'release');
    put(folder, { 'new.txt': 'n\n' });
    git('add', '-A');
    git('commit', '-qm', 'more');
    git('branch', '-f', 'release');
    git('reset', '-q', '--hard', 'HEAD~1');
    put(task.folder, { 'a.txt': 'by the task\n' });
    const before = lookAt(folder);
    expect(await landTask(task, { onto: 'release' })).toMatchObject({ end: { kind: 'landed' } });
    expect(git('ls-tree', '--name-only', 'release').split('\n')).toContain('new.txt');
    expect(git('show', 'release:a.txt')).toBe('by the task');
    expect({ ...lookAt(folder), refs: '' }).toEqual({ ...before, refs: '' });
    expect(git('reflog', '-1', 'release', '--format=%gs')).toBe('ralph land t');
  });

  test('a patch that git apply takes, binary files, modes, links and removed files too', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    const bytes = Buffer.from(Array.from({ length: 700 }, (_, at) => (at * 7) % 256));
    writeFileSync(join(task.folder, 'bytes.bin'), bytes);
    put(task.folder, { 'a.txt': 'no line end', 'run.sh': '#!/bin/sh\n' });
    chmodSync(join(task.folder, 'run.sh'), 0o755);
    symlinkSync('a.txt', join(task.folder, 'link'));
    rmSync(join(task.folder, 'b.txt'));
    const file = join(await tempFolder(), 'task.patch');
    const before = lookAt(folder);
    git('config', 'diff.noprefix', 'true');
    git('config', 'diff.mnemonicPrefix', 'true');
    expect(await landTask(task, { form: { kind: 'patch', file } })).toMatchObject({
      end: { kind: 'written', files: 5 },
    });
    expect(lookAt(folder)).toEqual(before);
    git('apply', '--index', file);
    expect(git('diff', '--cached', '--name-status')).toBe(
      'M\ta.txt\nD\tb.txt\nA\tbytes.bin\nA\tlink\nA\trun.sh',
    );
    expect(readFileSync(join(folder, 'bytes.bin')).equals(bytes)).toBe(true);
    expect(git('ls-files', '-s', 'run.sh')).toMatch(/^100755 /);
  });

  test('a patch never takes the place of a file', async () => {
    const { task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'x\n' });
    const folder = await tempFolder();
    put(folder, { 'task.patch': 'mine' });
    const form = { kind: 'patch', file: join(folder, 'task.patch') } as const;
    expect(await landTask(task, { form })).toMatchObject({
      end: { kind: 'refused', why: { kind: 'file-exists' } },
    });
    expect(bytesBelow(folder)).toEqual({ 'task.patch': 'mine' });
  });

  test('line ends as git add stores them, not as they lie in the work tree', async () => {
    const { git, task, landTask } = await makeLanding({
      '.gitattributes': '* text=auto\n',
      'a.txt': 'one\ntwo\n',
    });
    put(task.folder, { 'a.txt': 'one\r\ntwo\r\nthree\r\n', 'new.txt': 'x\r\n' });
    await landTask(task);
    expect(git('cat-file', '-s', 'main:a.txt')).toBe('14');
    expect(git('cat-file', '-s', 'main:new.txt')).toBe('2');
  });

  test('a file that is not stored as today’s rules say is no change, and no hindrance', async () => {
    const { folder, git, addTask, landTask } = await makeLanding({
      ...{ 'old.txt': 'one\r\ntwo\r\nthree\r\n', 'both.txt': 'one\r\n2\r\n3\r\n4\r\nfive\r\n' },
    });
    put(folder, { '.gitattributes': '*.txt text\n' });
    git('add', '.gitattributes');
    git('commit', '-qm', 'rules');
    const task = addTask('late');
    put(task.folder, { 'new.md': 'x\n', 'both.txt': 'ONE\r\n2\r\n3\r\n4\r\nfive\r\n' });
    const mine = 'one\r\n2\r\n3\r\n4\r\nFIVE\r\n';
    const blob = gitIn(folder, mine)('hash-object', '-w', '--stdin', '--no-filters');
    git('update-index', '--cacheinfo', `100644,${blob},both.txt`);
    git('commit', '-qm', 'mine');
    git('branch', 'release');
    for (let round = 1; round <= 3; round += 1) {
      const { end } = await landTask(task, { onto: 'release', form: { kind: 'merge' } });
      expect(end).toEqual({ kind: 'refused', why: { kind: 'conflict', paths: ['both.txt'] } });
    }
    put(task.folder, { 'both.txt': 'one\r\n2\r\n3\r\n4\r\nfive\r\n' });
    for (let round = 1; round <= 3; round += 1) {
      git('branch', '-f', 'release', 'main');
      const { end } = await landTask(task, { onto: 'release' });
      expect(end).toMatchObject({ kind: 'landed', files: 1 });
    }
  });

  test('what looks like a secret stays, unless it is tracked', async () => {
    const { git, task, landTask } = await makeLanding({ '.env.example': 'a\n', 'a.txt': 'a\n' });
    put(task.folder, { '.env': 'KEY=1\n', 'sub/id_rsa': 'k', '.env.example': 'b\n' });
    const { end, stays } = await landTask(task);
    expect(end).toMatchObject({ kind: 'landed', files: 1 });
    expect([...stays]).toEqual([
      ['.env', 'secret'],
      ['sub/id_rsa', 'secret'],
    ]);
    expect(git('ls-tree', '-r', '--name-only', 'main').split('\n')).toEqual(
      ...[['.env.example', 'a.txt']],
    );
    expect(git('show', 'main:.env.example')).toBe('b');
  });

  test('commits of the task on other branches are counted until they have landed', async () => {
    const { git, task, landTask } = await makeLanding();
    const commit = (name: string): void => {
      put(task.folder, { [name]: 'x\n' });
      task.git('add', '-A');
      task.git('commit', '-qm', `Add ${name}\n\nRalph-Task: t\n`);
    };
    commit('one.txt');
    task.git('checkout', '-q', '-b', 'feature');
    commit('two.txt');
    task.git('commit', '-q', '--allow-empty', '-m', 'by a person');
    task.git('checkout', '-q', 'ralph/t');
    const branches = ['main', 'ralph/t', 'feature', 'gone'];
    const first = await landTask(task, { branches });
    expect([first.end.kind, ...first.elsewhere]).toEqual(['landed', ['feature', 1]]);
    const again = await landTask(task, { branches });
    expect([again.end.kind, ...again.elsewhere]).toEqual(['landed-already', ['feature', 1]]);
    git('cherry-pick', 'feature~1');
    expect((await landTask(task, { branches })).elsewhere.size).toBe(0);
  });

  test('commits on another branch are all that there is: nothing lands, and it is said', async () => {
    const { task, landTask } = await makeLanding();
    task.git('checkout', '-q', '-b', 'feature');
    put(task.folder, { 'a.txt': 'x\n' });
    task.git('commit', '-qam', 'One\n\nRalph-Task: t\n');
    task.git('checkout', '-q', 'ralph/t');
    const { end } = await landTask(task, { branches: ['feature'] });
    const elsewhere = new Map([['feature', 1]]);
    expect(end).toEqual({ kind: 'refused', why: { kind: 'elsewhere', elsewhere } });
  });

  test('files that are too large and repositories stay and are named', async () => {
    const { task, landTask } = await makeLanding();
    put(task.folder, { 'large.bin': 'x'.repeat(2_000), 'a.txt': 'x\n' });
    const inner = join(task.folder, 'inner');
    put(inner, { 'i.txt': 'i' });
    const git = gitIn(inner);
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'inner');
    const { end, stays } = await landTask(task);
    expect(end).toMatchObject({ kind: 'landed', files: 1 });
    expect(Object.fromEntries(stays)).toEqual({ 'large.bin': 'too-large', inner: 'repository' });
  });

  test('a moved submodule lands as its commit', async () => {
    const { git, task, landTask } = await makeLanding();
    const inner = join(task.folder, 'inner');
    put(inner, { 'i.txt': 'i' });
    const inside = gitIn(inner);
    inside('init', '-q');
    inside('add', '-A');
    inside('commit', '-qm', 'inner');
    task.git('add', 'inner');
    task.git('commit', '-qm', 'with a submodule');
    inside('commit', '-q', '--allow-empty', '-m', 'more');
    const { end, stays } = await landTask(task);
    expect({ end: end.kind, stays: [...stays] }).toEqual({ end: 'landed', stays: [] });
    expect(git('rev-parse', 'main:inner')).toBe(inside('rev-parse', 'HEAD'));
  });

  test('of a work tree that is gone: the newest snapshot', async () => {
    const { git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'left\n' });
    const tree = task.git('stash', 'create');
    const commit = git(
      ...['commit-tree', `${tree}^{tree}`, '-p', task.tree.base],
      ...['-m', 'iteration 1: answered\n\nRalph-Order: 1\nRalph-Time: now\n'],
    );
    git('update-ref', 'refs/ralph/t/1', commit);
    git('worktree', 'remove', '--force', task.folder);
    // A branch without commits of its own says no more than its base.
    git('branch', '-d', 'ralph/t');
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed', files: 1 } });
    expect(git('show', 'main:a.txt')).toBe('left');
  });

  test('of a work tree that is gone, whose branch has moved since: what stays is named', async () => {
    const { git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'left\n', 'b.txt': 'by both\n', '.env': 'KEY=1\n' });
    task.git('add', '.env');
    const tree = task.git('stash', 'create');
    const commit = git(
      ...['commit-tree', `${tree}^{tree}`, '-p', task.tree.base],
      ...['-m', 'iteration 1: answered\n\nRalph-Order: 1\nRalph-Time: now\n'],
    );
    git('update-ref', 'refs/ralph/t/1', commit);
    task.git('checkout', '-q', 'a.txt');
    task.git('rm', '-q', '--cached', '.env');
    task.git('commit', '-qam', 'more');
    git('worktree', 'remove', '--force', task.folder);
    const { end, stays } = await landTask(task);
    expect(end).toMatchObject({ kind: 'landed', files: 1 });
    expect([...stays]).toEqual([
      ['.env', 'secret'],
      ['a.txt', 'branch-moved'],
    ]);
  });

  test('of a work tree that is gone: what filters and hooks have made of a file has landed', async () => {
    const { folder, git, addTask, landTask } = await makeLanding({
      '.gitattributes': '*.txt text eol=crlf\n',
    });
    put(folder, { 'a.txt': 'a\r\n' });
    git('add', '--all');
    git('commit', '-qm', 'text');
    const task = addTask('late');
    put(task.folder, { 'a.txt': 'b\r\n', 'new.txt': 'new\r\n', 'code.js': 'x\n' });
    put(task.folder, { 'left.txt': 'left\r\n' });
    const names = ['.gitattributes', 'a.txt', 'new.txt', 'code.js', 'left.txt'];
    const bytes = names.map((name) => {
      const id = task.git('hash-object', '-w', '--no-filters', name);
      return `100644 blob ${id}\t${name}\n`;
    });
    const tree = gitIn(folder, bytes.join(''))('mktree');
    const message = 'iteration 1: answered\n\nRalph-Order: 1\nRalph-Time: now\n';
    const commit = git('commit-tree', tree, '-p', task.tree.base, '-m', message);
    git('update-ref', 'refs/ralph/late/1', commit);
    put(task.folder, { 'code.js': 'x;\n' });
    task.git('add', 'code.js');
    task.git('commit', '-qm', 'Format\n\nRalph-Task: late\nRalph-Iteration: 1\n');
    task.git('add', 'a.txt', 'new.txt');
    task.git('commit', '-qm', 'by hand');
    git('worktree', 'remove', '--force', task.folder);
    const { end, stays } = await landTask(task);
    expect(end).toMatchObject({ kind: 'landed', files: 3 });
    expect([...stays]).toEqual([['left.txt', 'branch-moved']]);
  });
});

describe('what does not land', () => {
  const withRepository = (folder: string, ...names: readonly string[]): void => {
    for (const name of names) {
      put(join(folder, name), { 'i.txt': 'i' });
      const git = gitIn(join(folder, name));
      git('init', '-q');
      git('add', '-A');
      git('commit', '-qm', 'inner');
    }
  };

  test('is all that there is: nothing changes, and it is said', async () => {
    const { folder, task, landTask } = await makeLanding();
    put(task.folder, { '.env': 'KEY=1\n' });
    withRepository(task.folder, 'app');
    const before = lookAt(folder);
    const file = join(await tempFolder(), 'task.patch');
    for (const form of [{ kind: 'squash' }, { kind: 'patch', file }] as const) {
      const { end, stays } = await landTask(task, { form });
      if (end.kind !== 'refused' || end.why.kind !== 'left-out') throw new Error(end.kind);
      expect([...end.why.stays]).toEqual([
        ['.env', 'secret'],
        ['app', 'repository'],
      ]);
      expect(stays.size).toBe(0);
    }
    expect(lookAt(folder)).toEqual(before);
    expect(existsSync(file)).toBe(false);
  });

  test('is not what the branch has already, as git has stored it', async () => {
    const { folder, git, task, landTask } = await makeLanding({
      '.gitattributes': '* text=auto\n',
    });
    put(task.folder, { '.env': 'KEY=1\r\n', 'id.key': 'one' });
    withRepository(task.folder, 'app');
    const head = gitIn(join(task.folder, 'app'))('rev-parse', 'HEAD');
    put(folder, { '.env': 'KEY=1\n', 'id.key': 'another' });
    git('add', '--all');
    git('update-index', '--add', '--cacheinfo', `160000,${head},app`);
    git('commit', '-qm', 'mine');
    put(task.folder, { 'a.txt': 'x\n' });
    const { end, stays } = await landTask(task);
    expect({ kind: end.kind, stays: [...stays] }).toEqual({
      kind: 'landed',
      stays: [['id.key', 'secret']],
    });
  });

  test('files of --snapshot-exclude, and what is uncommitted in a submodule', async () => {
    const { git, task, landTask } = await makeLanding({ 'docs/a.md': 'a\n', 'a.txt': 'a\n' });
    withRepository(task.folder, 'lib', 'clean');
    task.git('add', 'lib', 'clean');
    task.git('commit', '-qm', 'with submodules');
    const inside = gitIn(join(task.folder, 'lib'));
    inside('commit', '-q', '--allow-empty', '-m', 'more');
    put(task.folder, { 'docs/a.md': 'b\n', 'docs/new.md': 'n\n', 'lib/i.txt': 'more' });
    const { end, stays } = await landTask(task, { excludedGlobs: ['docs/**'] });
    expect(end).toMatchObject({ kind: 'landed', files: 2 });
    expect(git('rev-parse', 'main:lib')).toBe(inside('rev-parse', 'HEAD'));
    expect(Object.fromEntries(stays)).toEqual({
      ...{ 'docs/a.md': 'excluded', 'docs/new.md': 'excluded', lib: 'uncommitted-inside' },
    });
    expect(await landTask(task, { excludedGlobs: ['docs/**'] })).toMatchObject({
      end: { kind: 'landed-already' },
      stays,
    });
  });
});

describe('landed already', () => {
  test('after a landing, also where the branch has changed the same lines since', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    await landTask(task);
    const commit = git('rev-parse', 'main');
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed-already', commit } });
    put(folder, { 'a.txt': 'by a person\n' });
    git('commit', '-qam', 'mine');
    const before = lookAt(folder);
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed-already', commit } });
    expect(lookAt(folder)).toEqual(before);
  });

  test('where a person merged the branch by hand, and where the task changed nothing', async () => {
    const { git, task, addTask, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    task.git('commit', '-qam', 'one');
    git('merge', '-q', 'ralph/t');
    const end = { kind: 'nothing-new', of: 'work' };
    expect(await landTask(task)).toMatchObject({ end });
    expect(await landTask(addTask('idle'))).toMatchObject({ end });
  });

  test('more work after a landing lands', async () => {
    const { git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    await landTask(task);
    put(task.folder, { 'b.txt': 'more\n' });
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed', files: 1 } });
    expect(git('show', 'main:b.txt')).toBe('more');
  });

  test('more work on the lines that have landed, beside those of others', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n', 'new.txt': 'new\n' });
    await landTask(task);
    put(folder, { 'c.txt': 'by another\n' });
    git('add', 'c.txt');
    git('commit', '-qm', 'other');
    put(task.folder, { 'a.txt': 'by the task, better\n' });
    task.git('add', '-A');
    task.git('commit', '-qm', 'better');
    rmSync(join(task.folder, 'new.txt'));
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed', files: 2 } });
    expect(git('show', 'main:a.txt')).toBe('by the task, better');
    expect(git('ls-tree', '--name-only', 'main')).toBe('a.txt\nb.txt\nc.txt');
    expect(git('log', '-1', '--format=%P')).toBe(git('rev-parse', 'main~1'));
    put(task.folder, { 'a.txt': 'by the task, best\n' });
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed', files: 1 } });
  });
});

describe('nothing changes', () => {
  test('where the repository is shallow and both branches do not meet in it', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    const orphan = git('commit-tree', 'main^{tree}', '-m', 'as git fetch --depth 1 left it');
    git('branch', 'fetched', orphan);
    const landed = () => landTask(task, { onto: 'fetched' });
    expect((await landed()).end).toEqual({ kind: 'refused', why: { kind: 'unrelated' } });
    put(folder, { '.git/shallow': `${orphan}\n` });
    expect((await landed()).end).toEqual({ kind: 'refused', why: { kind: 'shallow' } });
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed' } });
  });

  test('with a conflict', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    put(folder, { 'a.txt': 'by a person\n' });
    git('commit', '-qam', 'mine');
    const before = lookAt(folder);
    expect(await landTask(task)).toMatchObject({
      end: { kind: 'refused', why: { kind: 'conflict', paths: ['a.txt'] } },
    });
    expect(lookAt(folder)).toEqual(before);
  });

  test('with red checks, which see the merged tree and no more', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n', '.env': 'x', '.gitignore': 'out\n', out: 'x' });
    put(folder, { 'b.txt': 'by a person\n' });
    git('commit', '-qam', 'mine');
    const before = lookAt(folder);
    const failed = [checkResult({ command: 'x', exitCode: 1, timedOut: false, output: '' })];
    let seen: unknown = null;
    const { end } = await landTask(task, {
      check: async (scratch) => {
        const { '.git': _, ...files } = bytesBelow(scratch);
        seen = files;
        expect(gitIn(scratch)('status', '--porcelain')).toBe('');
        return { kind: 'checks-failed', failed };
      },
    });
    expect(end).toEqual({ kind: 'refused', why: { kind: 'checks-failed', failed } });
    expect(seen).toEqual({
      ...{ 'a.txt': 'by the task\n', 'b.txt': 'by a person\n', '.gitignore': 'out\n' },
    });
    expect(lookAt(folder)).toEqual(before);
  });

  test('where the branch moved while it was checked, forward or back', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    git('commit', '-q', '--allow-empty', '-m', 'second');
    put(task.folder, { 'a.txt': 'by the task\n' });
    for (const move of [
      () => git('commit', '-q', '--allow-empty', '-m', 'third'),
      () => git('reset', '-q', '--hard', 'HEAD~2'),
    ]) {
      let before: unknown = null;
      const { end } = await landTask(task, {
        check: async () => {
          move();
          before = git('rev-parse', 'main');
          return null;
        },
      });
      expect(end).toEqual({ kind: 'refused', why: { kind: 'moved' } });
      expect(git('rev-parse', 'main')).toBe(before);
      expect(git('status', '--porcelain')).toBe('');
      expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('a\n');
    }
  });

  test('where a branch that is checked out nowhere moved', async () => {
    const { git, task, landTask } = await makeLanding();
    git('branch', 'release');
    git('commit', '-q', '--allow-empty', '-m', 'second');
    put(task.folder, { 'a.txt': 'by the task\n' });
    const { end } = await landTask(task, {
      onto: 'release',
      check: async () => {
        git('branch', '-f', 'release', 'main');
        return null;
      },
    });
    expect(end).toEqual({ kind: 'refused', why: { kind: 'moved' } });
    expect(git('rev-parse', 'release')).toBe(git('rev-parse', 'main'));
  });

  test.for([
    ['changed', (folder: string) => put(folder, { 'a.txt': 'mine\n' }), 'a.txt'],
    [
      'staged',
      (folder: string) => {
        put(folder, { 'a.txt': 'mine\n' });
        gitIn(folder)('add', 'a.txt');
      },
      'a.txt',
    ],
    ['untracked', (folder: string) => put(folder, { 'new.txt': 'mine\n' }), 'new.txt'],
    [
      'ignored',
      (folder: string) => {
        put(folder, { 'new.txt': 'mine\n' });
        writeFileSync(join(folder, '.git', 'info', 'exclude'), 'new.txt\n');
      },
      'new.txt',
    ],
  ] as const)('where the checkout has a %s file in the way', async ([, dirty, name]) => {
    const { folder, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n', 'new.txt': 'by the task\n' });
    task.git('add', '-A');
    task.git('commit', '-qm', 'one');
    dirty(folder);
    const before = lookAt(folder);
    expect((await landTask(task)).end).toEqual({
      kind: 'refused',
      why: { kind: 'in-the-way', folder, paths: [name] },
    });
    expect(lookAt(folder)).toEqual(before);
  });

  test('a local change that is not in the way stays', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    put(folder, { 'b.txt': 'mine\n', 'other.txt': 'mine\n' });
    expect(await landTask(task)).toMatchObject({ end: { kind: 'landed' } });
    expect(git('status', '--porcelain')).toBe('M b.txt\n?? other.txt');
  });

  test('while a task that takes back what has changed works where the branch is checked out', async () => {
    const { folder, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    const here = () => thisPlace(systemClock.now());
    const driver = thisDriver(systemClock.now(), randomUUID());
    const request = { gitDir: join(folder, '.git'), driver, here, isShared: false };
    const user = { taskId: 'u', vault: '/v', needsAlone: true };
    const result = await claimWorkTree({ ...request, user });
    if (result.kind !== 'held') throw new Error(result.kind);
    const before = lookAt(folder);
    expect((await landTask(task)).end).toMatchObject({
      kind: 'refused',
      why: { kind: 'failed', why: expect.stringContaining("task 'u' of the vault /v works in") },
    });
    expect(lookAt(folder)).toEqual(before);
    result.claim.release();
    expect((await landTask(task)).end.kind).toBe('landed');
  });

  test('where something is under way in the checkout that has to go along', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    git('merge', '-q', '-s', 'ours', '--no-commit', '--no-ff', unrelated(git));
    const before = lookAt(folder);
    const why = `a merge is under way in ${folder}, where main is checked out; finish it there`;
    expect((await landTask(task)).end).toEqual({ kind: 'refused', why: { kind: 'failed', why } });
    expect(lookAt(folder)).toEqual(before);
  });

  const LOCKS = ['HEAD.lock', 'refs/heads/main.lock', 'packed-refs.lock', 'index.lock'];

  test.for(LOCKS)('where %s stays: it is named', async (name) => {
    const { folder, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n', 'new.txt': 'n\n' });
    put(join(folder, '.git'), { [name]: '' });
    const before = lookAt(folder);
    expect((await landTask(task)).end).toEqual(lockedBy(name));
    expect(lookAt(folder)).toEqual(before);
  });

  test('a lock that goes is waited for', async () => {
    const { folder, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    put(folder, { '.git/HEAD.lock': '' });
    const onPause = () => rmSync(join(folder, '.git/HEAD.lock'));
    expect((await landTask(task, { onPause })).end.kind).toBe('landed');
  });

  const lockedBy = (name: string) => {
    const clause = ' has been there since \\S+Z, and may be removed if no git is running$';
    const why = expect.stringMatching(new RegExp(`^/.*/\\.git/${name}${clause}`));
    return { kind: 'refused', why: { kind: 'failed', why } };
  };

  /** The task has changed a file, added one and removed one; a person has staged what is not in the way. */
  const makeMoving = async () => {
    const scene = await makeLanding({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'gone.txt': 'g\n' });
    put(scene.task.folder, { 'a.txt': 'by the task\n', 'new.txt': 'n\n' });
    rmSync(join(scene.task.folder, 'gone.txt'));
    put(scene.folder, { 'b.txt': 'staged\n' });
    scene.git('add', 'b.txt');
    return scene;
  };

  test('where the branch is locked once git has begun: the files are put back', async () => {
    const { folder, task, landTask } = await makeMoving();
    const before = lookAt(folder);
    const atMove = () => put(folder, { '.git/refs/heads/main.lock': '' });
    const { end } = await landTask(task, { atMove });
    expect(end).toEqual(lockedBy('refs/heads/main.lock'));
    expect(lookAt(folder)).toEqual(before);
  });

  test('where they cannot be put back: what has changed is named', async () => {
    const { folder, git, task, landTask } = await makeMoving();
    const before = git('rev-parse', 'main');
    const { end } = await landTask(task, {
      atMove: (when) =>
        put(join(folder, '.git'), {
          [when === 'before' ? 'refs/heads/main.lock' : 'index.lock']: '',
        }),
    });
    expect(end).toEqual({
      kind: 'refused',
      why: {
        ...{ kind: 'half-moved', folder, paths: ['a.txt', 'gone.txt', 'new.txt'] },
        why: expect.stringContaining('main.lock'),
      },
    });
    expect(git('rev-parse', 'main')).toBe(before);
  });

  test('where the branch is checked out twice', async () => {
    const { folder, git, trees, task, landTask } = await makeLanding();
    git('worktree', 'add', '-q', '--force', join(trees, 'second'), 'main');
    put(task.folder, { 'a.txt': 'by the task\n' });
    const before = lookAt(folder);
    expect(await landTask(task)).toMatchObject({
      end: { kind: 'refused', why: { kind: 'failed', why: expect.stringContaining('several') } },
    });
    expect(lookAt(folder)).toEqual(before);
  });

  test('where the work tree is on another branch, or in the middle of a merge', async () => {
    const { folder, git, task, landTask } = await makeLanding();
    put(folder, { 'a.txt': 'by a person\n' });
    git('commit', '-qam', 'mine');
    put(task.folder, { 'a.txt': 'by the task\n' });
    task.git('commit', '-qam', 'one');
    expect(() => task.git('merge', 'main')).toThrow();
    expect((await landTask(task)).end).toEqual({
      kind: 'refused',
      why: { kind: 'unfinished', folder: task.folder, what: 'a merge' },
    });
    task.git('merge', '--abort');
    task.git('checkout', '-q', '-b', 'élsewhere');
    expect((await landTask(task)).end).toEqual({
      kind: 'refused',
      why: { kind: 'other-branch', folder: task.folder, head: 'élsewhere' },
    });
    // The agent has removed the branch as well.
    for (const gone of ['checkout -q --detach', 'symbolic-ref HEAD refs/heads/ralph/t']) {
      task.git(...gone.split(' '));
      git('update-ref', '-d', 'refs/heads/ralph/t');
      expect((await landTask(task)).end).toEqual({
        kind: 'refused',
        why: { kind: 'other-branch', folder: task.folder, head: null },
      });
    }
  });

  test('where nothing is left of the branch', async () => {
    const { git, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    task.git('commit', '-qam', 'one');
    git('worktree', 'remove', task.folder);
    git('branch', '-D', 'ralph/t');
    const why = { kind: 'branch-gone', branch: 'ralph/t' };
    expect((await landTask(task)).end).toEqual({ kind: 'refused', why });
  });

  test('where it is stopped', async () => {
    const { folder, task, landTask } = await makeLanding();
    put(task.folder, { 'a.txt': 'by the task\n' });
    const stop = new AbortController();
    const before = lookAt(folder);
    const { end } = await landTask(task, {
      signal: stop.signal,
      check: async () => {
        stop.abort();
        return null;
      },
    });
    expect(end).toEqual({ kind: 'refused', why: { kind: 'stopped' } });
    expect(lookAt(folder)).toEqual(before);
  });
});

describe('programs', () => {
  test('none of those that the repository names is run', async () => {
    const { folder, git, task, landTask } = await makeLanding({
      '.gitattributes': '*.f filter=own diff=own\n*.txt merge=own diff=own\n',
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      'x.f': 'x\n',
    });
    put(task.folder, { 'a.txt': 'by the task\n', 'b.txt': 'by the task\n' });
    put(folder, { 'a.txt': 'by a person\n' });
    git('commit', '-qam', 'mine');
    const ran = join(await tempFolder(), 'ran');
    const program = join(await tempFolder(), 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`, { mode: 0o755 });
    const hooks = await tempFolder();
    for (const hook of [
      ...['post-checkout', 'pre-commit', 'commit-msg', 'post-commit', 'reference-transaction'],
      ...['post-merge', 'pre-merge-commit', 'post-index-change', 'prepare-commit-msg'],
    ]) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`, { mode: 0o755 });
    }
    for (const [name, value] of Object.entries({
      'core.hooksPath': hooks,
      'core.fsmonitor': program,
      'core.editor': program,
      'filter.own.clean': program,
      'filter.own.smudge': program,
      'filter.own.process': program,
      'filter.own.required': 'true',
      'diff.external': program,
      'diff.own.command': program,
      'diff.own.textconv': program,
      'merge.own.driver': `${program} %A`,
      'merge.verifySignatures': 'true',
      'commit.gpgSign': 'true',
      'gpg.program': program,
      'gc.auto': '1',
      'gc.recentObjectsHook': program,
    })) {
      git('config', name, value);
    }
    // Both sides have changed it, so the repository's own way to merge would be asked.
    const before = git('rev-parse', 'main');
    expect(await landTask(task)).toMatchObject({
      end: { kind: 'refused', why: { kind: 'conflict', paths: ['a.txt'] } },
    });
    put(task.folder, { 'a.txt': 'a\n' });
    const file = join(await tempFolder(), 'p.patch');
    for (const form of [{ kind: 'patch', file }, { kind: 'merge' }] as const) {
      expect((await landTask(task, { form })).end.kind).not.toBe('refused');
    }
    expect(git('rev-parse', 'main')).not.toBe(before);
    expect(existsSync(ran)).toBe(false);
  });

  test('a file left uncommitted under such a filter does not land as other bytes than git would store', async () => {
    const { folder, git, task, landTask } = await makeLanding({
      '.gitattributes': '*.f filter=own\n',
      'x.f': 'X\n',
    });
    git('config', 'filter.own.clean', 'tr a-z A-Z');
    put(task.folder, { 'x.f': 'changed\n' });
    const before = lookAt(folder);
    expect((await landTask(task)).end).toEqual({
      kind: 'refused',
      why: { kind: 'filtered', paths: ['x.f'] },
    });
    expect(lookAt(folder)).toEqual(before);
    // Once the user's own configuration defines it, it is run.
    const home = await tempFolder();
    put(home, { '.gitconfig': '[filter "own"]\nclean = tr a-z A-Z\n' });
    const env = { GIT_CONFIG_GLOBAL: join(home, '.gitconfig') };
    expect((await landTask(task, { env })).end.kind).toBe('landed');
    expect(git('show', 'main:x.f')).toBe('CHANGED');
  });
});

test('the work tree of a killed landing is removed by the next', async () => {
  const { git, trees, task, landTask } = await makeLanding();
  put(task.folder, { 'a.txt': 'by the task\n' });
  let name = '';
  await landTask(task, {
    async check(folder) {
      name = basename(folder);
      return { kind: 'stopped' };
    },
  });
  git('worktree', 'add', '-q', '--detach', '--lock', join(trees, name));
  put(join(trees, name), { 'dirt.txt': 'x' });
  const other = await tempFolder();
  git('worktree', 'add', '-q', '--detach', join(other, name));
  expect((await landTask(task)).end.kind).toBe('landed');
  expect(git('worktree', 'list').split('\n')).toHaveLength(2);
  expect(existsSync(join(trees, name))).toBe(false);
  expect(existsSync(join(other, name))).toBe(false);
});

test('landings of two repositories with one folder for their work trees do not meet', async () => {
  const [one, two] = [await makeLanding(), await makeLanding()];
  put(one.task.folder, { 'a.txt': 'one\n' });
  put(two.task.folder, { 'a.txt': 'two\n' });
  const parent = one.trees;
  const { end } = await one.landTask(one.task, {
    parent,
    async check(folder) {
      expect((await two.landTask(two.task, { parent })).end.kind).toBe('landed');
      expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one\n');
      return null;
    },
  });
  expect(end.kind).toBe('landed');
});

test('what lies outside of a sparse checkout lands, too', async () => {
  const { git, addTask, landTask } = await makeLanding({ 'out/o.txt': 'o\n' });
  git('sparse-checkout', 'set', 'in');
  const task = addTask('sparse');
  put(task.folder, { 'out/o.txt': 'changed\n', 'out/new.txt': 'new\n' });
  expect((await landTask(task)).end).toMatchObject({ kind: 'landed', files: 2 });
  expect(git('show', 'main:out/o.txt', 'main:out/new.txt')).toBe('changed\nnew');
  expect(git('status', '--porcelain')).toBe('');
});

test.for(['rebase', 'rebase --update-refs'])(
  'not onto a branch that a %s will move',
  async (rebase) => {
    const { folder, git, task, landTask } = await makeLanding();
    git('checkout', '-q', '-b', 'onto');
    put(folder, { 'a.txt': 'onto\n' });
    git('commit', '-qam', 'onto');
    git('checkout', '-q', 'main');
    put(folder, { 'a.txt': 'main\n' });
    git('commit', '-qam', 'main');
    if (rebase.includes('update')) {
      git('checkout', '-q', '-b', 'top');
      git('commit', '-q', '--allow-empty', '-m', 'top');
    }
    expect(() => git(...rebase.split(' '), 'onto')).toThrow();
    put(task.folder, { 'b.txt': 'left\n' });
    const before = git('for-each-ref');
    expect((await landTask(task)).end).toMatchObject({
      kind: 'refused',
      why: { kind: 'failed', why: expect.stringContaining('main is being rebased') },
    });
    expect(git('for-each-ref')).toBe(before);
  },
);
