import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { landResult } from '../../../src/fleet/origin/land-result.ts';
import { keepLegTree } from '../../../src/fleet/origin/leg-snapshots.ts';
import { makeResult } from '../../../src/fleet/origin/result.ts';
import {
  keeperOf,
  legTreeOf,
  makeOrigin,
  mirrorOf,
  NO_SIGNAL,
  NOW,
  refusePushes,
} from '../../helpers/leg.ts';
import { type Files, GIT_ENV, gitIn, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const FACTS = { taskId: 't', iteration: 2, outcome: 'answered', summary: 'Fix the login' };

async function legOf(files: Files = { 'a.txt': 'a\n' }) {
  const { url, git: origin, first, source } = await makeOrigin(files);
  const mirror = await mirrorOf(url);
  const { leg, tree, git } = await legTreeOf(mirror, { head: first });
  const keeper = await keeperOf(tree);
  const make = async (env: NodeJS.ProcessEnv = GIT_ENV) => {
    const about = { taskId: 't', order: 1, at: NOW, subject: 'the end', last: null };
    const kept = await keepLegTree(keeper, about);
    const folder = join(leg, 'result');
    return makeResult({ keeper, kept, base: first, folder, facts: FACTS, env, signal: NO_SIGNAL });
  };
  const land = async (commit: string, left: string | null = null) =>
    landResult({
      ...{ mirror, taskId: 't', commit, branch: 'ralph/t', left },
      objects: keeper.git.repository.objects,
    });
  return { url, origin, first, source, mirror, leg, tree, git, make, land };
}

function makeInner(tree: string, name: string): void {
  mkdirSync(join(tree, name));
  const inner = gitIn(join(tree, name));
  inner('init', '-q');
  inner('commit', '-q', '--allow-empty', '-m', 'inner');
}

describe('the result', () => {
  test('is HEAD if nothing is left', async () => {
    const { tree, git, make, leg } = await legOf();
    put(tree, { 'b.txt': 'b\n' });
    git('add', '--all');
    git('commit', '-q', '-m', 'of the agent');
    const head = git('rev-parse', 'HEAD');
    expect(await make()).toEqual({ commit: head, isNew: false, left: [] });
    expect(readdirSync(leg)).toEqual(['tree']);
  });

  test('is one commit on top of HEAD with all that is left, and moves nothing', async () => {
    const { tree, git, make } = await legOf({
      'a.txt': 'a\n',
      'gone.txt': 'x\n',
      'folder/x': 'x\n',
      file: 'f\n',
      '.gitignore': 'build\n',
    });
    git('commit', '-q', '--allow-empty', '-m', 'of the agent');
    put(tree, { 'a.txt': 'staged\n' });
    git('add', 'a.txt');
    put(tree, {
      'a.txt': 'changed\n',
      'new/b.txt': 'b\n',
      'build/x': 'x',
      'tool.sh': '#!/bin/sh\n',
    });
    chmodSync(join(tree, 'tool.sh'), 0o755);
    rmSync(join(tree, 'gone.txt'));
    rmSync(join(tree, 'folder'), { recursive: true });
    symlinkSync('new', join(tree, 'folder'));
    rmSync(join(tree, 'file'));
    put(tree, { 'file/inside': 'i\n' });
    const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD')];
    const { commit, isNew, left } = await make();
    expect({ isNew, left }).toEqual({ isNew: true, left: [] });
    expect(git('rev-parse', `${commit}^`)).toBe(before[1]);
    expect(git('ls-tree', '-r', '--format=%(objectmode) %(path)', commit).split('\n')).toEqual([
      '100644 .gitignore',
      '100644 a.txt',
      '100644 file/inside',
      '120000 folder',
      '100644 new/b.txt',
      '100755 tool.sh',
    ]);
    expect(git('show', `${commit}:a.txt`)).toBe('changed');
    expect(git('log', '-1', '--format=%B', commit)).toBe(
      'Fix the login\n\nRalph-Task: t\nRalph-Iteration: 2\nRalph-Outcome: answered',
    );
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD')]).toEqual(before);
  });

  test("takes line ends by git's rules", async () => {
    const { tree, git, make } = await legOf({
      '.gitattributes': '*.win text eol=crlf\n',
      'same.win': 'one\n',
      'other.win': 'one\n',
    });
    expect(await make()).toMatchObject({ isNew: false });
    put(tree, { 'other.win': 'one\r\ntwo\r\n' });
    const { commit } = await make();
    expect(git('diff', '--name-only', 'HEAD', commit)).toBe('other.win');
    expect(git('cat-file', 'blob', `${commit}:other.win`)).toBe('one\ntwo');
  });

  test('leaves out untracked secrets, new repositories and what cannot be kept', async () => {
    const { tree, git, make } = await legOf({ 'a.txt': 'a\n', 'large.txt': 'l\n' });
    put(tree, { '.env': 'A=1\n', 'b.txt': 'b\n' });
    expect(await make()).toMatchObject({ left: ['.env'] });
    // The snapshot is the same with it.
    put(tree, { 'too-large': 'x'.repeat(1_001) });
    expect(await make()).toMatchObject({ left: ['.env', 'too-large'] });
    makeInner(tree, 'inner');
    const { commit, left } = await make();
    expect(git('diff', '--name-only', 'HEAD', commit)).toBe('b.txt');
    expect(left).toEqual(['.env', 'too-large', 'inner']);
  });

  test('tells repositories that the agent has committed inside the tree, and no submodules', async () => {
    const { tree, git, make } = await legOf();
    for (const name of ['inner', 'module']) makeInner(tree, name);
    put(tree, { '.gitmodules': '[submodule "m"]\n\tpath = module\n\turl = https://x.invalid/\n' });
    git('-c', 'advice.addEmbeddedRepo=false', 'add', '--all');
    git('commit', '-q', '-m', 'of the agent');
    expect(await make()).toMatchObject({ isNew: false, left: ['inner'] });
  });

  test("runs no filter, hook or signing program of the agent's configuration", async () => {
    const { tree, git, make, leg } = await legOf({
      '.gitattributes': '*.txt filter=evil\n',
      'a.txt': 'a\n',
    });
    put(leg, { evil: `#!/bin/sh\ntouch ${leg}/ran\ncat\n` });
    chmodSync(join(leg, 'evil'), 0o755);
    for (const name of ['filter.evil.clean', 'core.fsmonitor', 'gpg.program', 'core.hooksPath']) {
      git('config', name, join(leg, 'evil'));
    }
    git('config', 'commit.gpgSign', 'true');
    git('config', 'user.name', 'Mallory');
    git('config', 'user.email', 'm@example.com');
    put(tree, { 'a.txt': 'changed\n' });
    // Not even one that the user knows: it would need more than a commit.
    put(leg, { config: `[filter "evil"]\n\tclean = ${join(leg, 'evil')}\n` });
    const { commit } = await make({ ...GIT_ENV, GIT_CONFIG_GLOBAL: join(leg, 'config') });
    expect(existsSync(join(leg, 'ran'))).toBe(false);
    const plain = gitIn(tree);
    expect(plain('-c', 'core.fsmonitor=false', 'log', '-1', '--format=%an <%ae>', commit)).toBe(
      'ralph <ralph@localhost>',
    );
  });

  test("leaves a file alone that the user's own filter wrote and nobody has changed", async () => {
    const { url, first } = await makeOrigin({
      'a.big': 'pointer\n',
      '.gitattributes': '*.big filter=big\n',
    });
    const folder = await tempFolder();
    const filter =
      '[filter "big"]\n\tsmudge = sed s/pointer/content/\n\tclean = sed s/content/pointer/\n';
    put(folder, { config: filter });
    const env = { ...GIT_ENV, GIT_CONFIG_GLOBAL: join(folder, 'config') };
    const mirror = await mirrorOf(url, { env });
    const about = { taskId: 't', order: 1, at: NOW, subject: 'the end', last: null };
    const resultOf = async (made: Awaited<ReturnType<typeof legTreeOf>>) => {
      expect(readFileSync(join(made.tree, 'a.big'), 'utf8')).toBe('content\n');
      const keeper = await keeperOf(made.tree, env);
      const kept = await keepLegTree(keeper, about);
      const result = await makeResult({
        ...{ keeper, kept, base: first, folder: join(made.leg, 'result'), facts: FACTS, env },
        signal: NO_SIGNAL,
      });
      return { kept, result };
    };
    const one = await legTreeOf(mirror, { head: first, env });
    put(one.tree, { 'b.txt': 'b\n' });
    const { kept, result } = await resultOf(one);
    expect(one.git('diff', '--name-only', first, result.commit)).toBe('b.txt');
    const ref = 'refs/ralph/t/1.1.1';
    await mirror.push(kept.commit, ref, { objects: join(one.tree, '.git', 'objects') });
    const snapshot = { commit: kept.commit, ref, head: first };
    const two = await legTreeOf(mirror, { head: first, snapshot, env });
    const later = await resultOf(two);
    expect(two.git('diff', '--name-only', first, later.result.commit)).toBe('b.txt');
  });

  test("has the worker's identity if git knows one", async () => {
    const { tree, git, make } = await legOf();
    put(tree, { 'a.txt': 'changed\n' });
    const folder = await tempFolder();
    put(folder, { config: '[user]\n\tname = Ada\n\temail = ada@example.com\n' });
    const { commit } = await make({ ...GIT_ENV, GIT_CONFIG_GLOBAL: join(folder, 'config') });
    expect(git('log', '-1', '--format=%an <%ae>, %cn', commit)).toBe('Ada <ada@example.com>, Ada');
  });
});

describe('landing', () => {
  async function changed() {
    const scene = await legOf();
    put(scene.tree, { 'a.txt': 'changed\n' });
    return { ...scene, result: await scene.make() };
  }
  const REF = 'refs/heads/ralph/t';

  test('makes the branch, and moves it from where the task left it', async () => {
    const { origin, tree, make, land, result } = await changed();
    expect(await land(result.commit)).toEqual({ kind: 'landed', commit: result.commit, ref: REF });
    put(tree, { 'a.txt': 'again\n' });
    const next = await make();
    expect(await land(next.commit, result.commit)).toMatchObject({ kind: 'landed' });
    expect(origin('rev-parse', REF)).toBe(next.commit);
  });

  test('leaves a branch alone that somebody else has moved, and finds a free name', async () => {
    const { url, origin, first, land, result } = await changed();
    origin('update-ref', REF, first);
    origin('update-ref', 'refs/ralph/t/result', first);
    const beside = {
      kind: 'beside',
      commit: result.commit,
      ref: 'refs/ralph/t/result.2',
      warning: `Somebody else has moved the branch ralph/t of ${url}, so it was left alone; the result is at refs/ralph/t/result.2.`,
    };
    expect(await land(result.commit)).toEqual(beside);
    expect(await land(result.commit)).toEqual(beside);
    expect(origin('rev-parse', REF, 'refs/ralph/t/result')).toBe(`${first}\n${first}`);
    expect(origin('rev-parse', 'refs/ralph/t/result.2')).toBe(result.commit);
  });

  test.for(['refs/heads/ralph', 'refs/heads/ralph/t/x'])(
    'says that %s is in the way of the branch',
    async (other) => {
      const { url, origin, first, land, result } = await changed();
      origin('update-ref', other, first);
      expect(await land(result.commit)).toEqual({
        ...{ kind: 'beside', commit: result.commit, ref: 'refs/ralph/t/result' },
        warning: `${other} of ${url} is in the way of the branch ralph/t; the result is at refs/ralph/t/result.`,
      });
      expect(origin('rev-parse', 'refs/ralph/t/result', other)).toBe(`${result.commit}\n${first}`);
    },
  );

  test('finds the result of a worker that was killed after its push', async () => {
    const { origin, git, tree, land, result } = await changed();
    await land(result.commit);
    const message = git('log', '-1', '--format=%B', result.commit);
    const again = gitIn(
      tree,
      `${message}\n`,
    )(...['commit-tree', `${result.commit}^{tree}`, '-p', 'HEAD', '-F', '-']);
    expect(again).not.toBe(result.commit);
    expect(await land(again)).toEqual({ kind: 'landed', commit: result.commit, ref: REF });
    expect(origin('for-each-ref', 'refs/ralph')).toBe('');
    // The same files without the trailer are somebody else's.
    const other = gitIn(tree, 'mine\n')(
      'commit-tree',
      `${result.commit}^{tree}`,
      '-p',
      'HEAD',
      '-F',
      '-',
    );
    git('push', '-q', '--force', 'origin', `${other}:${REF}`);
    expect(await land(again)).toMatchObject({ kind: 'beside', ref: 'refs/ralph/t/result' });
  });

  test('says that the origin refuses', async () => {
    const { url, land, result } = await changed();
    refusePushes(url, 'closed');
    expect(await land(result.commit)).toEqual({
      kind: 'refused',
      why: `${url} refused ${REF}: pre-receive hook declined (closed).`,
    });
  });
});
