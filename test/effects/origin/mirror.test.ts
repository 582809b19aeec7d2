import { chmodSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeMirror, mirrorPlace } from '../../../src/fleet/origin/mirror-folder.ts';
import {
  removeSnapshotsAtOrigin,
  thinSnapshotsAtOrigin,
} from '../../../src/fleet/origin/origin-snapshots.ts';
import { makeOrigin, mirrorOf, NO_SIGNAL, refusePushes } from '../../helpers/leg.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { GIT_ENV, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A URL at which nothing listens. */
async function deadUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await new Promise((resolve) => server.close(resolve));
  return `git://127.0.0.1:${port}/x.git`;
}

/** A commit that only the agent's repository has. */
async function agentCommit(source: string, name = 'b.txt') {
  const folder = join(await tempFolder(), 'agent');
  gitIn(source)('clone', '-q', source, folder);
  const git = gitIn(folder);
  put(folder, { [name]: 'b\n' });
  git('add', '--all');
  git('commit', '-q', '-m', 'agent');
  return { commit: git('rev-parse', 'HEAD'), objects: join(folder, '.git', 'objects'), git };
}

describe('resolve', () => {
  test('finds HEAD, branches, tags, full names and commits', async () => {
    const { url, git, first } = await makeOrigin();
    git('tag', '-a', '-m', 'one', 'v1', first);
    git('update-ref', 'refs/pull/1/head', first);
    const mirror = await mirrorOf(url);
    for (const ref of [null, 'main', 'v1', 'refs/heads/main', 'refs/pull/1/head', first]) {
      expect(await mirror.resolve(ref)).toEqual({ kind: 'found', commit: first });
    }
    expect(await mirror.has(first)).toBe(true);
    expect(await mirror.has('0'.repeat(40))).toBe(false);
  });

  test('follows the origin, also where a branch makes room for a folder of branches', async () => {
    const { url, git, first } = await makeOrigin();
    git('branch', 'a', first);
    const mirror = await mirrorOf(url);
    await mirror.resolve('a');
    git('branch', '-D', 'a');
    git('branch', 'a/b', first);
    expect(await mirror.resolve('a/b')).toEqual({ kind: 'found', commit: first });
    expect(await mirror.resolve('a')).toMatchObject({ kind: 'no-ref' });
  });

  test('finds a branch each time, and a tag before a branch', async () => {
    const { url, git, source, first } = await makeOrigin();
    const mirror = await mirrorOf(url);
    for (let time = 1; time <= 3; time += 1) {
      for (const ref of ['main', 'heads/main', 'refs/heads/main', null]) {
        expect(await mirror.resolve(ref)).toEqual({ kind: 'found', commit: first });
      }
    }
    gitIn(source)('commit', '-q', '--allow-empty', '-m', 'second');
    gitIn(source)('push', '-q', url, 'HEAD:main');
    git('tag', 'main', first);
    expect(await mirror.resolve('main')).toEqual({ kind: 'found', commit: first });
    const second = gitIn(source)('rev-parse', 'HEAD');
    expect(await mirror.resolve('heads/main')).toEqual({ kind: 'found', commit: second });
  });

  test('knows a commit that the origin has lost', async () => {
    const { url, git, first } = await makeOrigin();
    const mirror = await mirrorOf(url);
    await mirror.resolve('main');
    git('update-ref', '-d', 'refs/heads/main');
    await mirror.resolve('gone');
    expect(await mirror.resolve(first)).toEqual({ kind: 'found', commit: first });
  });

  test.for(['gone', 'a..b', '--upload-pack=touch x', 'main:refs/heads/x', 'f'.repeat(40), ''])(
    'says that there is no ref %j',
    async (ref) => {
      const { url } = await makeOrigin();
      const found = await (await mirrorOf(url)).resolve(ref);
      expect(found.kind).toBe('no-ref');
    },
  );

  test('says that a repository is empty', async () => {
    const url = await tempFolder();
    gitIn(url)('init', '-q', '--bare');
    expect(await (await mirrorOf(url)).resolve(null)).toEqual({
      kind: 'no-ref',
      why: `${url} has no HEAD.`,
    });
  });

  test('says that there is no repository', async () => {
    const url = join(await tempFolder(), 'none.git');
    const found = await (await mirrorOf(url)).resolve(null);
    expect(found).toEqual({
      kind: 'no-repository',
      why: `Git cannot read the repository ${url}: '${url}' does not appear to be a git repository.`,
    });
  });

  test('says that the origin is away', async () => {
    const url = await deadUrl();
    const found = await (await mirrorOf(url)).resolve(null);
    expect(found.kind).toBe('away');
    expect('why' in found && found.why).toMatch(
      /^git:\/\/127\.0\.0\.1:\d+\/x\.git cannot be reached: .*onnect.*\.$/,
    );
  });

  test('gives up on an origin that does not answer', async () => {
    const server = createServer((socket) => socket.on('error', () => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const url = `git://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/x.git`;
    const home = await tempFolder();
    // What the limit is not about has the time that it takes.
    const calls = { env: GIT_ENV, signal: NO_SIGNAL, timeoutMs: PATIENCE_MS };
    await makeMirror(mirrorPlace(home, url), 'sha1', calls);
    const mirror = await mirrorOf(url, { home, timeoutMs: 1_000 });
    const away = { kind: 'away', why: `${url} cannot be reached: git did not finish.` };
    expect(await mirror.resolve(null)).toEqual(away);
    expect(await mirror.push('f'.repeat(40), 'refs/heads/x')).toEqual(away);
  });

  test('runs no command line of a URL', async () => {
    const folder = await tempFolder();
    const mirror = await mirrorOf(`ext::sh -c "touch ${folder}/done"`);
    expect((await mirror.resolve(null)).kind).not.toBe('found');
    const option = await mirrorOf(`--upload-pack=touch ${folder}/done`);
    expect((await option.resolve(null)).kind).not.toBe('found');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('mirrors a repository with the longer ids', async () => {
    const folder = await tempFolder();
    const git = gitIn(folder);
    git('init', '-q', '--object-format=sha256');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    const mirror = await mirrorOf(folder);
    expect(await mirror.resolve(null)).toEqual({ kind: 'found', commit: git('rev-parse', 'HEAD') });
    expect(mirror.hash).toBe('sha256');
  });
});

describe('the mirror', () => {
  test('is one for all who open it at once', async () => {
    const { url, first } = await makeOrigin();
    const home = await tempFolder();
    const mirrors = await Promise.all([1, 2, 3].map(() => mirrorOf(url, { home })));
    const found = await Promise.all(mirrors.map((mirror) => mirror.resolve('main')));
    expect(found).toEqual(mirrors.map(() => ({ kind: 'found', commit: first })));
    expect(readdirSync(join(home, 'mirrors'))).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}\.git$/),
    ]);
    expect(gitIn(mirrors[0]?.folder ?? '')('config', 'gc.auto')).toBe('0');
  });

  test('replaces what a killed worker began', async () => {
    const { url, first } = await makeOrigin();
    const mirror = await mirrorOf(url);
    put(`${mirror.folder}.new`, { config: 'broken' });
    put(mirror.folder, { config: 'broken' });
    expect(await mirror.resolve('main')).toEqual({ kind: 'found', commit: first });
    expect(existsSync(`${mirror.folder}.new`)).toBe(false);
  });

  test('runs ssh without a terminal, unless the user says how', async () => {
    const folder = await tempFolder();
    const note = join(folder, 'note');
    put(folder, { ssh: `#!/bin/sh\necho "$@" > ${note}\nexit 255\n` });
    const url = 'ssh://host.invalid/x.git';
    const env = { ...GIT_ENV, PATH: `${folder}:${GIT_ENV.PATH}` };
    chmodSync(join(folder, 'ssh'), 0o755);
    expect((await (await mirrorOf(url, { env })).resolve(null)).kind).toBe('away');
    expect(readFileSync(note, 'utf8')).toContain('BatchMode=yes');
    const own = { ...env, GIT_SSH_COMMAND: 'ssh -o Mine=yes' };
    await (await mirrorOf(url, { env: own })).resolve(null);
    expect(readFileSync(note, 'utf8')).toMatch(/^-o Mine=yes (?!.*BatchMode)/);
  });
});

