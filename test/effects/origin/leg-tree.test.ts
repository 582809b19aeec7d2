import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLegSnapshots } from '../../../src/fleet/origin/leg-snapshots.ts';
import { makeLegTree } from '../../../src/fleet/origin/leg-tree.ts';
import type { Mirror } from '../../../src/fleet/origin/mirror.ts';
import { keeperOf, legTreeOf, makeOrigin, mirrorOf, NO_SIGNAL, NOW } from '../../helpers/leg.ts';
import { bytesBelow, GIT_ENV, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function pushed(tree: string, mirror: Mirror) {
  const keeper = await keeperOf(tree);
  const snapshots = openLegSnapshots({
    ...{ keeper, mirror, taskId: 't', fence: 1, newest: null, now: () => NOW },
    notice() {},
  });
  const end = await snapshots.push(1);
  if (end.kind !== 'pushed') throw new Error(end.why);
  return end.snapshot;
}

/** Everything in a work tree but its repository. */
function filesOf(tree: string) {
  return Object.fromEntries(
    Object.entries(bytesBelow(tree)).filter(([name]) => !name.startsWith('.git/')),
  );
}

/** What a person sees of the work tree with git. */
const SEEN = [
  ['status', '--porcelain', '--branch'],
  ['diff'],
  ['diff', '--cached'],
  ['log', '--format=%H %s'],
  ['ls-files', '-s'],
] as const;

describe('a new work tree', () => {
  test('is what a clone is, on the branch of the task', async () => {
    const { url, git: origin, first } = await makeOrigin({ 'a.txt': 'a\n', 'sub/b': 'b\n' });
    origin('tag', 'v1', first);
    origin('branch', 'other', first);
    const mirror = await mirrorOf(url);
    await mirror.resolve(null);
    const { tree, git } = await legTreeOf(mirror, { head: first });
    expect(filesOf(tree)).toEqual({ 'a.txt': 'a\n', 'sub/b': 'b\n' });
    expect(git('status', '--porcelain')).toBe('');
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/ralph/t');
    expect(git('rev-parse', 'HEAD')).toBe(first);
    expect(git('remote', 'get-url', 'origin')).toBe(url);
    expect(git('describe', '--tags')).toBe('v1');
    expect(
      git('branch', '-r')
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['origin/main', 'origin/other']);
    expect(git('fsck', '--strict')).toBe('');
    expect(existsSync(join(tree, '.git', 'hooks'))).toBe(false);
    git('fetch', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'work');
  });

  test('needs nothing of the mirror if it has its own objects', async () => {
    const { url, git: origin, first } = await makeOrigin();
    origin('tag', '-a', '-m', 'one', 'v1', first);
    const mirror = await mirrorOf(url);
    await mirror.resolve(null);
    const made = await legTreeOf(mirror, { head: first });
    put(made.tree, { 'b.txt': 'b\n' });
    const snapshot = await pushed(made.tree, mirror);
    const { tree, git } = await legTreeOf(mirror, { head: first, snapshot, isSelfContained: true });
    renameSync(mirror.folder, `${mirror.folder}.hidden`);
    expect(git('status', '--porcelain')).toBe('?? b.txt');
    expect(git('describe')).toBe('v1');
    expect(git('rev-parse', 'origin/main')).toBe(first);
    expect(git('fsck', '--strict')).not.toContain('missing');
    expect(existsSync(join(tree, '.git', 'objects', 'info', 'alternates'))).toBe(false);
  });

  test('replaces what a killed worker left', async () => {
    const { url, first } = await makeOrigin();
    const folder = await tempFolder();
    put(join(folder, 'tree'), { 'half.txt': 'x', '.git/config': 'broken' });
    mkdirSync(join(folder, 'tree', 'locked', 'in'), { recursive: true });
    chmodSync(join(folder, 'tree', 'locked'), 0o500);
    const { tree } = await legTreeOf(await mirrorOf(url), { head: first, folder });
    expect(filesOf(tree)).toEqual({ 'a.txt': 'a\n' });
    expect(readdirSync(folder)).toEqual(['tree']);
  });

  test('is not made of a commit or snapshot that is not there', async () => {
    const { url, git, first } = await makeOrigin();
    const mirror = await mirrorOf(url);
    const folder = await tempFolder();
    const request = {
      ...{ mirror, folder, snapshot: null, branch: 'x', url, env: GIT_ENV, signal: NO_SIGNAL },
      head: first,
    };
    const none = await makeLegTree({ ...request, head: 'f'.repeat(40) });
    expect(none.kind).toBe('no-ref');
    const ref = 'refs/ralph/t/1.1.1';
    const lost = await makeLegTree({ ...request, snapshot: { ref, commit: 'f'.repeat(40) } });
    expect(lost.kind).toBe('no-ref');
    git('update-ref', ref, first);
    const other = await makeLegTree({ ...request, snapshot: { ref, commit: 'f'.repeat(40) } });
    expect(other).toEqual({
      kind: 'no-ref',
      why: `${ref} of ${url} is no longer ${'f'.repeat(40)}.`,
    });
    expect(existsSync(join(folder, 'tree'))).toBe(false);
  });
});

describe('a takeover on another machine', () => {
  test('finds files, modes, links, deletions, index and HEAD as they were left', async () => {
    const { url, first } = await makeOrigin({
      'a.txt': 'a\n',
      'gone.txt': 'x\n',
      'staged-gone.txt': 'x\n',
      'was-file': 'x\n',
      'was-folder/x': 'x\n',
      'crlf.txt': 'one\r\ntwo\r\n',
      '.gitattributes': '*.rule text eol=crlf\n',
      'win.rule': 'one\ntwo\n',
      '.gitignore': 'build\n',
    });
    const one = await legTreeOf(await mirrorOf(url), { head: first });
    expect(readFileSync(join(one.tree, 'win.rule'), 'utf8')).toBe('one\r\ntwo\r\n');
    put(one.tree, { 'c.txt': 'committed\n' });
    one.git('add', 'c.txt');
    one.git('commit', '-q', '-m', 'of the agent');
    put(one.tree, { 'a.txt': 'staged\n', 'new.txt': 'new\n', 'win.rule': 'lf\nonly\n' });
    one.git('add', 'a.txt', 'new.txt');
    put(one.tree, { 'a.txt': 'staged and changed\n', 'own/untracked': 'u\n', 'build/x': 'b' });
    put(one.tree, { 'tool.sh': '#!/bin/sh\n' });
    chmodSync(join(one.tree, 'tool.sh'), 0o755);
    symlinkSync('a.txt', join(one.tree, 'link'));
    rmSync(join(one.tree, 'gone.txt'));
    one.git('rm', '-q', 'staged-gone.txt');
    rmSync(join(one.tree, 'was-file'));
    put(one.tree, { 'was-file/inside': 'i\n' });
    rmSync(join(one.tree, 'was-folder'), { recursive: true });
    put(one.tree, { 'was-folder': 'f\n' });
    const snapshot = await pushed(one.tree, await mirrorOf(url));
    expect(snapshot.head).toBe(one.git('rev-parse', 'HEAD'));

    const { tree, git } = await legTreeOf(await mirrorOf(url), { head: snapshot.head, snapshot });
    const { 'build/x': ignored, ...files } = filesOf(one.tree);
    expect(ignored).toBe('b');
    expect(filesOf(tree)).toEqual(files);
    for (const args of SEEN) expect(git(...args)).toBe(one.git(...args));
    expect(statSync(join(tree, 'tool.sh')).mode & 0o111).toBe(0o111);
    expect(statSync(join(tree, 'new.txt')).mode & 0o111).toBe(0);
    expect(readlinkSync(join(tree, 'link'))).toBe('a.txt');
    expect(lstatSync(join(tree, 'was-folder')).isFile()).toBe(true);
    expect(git('for-each-ref', 'refs/ralph')).toBe('');
  });

  test('pushes nothing as long as nothing has changed', async () => {
    const { url, git: origin, first } = await makeOrigin();
    const one = await legTreeOf(await mirrorOf(url), { head: first });
    put(one.tree, { 'a.txt': 'changed\n', 'b.txt': 'new\n' });
    const newest = await pushed(one.tree, await mirrorOf(url));
    const mirror = await mirrorOf(url);
    const two = await legTreeOf(mirror, { head: newest.head, snapshot: newest });
    const keeper = await keeperOf(two.tree);
    const snapshots = openLegSnapshots({
      ...{ keeper, mirror, taskId: 't', fence: 2, newest, now: () => NOW, notice() {} },
    });
    expect(await snapshots.push(1)).toEqual({ kind: 'pushed', snapshot: newest, isNew: false });
    expect(origin('for-each-ref', '--format=%(refname)', 'refs/ralph')).toBe('refs/ralph/t/1.1.1');
    put(two.tree, { 'c.txt': 'c\n' });
    expect(await snapshots.push(2)).toMatchObject({
      isNew: true,
      snapshot: { ref: 'refs/ralph/t/2.2.1' },
    });
  });

  test("brings a file under the user's own filter back by that filter, and runs no other", async () => {
    const { url, first } = await makeOrigin({
      'a.big': 'pointer\n',
      '.gitattributes': '*.big filter=big\n*.evil filter=evil\n',
      'x.evil': 'x\n',
    });
    const folder = await tempFolder();
    const config = join(folder, 'config');
    put(folder, {
      config:
        '[filter "big"]\n\tsmudge = sed s/pointer/content/\n\tclean = sed s/content/pointer/\n',
    });
    const env = { ...GIT_ENV, GIT_CONFIG_GLOBAL: config };
    const mirror = await mirrorOf(url, { env });
    const one = await legTreeOf(mirror, { head: first, env });
    expect(readFileSync(join(one.tree, 'a.big'), 'utf8')).toBe('content\n');
    one.git('config', 'filter.evil.clean', `touch ${folder}/ran; cat`);
    one.git('config', 'filter.evil.smudge', `touch ${folder}/ran; cat`);
    put(one.tree, { 'x.evil': 'y\n', 'b.txt': 'b\n' });
    const keeper = await keeperOf(one.tree, env);
    const snapshots = openLegSnapshots({
      ...{ keeper, mirror, taskId: 't', fence: 1, newest: null, now: () => NOW, notice() {} },
    });
    await snapshots.push(1);
    const snapshot = snapshots.newest;
    const two = await legTreeOf(await mirrorOf(url, { env }), { head: first, snapshot, env });
    expect(filesOf(two.tree)).toEqual(filesOf(one.tree));
    expect(readdirSync(folder)).toEqual(['config']);
  });

  test('keeps a branch without a commit as it was', async () => {
    const { url, first } = await makeOrigin();
    const one = await legTreeOf(await mirrorOf(url), { head: first });
    one.git('checkout', '-q', '--orphan', 'fresh');
    const snapshot = await pushed(one.tree, await mirrorOf(url));
    expect(snapshot.head).toBe('');
    const two = await legTreeOf(await mirrorOf(url), { head: '', snapshot });
    expect(two.git('status', '--porcelain')).toBe('A  a.txt');
  });
});
