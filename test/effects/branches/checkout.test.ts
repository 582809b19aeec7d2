import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  gitDirOf,
  listTrees,
  makeCheckout,
  removeCheckout,
} from '../../../src/effects/branches/checkout.ts';
import { askGit, makeGit } from '../../../src/effects/git/call/git.ts';
import { GitError } from '../../../src/effects/git/git-error.ts';
import { checkoutsOf } from '../../helpers/checkouts.ts';
import { type Files, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function stage(files?: Files, env?: NodeJS.ProcessEnv) {
  const { folder, git } = await makeRepository(files);
  const parts = await checkoutsOf(folder, env);
  const path = join(await tempFolder(), 'trees', 'x');
  const place = { ...parts, path };
  const commit = git('rev-parse', 'HEAD');
  return { folder, git, path, commit, place, request: { ...place, commit, branch: 'ralph/x' } };
}

/** A program that leaves a file if it ever runs. */
async function trap() {
  const sign = join(await tempFolder(), 'ran');
  const program = join(await tempFolder(), 'trap.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0" >> ${sign}\ncat\n`);
  chmodSync(program, 0o755);
  return { program, hasRun: () => existsSync(sign) };
}

describe('a checkout', () => {
  test('is a work tree on a new branch, and leaves the old one as it is', async () => {
    const { folder, git, path, commit, request } = await stage();
    put(folder, { 'a.txt': 'changed\n', 'new.txt': 'new\n' });
    const gitDir = await makeCheckout(request);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
    const there = gitIn(path);
    expect(there('symbolic-ref', 'HEAD')).toBe('refs/heads/ralph/x');
    expect(there('rev-parse', 'HEAD')).toBe(commit);
    expect(there('status', '--porcelain')).toBe('');
    expect(gitDir).toBe(there('rev-parse', '--absolute-git-dir'));
    expect(git('status', '--porcelain')).toBe('M a.txt\n?? new.txt');
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/main');
  });

  test('can be of a commit alone', async () => {
    const { path, commit, request } = await stage();
    await makeCheckout({ ...request, branch: null });
    expect(gitIn(path)('rev-parse', 'HEAD')).toBe(commit);
    expect(() => gitIn(path)('symbolic-ref', '-q', 'HEAD')).toThrow();
  });

  test('takes up a branch that is there where it is', async () => {
    const { git, path, request } = await stage();
    git('branch', 'ralph/x');
    git('commit', '-q', '--allow-empty', '-m', 'second');
    const first = git('rev-parse', 'ralph/x');
    await makeCheckout({ ...request, commit: git('rev-parse', 'HEAD') });
    expect(gitIn(path)('rev-parse', 'HEAD')).toBe(first);
  });

  test('runs no hook and no filter of the repository', async () => {
    const { folder, git, path, request } = await stage({
      '.gitattributes': '*.txt filter=own\n',
      'a.txt': 'a\n',
    });
    const { program, hasRun } = await trap();
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      put(folder, { [`.git/hooks/${name}`]: readFileSync(program, 'utf8') });
      chmodSync(join(folder, '.git/hooks', name), 0o755);
    }
    for (const part of ['smudge', 'clean', 'process']) git('config', `filter.own.${part}`, program);
    git('config', 'filter.own.required', 'true');
    git('config', 'core.fsmonitor', program);
    await makeCheckout(request);
    expect(hasRun()).toBe(false);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
  });

  test('runs a filter that the user has configured', async () => {
    const config = join(await tempFolder(), 'config');
    const { program, hasRun } = await trap();
    writeFileSync(config, `[filter "own"]\nsmudge = ${program}\n`);
    const files = { '.gitattributes': '*.txt filter=own\n', 'a.txt': 'a\n' };
    const { request } = await stage(files, { GIT_CONFIG_GLOBAL: config });
    await makeCheckout(request);
    expect(hasRun()).toBe(true);
  });

  test('that was cut off before its files were written is finished', async () => {
    const { git, path, request } = await stage();
    git('branch', 'ralph/x');
    git('worktree', 'add', '--no-checkout', path, 'ralph/x');
    const gitDir = gitIn(path)('rev-parse', '--absolute-git-dir');
    writeFileSync(join(gitDir, 'index.lock'), '');
    writeFileSync(join(path, 'a.txt'), 'hal');
    await makeCheckout(request);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
  });

  test('that is whole is left as it is', async () => {
    const { path, request } = await stage();
    await makeCheckout(request);
    writeFileSync(join(path, 'a.txt'), 'work\n');
    await makeCheckout(request);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('work\n');
  });

  test('whose folder was deleted is made again', async () => {
    const { path, request } = await stage();
    await makeCheckout(request);
    rmSync(path, { recursive: true });
    await makeCheckout(request);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
  });

  test('is made, listed and removed although the entry of another one is half made at first', async () => {
    const { path, request } = await stage();
    const failed: string[] = [];
    const git = makeGit(async (args, extras) => {
      const [command = '', word = ''] = args;
      if (command !== 'worktree' || failed.includes(word)) return askGit(request.git, args, extras);
      failed.push(word);
      if (word === 'add') mkdirSync(path, { recursive: true });
      const complaint = 'fatal: failed to read .git/worktrees/y/commondir: Success\n';
      return { exitCode: 128, output: '', complaint };
    });
    await makeCheckout({ ...request, git });
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
    await removeCheckout({ ...request, git });
    expect(existsSync(path)).toBe(false);
    expect(failed).toEqual(['list', 'add', 'remove']);
  });

  test('says its own git folder before the first file is written', async () => {
    const { path, request } = await stage();
    const seen: unknown[] = [];
    const onEntered = async (gitDir: string) => {
      seen.push(gitDir, existsSync(join(path, 'a.txt')));
    };
    const gitDir = await makeCheckout({ ...request, onEntered });
    expect(seen).toEqual([gitDir, false]);
  });

  test('touches nothing that is in its way, and leaves no branch', async () => {
    const { git, path, request } = await stage();
    put(path, { 'mine.txt': 'mine\n' });
    await expect(makeCheckout(request)).rejects.toThrow(GitError);
    expect(readFileSync(join(path, 'mine.txt'), 'utf8')).toBe('mine\n');
    expect(git('branch', '--list', 'ralph/*')).toBe('');
  });

  test('is refused where its branch is checked out', async () => {
    const { git, path, request } = await stage();
    git('switch', '-q', '-c', 'ralph/x');
    await expect(makeCheckout(request)).rejects.toThrow(/already checked out|already used/);
    expect(existsSync(path)).toBe(false);
    expect(git('branch', '--list', 'ralph/*')).toBe('* ralph/x');
  });

  test('is made for each of many at once', async () => {
    const { git, path, request } = await stage();
    const numbers = Array.from({ length: 8 }, (_, index) => index);
    await Promise.all(
      numbers.map((n) =>
        makeCheckout({ ...request, path: `${path}-${n}`, branch: `ralph/x-${n}` }),
      ),
    );
    for (const n of numbers) expect(existsSync(join(`${path}-${n}`, 'a.txt'))).toBe(true);
    expect(git('worktree', 'list').split('\n')).toHaveLength(9);
  });
});

describe('removing a checkout', () => {
  test('leaves the branch', async () => {
    const { git, path, place, request } = await stage();
    await makeCheckout(request);
    await removeCheckout(place);
    expect(existsSync(path)).toBe(false);
    expect(git('branch', '--list', 'ralph/*').trim()).toBe('ralph/x');
    expect((await listTrees(place)).map(({ branch }) => branch)).toEqual(['refs/heads/main']);
  });

  test('is possible with a submodule in it', async () => {
    const { folder: library } = await makeRepository();
    const { git, path, place, request } = await stage();
    const local = ['-c', 'protocol.file.allow=always'];
    git(...local, 'submodule', '--quiet', 'add', library, 'lib');
    git('commit', '-q', '-m', 'with a submodule');
    await makeCheckout({ ...request, commit: git('rev-parse', 'HEAD') });
    gitIn(path)(...local, 'submodule', '--quiet', 'update', '--init');
    expect(existsSync(join(path, 'lib/a.txt'))).toBe(true);
    expect(() => git('worktree', 'remove', path)).toThrow(/submodules/);
    await removeCheckout(place);
    expect(existsSync(path)).toBe(false);
  });

  test('of one that is gone removes its entry', async () => {
    const { path, place, request } = await stage();
    await makeCheckout(request);
    rmSync(path, { recursive: true });
    expect(await listTrees(place)).toHaveLength(2);
    await removeCheckout(place);
    expect(await listTrees(place)).toHaveLength(1);
  });
});

describe('the git folder of a work tree', () => {
  test('is found for a work tree of the repository, and for nothing else', async () => {
    const { folder, path, place, request } = await stage();
    expect(await gitDirOf(place)).toBeNull();
    await makeCheckout(request);
    expect(lstatSync((await gitDirOf(place)) ?? '').isDirectory()).toBe(true);
    expect(await gitDirOf({ ...place, path: folder })).toBe(join(folder, '.git'));
    const other = await makeRepository();
    expect(await gitDirOf({ ...place, path: other.folder })).toBeNull();
    put(path, { 'below/a.txt': '' });
    expect(await gitDirOf({ ...place, path: join(path, 'below') })).toBeNull();
  });
});