describe('push', () => {
  test('makes a ref of a commit that only the agent has, and a second time changes nothing', async () => {
    const { url, git, source } = await makeOrigin();
    const { commit, objects } = await agentCommit(source);
    const mirror = await mirrorOf(url);
    for (let time = 1; time <= 2; time += 1) {
      expect(await mirror.push(commit, 'refs/ralph/t/0.1.1', { objects })).toEqual({
        kind: 'pushed',
      });
    }
    expect(git('rev-parse', 'refs/ralph/t/0.1.1')).toBe(commit);
  });

  test('never pushes over another commit', async () => {
    const { url, git, source, first } = await makeOrigin();
    const { commit, objects } = await agentCommit(source);
    const mirror = await mirrorOf(url);
    git('update-ref', 'refs/heads/x', first);
    const moved = {
      kind: 'moved',
      why: `refs/heads/x of ${url} was moved by somebody else.`,
    };
    // It would be a fast-forward.
    expect(await mirror.push(commit, 'refs/heads/x', { objects })).toEqual(moved);
    expect(
      await mirror.push(commit, 'refs/heads/x', { objects, expect: commit.replace(/^./, '0') }),
    ).toEqual(moved);
    expect(git('rev-parse', 'refs/heads/x')).toBe(first);
    expect(await mirror.push(commit, 'refs/heads/x', { objects, expect: first })).toEqual({
      kind: 'pushed',
    });
    // Back again, which is no fast-forward.
    await mirror.resolve('main');
    expect(await mirror.push(first, 'refs/heads/x', { expect: commit })).toEqual({
      kind: 'pushed',
    });
    git('update-ref', '-d', 'refs/heads/x');
    expect(await mirror.push(commit, 'refs/heads/x', { objects, expect: first })).toEqual(moved);
  });

  test('says what the origin refuses, in its own words', async () => {
    const { url, git, source } = await makeOrigin();
    const { commit, objects } = await agentCommit(source);
    refusePushes(url, 'closed today');
    expect(await (await mirrorOf(url)).push(commit, 'refs/heads/x', { objects })).toEqual({
      kind: 'refused',
      why: `${url} refused refs/heads/x: pre-receive hook declined (closed today).`,
    });
    expect(git('for-each-ref', 'refs/heads/x')).toBe('');
  });

  test('tells an origin that is away, gone, or cannot get the commit', async () => {
    const { url, source } = await makeOrigin();
    const { commit, objects } = await agentCommit(source);
    const dead = await mirrorOf(await deadUrl());
    expect((await dead.push(commit, 'refs/heads/x', { objects })).kind).toBe('away');
    const mirror = await mirrorOf(url);
    expect((await mirror.push(commit, 'refs/heads/x')).kind).toBe('refused');
    renameSync(url, `${url}.away`);
    expect((await mirror.push(commit, 'refs/heads/x', { objects })).kind).toBe('refused');
  });

  test('reads no configuration of the agent, and runs no hook of its repository', async () => {
    const { url, git: origin, source } = await makeOrigin();
    const { commit, objects, git } = await agentCommit(source);
    const folder = await tempFolder();
    git('config', 'core.sshCommand', `touch ${folder}/ssh`);
    git('config', 'url.ext::sh.insteadOf', url);
    git('config', 'credential.helper', `!touch ${folder}/helper`);
    put(join(objects, '..', 'hooks'), { 'pre-push': `#!/bin/sh\ntouch ${folder}/hook\n` });
    chmodSync(join(objects, '..', 'hooks', 'pre-push'), 0o755);
    expect(await (await mirrorOf(url)).push(commit, 'refs/heads/x', { objects })).toEqual({
      kind: 'pushed',
    });
    expect(origin('rev-parse', 'refs/heads/x')).toBe(commit);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('takes objects from a folder with a colon in its name', async () => {
    const { url, source } = await makeOrigin();
    const folder = join(await tempFolder(), 'a:b "c"');
    gitIn(source)('clone', '-q', source, folder);
    const git = gitIn(folder);
    git('commit', '-q', '--allow-empty', '-m', 'agent');
    const pushed = await (await mirrorOf(url)).push(git('rev-parse', 'HEAD'), 'refs/heads/x', {
      objects: join(folder, '.git', 'objects'),
    });
    expect(pushed).toEqual({ kind: 'pushed' });
  });
});

describe('the refs of a task', () => {
  async function withRefs() {
    const origin = await makeOrigin();
    const names = Array.from({ length: 205 }, (_, at) => `refs/ralph/t/${at}.1.${at + 1}`);
    const others = ['refs/ralph/t2/0.1.1', 'refs/heads/ralph/t'];
    const { folder } = await makeRepository();
    const lines = [...names, ...others].map((name) => `create ${name} ${origin.first}\n`);
    gitIn(origin.url, lines.join(''))('update-ref', '--stdin');
    return { ...origin, folder };
  }

  test('are removed, and no others', async () => {
    const { url, git } = await withRefs();
    const mirror = await mirrorOf(url);
    expect(await removeSnapshotsAtOrigin(mirror, 't')).toEqual({ kind: 'removed', count: 205 });
    expect(await removeSnapshotsAtOrigin(mirror, 't')).toEqual({ kind: 'removed', count: 0 });
    expect(git('for-each-ref', '--format=%(refname)').split('\n')).toEqual([
      'refs/heads/main',
      'refs/heads/ralph/t',
      'refs/ralph/t2/0.1.1',
    ]);
  });

  test('are thinned, except for those that a resume fetches', async () => {
    const { url, git } = await withRefs();
    const needed = ['refs/ralph/t/2.1.3'];
    expect(await thinSnapshotsAtOrigin(await mirrorOf(url), 't', needed)).toEqual({
      kind: 'removed',
      count: 3,
    });
    const left = git('for-each-ref', '--format=%(refname)', 'refs/ralph/t/').split('\n');
    expect(left).toHaveLength(202);
    expect(left).toEqual(expect.arrayContaining(['refs/ralph/t/0.1.1', ...needed]));
  });

  test('stay where the origin refuses, or is away', async () => {
    const { url } = await withRefs();
    refusePushes(url, 'closed');
    expect(await removeSnapshotsAtOrigin(await mirrorOf(url), 't')).toEqual({
      kind: 'refused',
      why: `${url} does not remove refs/ralph/t/*: pre-receive hook declined.`,
    });
    expect((await removeSnapshotsAtOrigin(await mirrorOf(await deadUrl()), 't')).kind).toBe('away');
  });
});
