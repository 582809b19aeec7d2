import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askGit, makeGit } from '../../../src/effects/git/call/git.ts';
import { openLegSnapshots } from '../../../src/fleet/origin/leg-snapshots.ts';
import { keeperOf, legTreeOf, makeOrigin, mirrorOf, NOW, refusePushes } from '../../helpers/leg.ts';
import { type Files, put } from '../../helpers/repository.ts';

async function legOf(files: Files = { 'a.txt': 'a\n' }) {
  const { url, git: origin, first } = await makeOrigin(files);
  const mirror = await mirrorOf(url);
  const { tree, git } = await legTreeOf(mirror, { head: first });
  const keeper = await keeperOf(tree);
  await keeper.before(1);
  const notices: string[] = [];
  const open = (fence = 1) =>
    openLegSnapshots({
      ...{ keeper, mirror, taskId: 't', fence, newest: null, now: () => NOW },
      notice: (sentence) => notices.push(sentence),
    });
  const refs = () =>
    origin('for-each-ref', '--format=%(refname:strip=3)', 'refs/ralph').split('\n');
  const filesAt = (commit: string) => origin('ls-tree', '-r', '--name-only', commit).split('\n');
  return { url, origin, first, mirror, tree, git, keeper, notices, open, refs, filesAt };
}

test('pushes each tree that differs under a name of its own, and no other', async () => {
  const { tree, git, open, refs, first, origin, filesAt } = await legOf();
  const snapshots = open(3);
  const zero = await snapshots.push(0);
  expect(zero).toMatchObject({
    kind: 'pushed',
    isNew: true,
    snapshot: { ref: 'refs/ralph/t/0.3.1', head: first },
  });
  expect(await snapshots.push(1)).toEqual({ ...zero, isNew: false });
  put(tree, { 'b.txt': 'b\n' });
  await snapshots.push(1);
  // Only the index differs.
  git('add', 'b.txt');
  await snapshots.push(1);
  // Only HEAD differs.
  git('commit', '-q', '-m', 'b');
  await snapshots.push(2);
  git('commit', '-q', '--allow-empty', '-m', 'nothing');
  const last = await snapshots.push(2);
  rmSync(join(tree, 'a.txt'));
  await snapshots.push(2);
  expect(refs()).toEqual(['0.3.1', '1.3.2', '1.3.3', '2.3.4', '2.3.5', '2.3.6']);
  expect(last).toMatchObject({ snapshot: { head: git('rev-parse', 'HEAD') } });
  const { commit = '' } = snapshots.newest ?? {};
  expect(filesAt(commit)).toEqual(['b.txt']);
  expect(origin('rev-parse', `${commit}^1`)).toBe(git('rev-parse', 'HEAD'));
  expect(origin('log', '-1', '--format=%s%n%(trailers:only)', commit)).toContain(
    'iteration 2\nRalph-Task: t',
  );
});

test('leaves the names of the snapshots in the work tree to the run', async () => {
  const { tree, keeper, open } = await legOf();
  const snapshots = open();
  const names = async () => (await keeper.timeline())?.snapshots.map(({ name }) => name);
  keeper.filesTouched();
  put(tree, { 'b.txt': 'b\n' });
  await snapshots.push(1);
  expect(await names()).toEqual(['0']);
  await keeper.after({ iteration: 1, as: 'end', outcome: 'answered' });
  expect(await names()).toEqual(['0', '1']);
  expect(keeper.filesTouched()).toEqual(['b.txt']);
  expect(await snapshots.push(1)).toMatchObject({ isNew: false });
  await keeper.after({ iteration: 2, as: 'end', outcome: 'answered' });
  expect(await names()).toEqual(['0', '1']);
  expect(keeper.filesTouched()).toEqual([]);
});

