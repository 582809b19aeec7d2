import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkoutFolder, makeFreshCheckout } from '../../../src/effects/branches/fresh-checkout.ts';
import { checkoutsOf } from '../../helpers/checkouts.ts';
import { makeExam, untouched } from '../../helpers/exams.ts';
import { bytesBelow, gitIn, put } from '../../helpers/repository.ts';

/** The files of a checkout, without its repository. */
function filesOf(folder: string) {
  return Object.fromEntries(
    Object.entries(bytesBelow(folder)).filter(([name]) => !name.startsWith('.git/')),
  );
}

describe('a fresh checkout', () => {
  test('has every byte of the tree, whatever the repository says of line ends', async () => {
    const task = await makeExam({
      '.gitattributes': '*.txt text eol=crlf\n',
      'lf.txt': 'a\nb\n',
      'crlf.txt': 'a\r\nb\r\n',
      'sub/run.sh': '#!/bin/sh\n',
    });
    task.git('config', 'core.autocrlf', 'true');
    chmodSync(join(task.folder, 'sub', 'run.sh'), 0o755);
    symlinkSync('lf.txt', join(task.folder, 'link'));
    const tree = await task.claim({ 'new é.txt': 'new\n', 'crlf.txt': 'a\r\nc\n' });
    const before = untouched(task.folder);
    const checkout = await makeFreshCheckout({
      ...{ git: task.own, folder: task.cleanFolder, head: task.head(), tree },
    });
    const { node_modules: _, ...expected } = filesOf(task.folder);
    expect(filesOf(checkout.folder)).toEqual(expected);
    expect(readFileSync(join(checkout.folder, 'link'), 'utf8')).toBe('a\nb\n');
    expect(readdirSync(checkout.temporary)).toEqual([]);
    expect(untouched(task.folder)).toEqual(before);
    checkout.remove();
    expect([existsSync(dirname(checkout.folder)), existsSync(checkout.temporary)]).toEqual([
      false,
      false,
    ]);
    expect(untouched(task.folder)).toEqual(before);
  });

  test('does not wait for a pipe that the agent has put into the folder of git', async () => {
    const task = await makeExam({ 'a.txt': 'a\n' });
    const tree = await task.claim({ 'a.txt': 'b\n' });
    const pipe = join(task.folder, '.git', 'info', 'exclude');
    rmSync(pipe, { force: true });
    execFileSync('mkfifo', [pipe]);
    // Whoever waits for the pipe gets a line.
    spawn('/bin/sh', ['-c', 'echo x > "$1"', 'sh', pipe], { timeout: 10_000 });
    const checkout = await makeFreshCheckout({
      ...{ git: task.own, folder: task.cleanFolder, head: task.head(), tree },
    });
    expect(existsSync(join(checkout.folder, '.git', 'info', 'exclude'))).toBe(false);
    checkout.remove();
  });

  test('has the history, the branches and the remotes, and keeps what checks do to itself', async () => {
    const task = await makeExam({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    task.git('tag', '-a', 'v1', '-m', 'one');
    task.git('branch', 'other');
    task.git('remote', 'add', 'origin', 'https://example.com/"a".git');
    const tree = await task.claim({ 'a.txt': 'changed\n', 'new.txt': 'new\n' });
    const before = untouched(task.folder);
    const checkout = await makeFreshCheckout({
      ...{ git: task.own, folder: task.cleanFolder, head: task.head(), tree },
    });
    const git = gitIn(checkout.folder);
    expect(git('describe', '--tags')).toBe('v1');
    expect(git('rev-parse', 'other', 'HEAD')).toBe(task.git('rev-parse', 'other', 'HEAD'));
    expect(git('remote', 'get-url', 'origin')).toBe('https://example.com/"a".git');
    expect(git('status', '--porcelain')).toBe('M a.txt\n?? new.txt');
    expect(git('diff-index', '--name-only', 'HEAD')).toBe('a.txt');
    expect(git('for-each-ref', 'refs/ralph')).toBe('');
    git('add', '-A');
    git('commit', '-qm', 'by a check');
    git('branch', '-D', 'other');
    git('stash', 'clear');
    git('gc', '-q', '--prune=now');
    expect(untouched(task.folder)).toEqual(before);
    expect(task.git('fsck', '--no-dangling')).toBe('');
    checkout.remove();
  });

  test('has the remotes where they are, and without an origin the original as one', async () => {
    const task = await makeExam({ 'a.txt': 'a\n' });
    const linked = `${task.folder}-linked`;
    task.git('worktree', 'add', '-q', linked);
    const urls = async (root: string) => {
      const { repository } = await checkoutsOf(root);
      const git = { ...task.own, repository };
      const checkout = await makeFreshCheckout({
        ...{ git, folder: task.cleanFolder, head: task.head(), tree: task.start },
      });
      const listed = gitIn(checkout.folder)('config', '--get-regexp', '^remote\\..*\\.url$');
      checkout.remove();
      return listed.split('\n');
    };
    const own = `remote.origin.url ${task.folder}`;
    expect([await urls(task.folder), await urls(linked)]).toEqual([[own], [own]]);
    rmSync(linked, { recursive: true });
    task.git('remote', 'add', 'origin', '../ü.git');
    task.git('remote', 'add', 'other', 'host:a/b.git');
    expect(await urls(task.folder)).toEqual([
      `remote.origin.url ${join(task.folder, '../ü.git')}`,
      'remote.other.url host:a/b.git',
    ]);
  });

  test('removes what a killed ralph left, and is called as nobody else’s', async () => {
    const task = await makeExam({ 'a.txt': 'a\n' });
    const request = {
      ...{
        git: task.own,
        folder: task.cleanFolder,
        head: null,
        tree: task.start,
      },
    };
    const first = await makeFreshCheckout(request);
    put(first.folder, { 'left.txt': 'left\n' });
    const second = await makeFreshCheckout(request);
    expect(Object.keys(filesOf(second.folder))).toEqual(['.gitignore', 'a.txt']);
    expect(existsSync(first.temporary)).toBe(false);
    second.remove();
    const folderOf = (folder: string) => checkoutFolder({ ...task.own, folder }, 't.clean');
    const [one, other] = [await folderOf('/vault/t/git'), await folderOf('/other/t/git')];
    expect(dirname(one)).toBe(`${task.folder}.ralph`);
    expect(one).toBe(await folderOf('/vault/t/git'));
    expect(one).not.toBe(other);
  });

  test('goes away although a check took the rights from its folders, and follows no link', async () => {
    const task = await makeExam({ 'a.txt': 'a\n' });
    const checkout = await makeFreshCheckout({
      ...{
        git: task.own,
        folder: task.cleanFolder,
        head: null,
        tree: task.start,
      },
    });
    put(checkout.folder, { 'cache/mod/file': 'x' });
    put(checkout.temporary, { 'mod/file': 'x' });
    mkdirSync(join(task.folder, 'out'));
    put(task.folder, { 'out/kept.txt': 'kept\n' });
    symlinkSync(join(task.folder, 'out'), join(checkout.folder, 'out'));
    chmodSync(join(checkout.folder, 'cache', 'mod'), 0o555);
    chmodSync(join(checkout.temporary, 'mod'), 0o555);
    checkout.remove();
    expect([existsSync(checkout.folder), existsSync(checkout.temporary)]).toEqual([false, false]);
    expect(readFileSync(join(task.folder, 'out', 'kept.txt'), 'utf8')).toBe('kept\n');
  });

  test('leaves nothing where the tree is not there', async () => {
    const task = await makeExam({ 'a.txt': 'a\n' });
    const before = untouched(task.folder);
    const tree = '1'.repeat(40);
    const request = {
      git: task.own,
      folder: task.cleanFolder,
      head: null,
      tree,
    };
    await expect(makeFreshCheckout(request)).rejects.toThrow(
      /is missing, or is not what its id says/,
    );
    expect(existsSync(dirname(task.cleanFolder))).toBe(false);
    expect(untouched(task.folder)).toEqual(before);
  });
});