test('never pushes an untracked file that looks like a secret, and names it once', async () => {
  const { tree, git, open, notices, filesAt } = await legOf({ 'a.txt': 'a\n', 'known.pem': 'x\n' });
  const snapshots = open();
  put(tree, { '.env': 'A=1\n', 'sub/id_rsa': 'k\n', 'known.pem': 'y\n', 'b.txt': 'b\n' });
  await snapshots.push(1);
  expect(filesAt(snapshots.newest?.commit ?? '')).toEqual(['a.txt', 'b.txt', 'known.pem']);
  expect(snapshots.kept?.secrets).toEqual(['.env', 'sub/id_rsa']);
  put(tree, { '.env': 'A=2\n' });
  expect(await snapshots.push(1)).toMatchObject({ isNew: false });
  put(tree, { 'b.txt': 'c\n', 'x.key': 'x' });
  await snapshots.push(2);
  expect(notices).toEqual([
    '.env, sub/id_rsa look like secrets and are not pushed: on another machine the task continues without them.',
    'x.key looks like a secret and is not pushed: on another machine the task continues without it.',
  ]);
  // What the agent adds to the index is no longer untracked.
  git('add', 'x.key');
  await snapshots.push(3);
  expect(filesAt(snapshots.newest?.commit ?? '')).toEqual(['a.txt', 'b.txt', 'known.pem', 'x.key']);
});

test('pushes the same commit again when the origin is back', async () => {
  const { url, tree, open, refs } = await legOf();
  const snapshots = open();
  put(tree, { 'b.txt': 'b\n' });
  renameSync(url, `${url}.away`);
  expect((await snapshots.push(1)).kind).toBe('refused');
  const made = snapshots.kept?.commit;
  renameSync(`${url}.away`, url);
  refusePushes(url, 'closed');
  expect(await snapshots.push(1)).toEqual({
    kind: 'refused',
    why: `${url} refused refs/ralph/t/1.1.1: pre-receive hook declined (closed).`,
  });
  expect(snapshots.newest).toBeNull();
  rmSync(join(url, 'hooks', 'pre-receive'));
  expect(await snapshots.push(1)).toMatchObject({
    kind: 'pushed',
    isNew: true,
    snapshot: { commit: made },
  });
  expect(refs()).toEqual(['1.1.1']);
});

test('takes the next name where one is taken', async () => {
  const { origin, first, tree, open, refs } = await legOf();
  origin('update-ref', 'refs/ralph/t/1.1.1', first);
  put(tree, { 'b.txt': 'b\n' });
  expect(await open().push(1)).toMatchObject({ snapshot: { ref: 'refs/ralph/t/1.1.2' } });
  expect(origin('rev-parse', 'refs/ralph/t/1.1.1')).toBe(first);
  expect(refs()).toEqual(['1.1.1', '1.1.2']);
});

test('says that the work tree cannot be kept', async () => {
  const { tree, open } = await legOf();
  put(tree, { 'b.txt': 'b\n' });
  renameSync(join(tree, '.git'), join(tree, 'git'));
  expect(await open().push(1)).toMatchObject({
    kind: 'not-kept',
    why: expect.stringMatching(/^The work tree cannot be kept: .+\.$/),
    isFull: false,
  });
});

test('says that the disk is full, and takes no file for one that git refuses', async () => {
  const { tree, open, keeper } = await legOf();
  put(tree, { 'b.txt': 'b\n' });
  const { own } = keeper.git;
  const full =
    'error: unable to create temporary file: No space left on device\nfatal: Unable to process path b.txt\n';
  Object.assign(keeper.git, {
    own: makeGit(async (args, extras) =>
      args.includes('--replace')
        ? { exitCode: 128, output: '', complaint: full }
        : askGit(own, args, extras),
    ),
  });
  expect(await open().push(1)).toEqual({
    kind: 'not-kept',
    why: 'The work tree cannot be kept: unable to create temporary file: No space left on device.',
    isFull: true,
  });
});

test('knows what no snapshot can have, also where the snapshot stays the same for it', async () => {
  const { tree, open } = await legOf();
  const snapshots = open();
  await snapshots.push(1);
  put(tree, { 'too-large': 'x'.repeat(1_001) });
  expect(await snapshots.push(2)).toMatchObject({ isNew: false });
  expect([...(snapshots.kept?.leftOut ?? [])]).toEqual(['too-large']);
});
