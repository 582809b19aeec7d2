import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { holdTime, passTimeThrough } from '../../../helpers/agent-life.ts';
import { commitsIn } from '../../../helpers/commits.ts';
import { until } from '../../../helpers/processes.ts';
import { GIT_ENV, put } from '../../../helpers/repository.ts';

/** Puts a hook into the repository. */
function hook(folder: string, name: string, script: string): void {
  mkdirSync(join(folder, '.git/hooks'), { recursive: true });
  writeFileSync(join(folder, '.git/hooks', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, '.git/hooks', name), 0o755);
}

describe('what is committed', () => {
  test('new, changed and deleted files of the iteration, and nothing else', async () => {
    const { folder, git, begin, work, commit, committed } = await commitsIn({
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      'c.txt': 'c\n',
    });
    put(folder, { 'untracked.txt': 'a person’s' });
    await begin();
    rmSync(join(folder, 'b.txt'));
    await work(1, { 'a.txt': 'changed\n', 'd/new.txt': 'new\n' });
    const before = git('rev-parse', 'HEAD');
    const { settlement, left } = await commit();
    expect(settlement).toEqual({
      kind: 'committed',
      commit: git('rev-parse', 'HEAD'),
      branch: 'work',
      files: 3,
    });
    expect(left.size).toBe(0);
    expect(committed()).toEqual(['a.txt', 'b.txt', 'd/new.txt']);
    expect(git('rev-parse', 'HEAD^')).toBe(before);
    expect(git('status', '--porcelain')).toBe('?? untracked.txt');
    expect(git('log', '-1', '--format=%an <%ae>%n%B')).toBe(
      'A Person <person@example.com>\nDid it\n\nRalph-Task: t\nRalph-Iteration: 1\nRalph-Outcome: answered',
    );
  });

  test('nothing that git ignored when the iteration began', async () => {
    const { folder, git, begin, work, commit, committed } = await commitsIn({
      '.gitignore': 'data/\n',
    });
    put(folder, { 'data/a': 'a person’s' });
    await begin();
    git('add', '--force', 'data/a');
    await work(1, { '.gitignore': '*.log\n', 'new.txt': 'new\n' });
    expect([...(await commit()).left]).toEqual([['data/a', 'ignored']]);
    expect(committed()).toEqual(['.gitignore', 'new.txt']);
  });

  test('what was dirty, staged or half-staged before stays so, to the byte of the index', async () => {
    const { folder, git, begin, work, commit, committed } = await commitsIn({
      'dirty.txt': '1\n',
      'staged.txt': '1\n',
      'half.txt': '1\n',
      'touched.txt': '1\n',
      'work.txt': '1\n',
    });
    put(folder, { 'dirty.txt': '2\n', 'staged.txt': '2\n', 'half.txt': '2\n', 'new.txt': '2\n' });
    git('add', 'staged.txt', 'half.txt', 'new.txt');
    put(folder, { 'half.txt': '3\n', 'intended.txt': 'x' });
    git('add', '-N', 'intended.txt');
    git('update-index', '--assume-unchanged', 'touched.txt');
    // The second in which the index was written is over: git has no entry to read again.
    put(folder, { 'touched.txt': '1\n' });
    await begin();
    await work(1, { 'work.txt': '2\n', 'added.txt': 'x\n' });
    const entries = () =>
      git('ls-files', '--stage', '--debug', '-v')
        .split(/\n(?=\S)/)
        .filter((entry) => !/\t(?:work|added)\.txt/.test(entry));
    const [status, before] = [git('status', '--porcelain'), entries()];
    expect((await commit()).settlement).toMatchObject({ kind: 'committed', files: 2 });
    expect(entries()).toEqual(before);
    expect(committed()).toEqual(['added.txt', 'work.txt']);
    expect(git('status', '--porcelain')).toBe(
      status.replace(' M work.txt\n', '').replace('\n?? added.txt', ''),
    );
  });

  test.for<[string, (stage: Awaited<ReturnType<typeof commitsIn>>) => void]>([
    ['dirty', ({ folder }) => put(folder, { 'a.txt': 'a person’s\n' })],
    [
      'staged',
      ({ folder, git }) => {
        put(folder, { 'a.txt': 'a person’s\n' });
        git('add', 'a.txt');
      },
    ],
    [
      'staged, and not so in the work tree',
      ({ folder, git }) => {
        put(folder, { 'a.txt': 'a person’s\n' });
        git('add', 'a.txt');
        put(folder, { 'a.txt': 'a\n' });
      },
    ],
    ['deleted', ({ folder }) => rmSync(join(folder, 'a.txt'))],
    ['executable', ({ folder }) => chmodSync(join(folder, 'a.txt'), 0o755)],
  ])('of a file that was %s before, nothing is committed', async ([, change]) => {
    const stage = await commitsIn();
    change(stage);
    await stage.begin();
    const staged = stage.git('ls-files', '-s', 'a.txt');
    await stage.work(1, { 'a.txt': 'the agent’s\n', 'b.txt': 'b\n' });
    const { settlement, left } = await stage.commit();
    expect(settlement).toMatchObject({ kind: 'committed' });
    expect([...left]).toEqual([['a.txt', 'others']]);
    expect(stage.committed()).toEqual(['b.txt']);
    expect(stage.git('ls-files', '-s', 'a.txt')).toBe(staged);
  });

  test('a file that a person changed between two iterations is the person’s', async () => {
    const { folder, keep, begin, work, commit, committed } = await commitsIn();
    await begin();
    await work(1, { 'b.txt': 'b\n' });
    await commit();
    put(folder, { 'a.txt': 'a person’s\n' });
    await keep('2.0');
    await work(2, { 'a.txt': 'both\n', 'b.txt': 'more\n' });
    expect([...(await commit({ iteration: 2 })).left]).toEqual([['a.txt', 'others']]);
    expect(committed()).toEqual(['b.txt']);
  });

  test('a file that a person changed between two attempts is the person’s', async () => {
    const { folder, keep, begin, work, commit, committed } = await commitsIn();
    await begin();
    put(folder, { 'b.txt': 'b\n' });
    await keep('1.1');
    put(folder, { 'a.txt': 'a person’s\n' });
    await keep('1.0');
    await work(1, { 'c.txt': 'c\n' });
    await commit();
    expect(committed()).toEqual(['b.txt', 'c.txt']);
  });

  test('what an iteration left uncommitted is still the agent’s in the next one', async () => {
    const { begin, work, commit, committed } = await commitsIn();
    await begin();
    await work(1, { 'a.txt': '1\n', 'b.txt': '1\n' });
    await work(2, { 'a.txt': '2\n' });
    expect((await commit({ iteration: 2 })).left.size).toBe(0);
    expect(committed()).toEqual(['a.txt']);
  });

  test('what could not be committed goes into the next commit', async () => {
    const { begin, work, commit, committed } = await commitsIn();
    await begin();
    await work(1, { 'a.txt': '1\n', 'b.txt': '1\n' });
    await work(2, { 'a.txt': '2\n' });
    await commit({ iteration: 2, since: 1 });
    expect(committed()).toEqual(['a.txt', 'b.txt']);
  });

  test('line ends are converted by git’s own rules, and do not count as a person’s change', async () => {
    const { git, begin, work, commit, committed } = await commitsIn({
      '.gitattributes': '*.txt text\n',
      'a.txt': 'a\n',
    });
    put(git('rev-parse', '--show-toplevel'), { 'a.txt': 'a\r\n' });
    await begin();
    await work(1, { 'a.txt': 'b\r\n' });
    expect((await commit()).left.size).toBe(0);
    expect(committed()).toEqual(['a.txt']);
    expect(git('cat-file', '-s', 'HEAD:a.txt')).toBe('2');
  });

  test('what git refuses by the user’s rules is named', async () => {
    const { git, begin, work, commit } = await commitsIn();
    git('config', 'core.autocrlf', 'input');
    git('config', 'core.safecrlf', 'true');
    await begin();
    await work(1, { 'b.txt': 'b\r\n' });
    await expect(commit()).rejects.toThrow(
      'git does not take the changed files (CRLF would be replaced by LF in b.txt)',
    );
  });

  test('a filter that was configured before is applied', async () => {
    const { git, begin, work, commit } = await commitsIn({ '.gitattributes': '*.up filter=up\n' });
    git('config', 'filter.up.clean', 'tr a-z A-Z');
    await begin();
    await work(1, { 'a.up': 'loud' });
    await commit();
    expect(git('show', 'HEAD:a.up')).toBe('LOUD');
  });

  test('what the agent has committed or staged itself is no hindrance', async () => {
    const { folder, git, keep, begin, commit, committed } = await commitsIn();
    await begin();
    put(folder, { 'a.txt': 'by the agent\n' });
    git('commit', '-q', '-a', '-m', 'own');
    put(folder, { 'b.txt': '1\n' });
    git('add', 'b.txt');
    put(folder, { 'b.txt': '2\n' });
    await keep('1');
    await commit();
    expect(committed()).toEqual(['b.txt']);
    expect(git('show', 'HEAD:b.txt')).toBe('2');
    expect(git('status', '--porcelain')).toBe('');
  });

  test.for(['assume-unchanged', 'skip-worktree'])(
    'a file that git was told not to look at, before or by the agent: %s',
    async (flag) => {
      const { git, begin, work, commit, committed } = await commitsIn({
        'before.txt': '1\n',
        'by-agent.txt': '1\n',
      });
      git('update-index', `--${flag}`, 'before.txt');
      await begin();
      git('update-index', `--${flag}`, 'by-agent.txt');
      await work(1, { 'before.txt': 'longer\n', 'by-agent.txt': 'longer\n' });
      expect(await commit()).toMatchObject({ settlement: { files: 2 } });
      expect(committed()).toEqual(['before.txt', 'by-agent.txt']);
      expect(git('show', 'HEAD:before.txt', 'HEAD:by-agent.txt')).toBe('longer\nlonger');
      expect(git('status', '--porcelain')).toBe('');
    },
  );

  test('new files that look like secrets, are ignored or are repositories are left', async () => {
    const { folder, git, keep, begin, commit, committed } = await commitsIn({ '.env': 'OLD=1\n' });
    await begin();
    put(folder, { '.env': 'NEW=1\n', 'd/.env.local': 'KEY=1\n', 'x.log': 'x\n', 'b.txt': 'b\n' });
    mkdirSync(join(folder, 'nested'));
    git('-C', 'nested', 'init', '-q');
    git('-C', 'nested', 'commit', '-q', '--allow-empty', '-m', 'x');
    await keep('1.1');
    put(folder, { '.gitignore': '*.log\n' });
    await keep('1');
    expect([...(await commit()).left].sort()).toEqual([
      ['d/.env.local', 'secret'],
      ['nested', 'repository'],
      ['x.log', 'ignored'],
    ]);
    // A file that is committed already stays one.
    expect(committed()).toEqual(['.env', '.gitignore', 'b.txt']);
    expect(git('status', '--porcelain')).toBe('?? d/\n?? nested/');
  });

  test('a file and a folder change places', async () => {
    const { folder, git, begin, work, commit } = await commitsIn({ file: 'f', 'folder/a': 'a' });
    await begin();
    rmSync(join(folder, 'file'));
    rmSync(join(folder, 'folder'), { recursive: true });
    await work(1, { 'file/inside': 'x', folder: 'now a file' });
    await commit();
    expect(git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('file/inside\nfolder');
    expect(git('status', '--porcelain')).toBe('');
  });

  test('a file that became a pipe is no removed one, and stops no commit', async () => {
    const { folder, begin, work, commit, committed } = await commitsIn({ 'a.txt': 'a', b: 'b' });
    await begin();
    rmSync(join(folder, 'b'));
    execFileSync('mkfifo', [join(folder, 'b')]);
    await work(1, { 'a.txt': '1\n' });
    expect([...(await commit()).left]).toEqual([['b', 'not-kept']]);
    expect(committed()).toEqual(['a.txt']);
  });

  test('files of a folder that became a link are removed, and not told as left', async () => {
    const { folder, git, begin, work, commit } = await commitsIn({ 'docs/a': 'a' });
    await begin();
    renameSync(join(folder, 'docs'), join(folder, 'site'));
    symlinkSync('site', join(folder, 'docs'));
    await work(1, {});
    expect((await commit()).left.size).toBe(0);
    expect(git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('docs\nsite/a');
  });

  test('a repository that lost its .git is a folder, and stops no commit', async () => {
    const { folder, git, begin, work, commit, committed } = await commitsIn();
    await begin();
    put(folder, { 'app/x': 'x' });
    git('-C', 'app', 'init', '-q');
    git('-C', 'app', 'commit', '-q', '--allow-empty', '-m', 'x');
    await work(1, { 'a.txt': '1\n' });
    expect([...(await commit()).left]).toEqual([['app', 'repository']]);
    rmSync(join(folder, 'app/.git'), { recursive: true });
    await work(2, { 'a.txt': '2\n' });
    // No snapshot held this file when the iteration began, so it may be a person's.
    expect([...(await commit({ iteration: 2 })).left]).toEqual([['app/x', 'ignored']]);
    expect(committed()).toEqual(['a.txt']);
  });

  test('names that are pathspecs or not UTF-8 are names', async () => {
    const { folder, git, begin, work, commit } = await commitsIn({ 'b.txt': 'b', 'a*': 'star' });
    put(folder, { 'ab.txt': 'a person’s' });
    await begin();
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]), 'x');
    await work(1, { 'a*': 'changed', ':(top)b.txt': 'odd', 'line\nbreak': 'x' });
    expect((await commit()).settlement).toMatchObject({ files: 4 });
    expect(git('status', '--porcelain')).toBe('?? ab.txt');
  });

  test('nothing is committed where nothing was changed, or all is committed', async () => {
    const { git, begin, work, commit } = await commitsIn();
    await begin();
    expect((await commit()).settlement).toEqual({ kind: 'nothing' });
    await work(1, { 'a.txt': 'own\n' });
    git('commit', '-q', '-a', '-m', 'own');
    const head = git('rev-parse', 'HEAD');
    expect((await commit()).settlement).toEqual({ kind: 'nothing' });
    expect(git('rev-parse', 'HEAD')).toBe(head);
  });
});

describe('where it is committed', () => {
  test.for<[string, readonly string[]]>([
    ['main', []],
    ['master', []],
    ['dev', ['dev', 'other']],
  ])('a branch is made beside %s', async ([branch, protect]) => {
    const { git, begin, work, commit, folder } = await commitsIn();
    git('checkout', '-q', '-B', branch);
    put(folder, { 'staged.txt': 'x' });
    git('add', 'staged.txt');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    const head = git('rev-parse', branch);
    expect(await commit({}, { protect })).toMatchObject({
      settlement: { kind: 'committed', branch: 'ralph/t' },
      newBranch: 'ralph/t',
    });
    expect(git('rev-parse', branch)).toBe(head);
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/ralph/t');
    expect(git('rev-parse', 'ralph/t^')).toBe(head);
    expect(git('status', '--porcelain')).toBe('A  staged.txt');
    await work(2, { 'a.txt': '2\n' });
    expect(await commit({ iteration: 2 })).toMatchObject({ newBranch: null });
  });

  test('the branch of the remote is protected', async () => {
    const { git, begin, work, commit } = await commitsIn();
    git('update-ref', 'refs/remotes/upstream/work', 'HEAD');
    git('symbolic-ref', 'refs/remotes/upstream/HEAD', 'refs/remotes/upstream/work');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).newBranch).toBe('ralph/t');
  });

  test('a detached HEAD gets a branch', async () => {
    const { git, begin, work, commit } = await commitsIn();
    git('checkout', '-q', '--detach');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).newBranch).toBe('ralph/t');
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/ralph/t');
  });

  test.for<[string, string, string]>([
    ['a branch of another', 'ralph/t', 'ralph/t-2'],
    ['a branch that is in the way', 'ralph', 'ralph-t'],
  ])('%s is left alone', async ([, there, expected]) => {
    const { git, begin, work, commit } = await commitsIn();
    git('checkout', '-q', 'main');
    git('branch', there);
    const head = git('rev-parse', there);
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).newBranch).toBe(expected);
    expect(git('rev-parse', there)).toBe(head);
  });

  test.for(['a..b', 'x.lock', 'x.'])('a task id that is no branch: %s', async (taskId) => {
    const { git, begin, work, commit } = await commitsIn();
    git('checkout', '-q', 'main');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit({}, { taskId })).settlement).toMatchObject({ kind: 'committed' });
    expect(git('symbolic-ref', 'HEAD')).toBe(`refs/heads/ralph/${taskId.replaceAll('.', '%2E')}`);
  });

  test.for<[string, string]>([
    ['main', 'ralph/t'],
    ['dev', 'dev'],
  ])('before the first commit, on %s', async ([branch, expected]) => {
    const { git, folder, begin, work, commit } = await commitsIn();
    git('checkout', '-q', '--orphan', branch === 'main' ? 'new' : branch);
    git('rm', '-q', '-r', '--cached', '.');
    rmSync(join(folder, 'a.txt'));
    if (branch === 'main') {
      git('branch', '-q', '-D', 'main');
      git('symbolic-ref', 'HEAD', 'refs/heads/main');
    }
    await begin();
    await work(1, { 'b.txt': '1\n' });
    expect((await commit()).settlement).toMatchObject({ kind: 'committed', branch: expected });
    expect(git('log', '--format=%s', expected)).toBe('Did it');
    expect(git('status', '--porcelain')).toBe('');
  });

  test.for<[string, (folder: string) => void]>([
    ['a merge', (folder) => writeFileSync(join(folder, '.git/MERGE_HEAD'), '')],
    // Between two steps of a sequence nothing else is there.
    ['a cherry-pick', (folder) => mkdirSync(join(folder, '.git/sequencer'))],
  ])('%s under way: nothing is committed', async ([name, change]) => {
    const { git, folder, begin, work, commit } = await commitsIn();
    await begin();
    await work(1, { 'a.txt': '1\n' });
    change(folder);
    const head = git('rev-parse', 'work');
    expect((await commit()).settlement).toEqual({
      kind: 'not-committed',
      why: `${name} is under way`,
    });
    expect(git('rev-parse', 'work')).toBe(head);
  });
});

describe('hooks', () => {
  test('run, see only what is committed, and no variable of the loop', async () => {
    const stage = await commitsIn(undefined, {
      ...GIT_ENV,
      RALPH_RUN_ID: 'x',
      RALPH_TASK_ID: 't',
      GIT_DIR: '/nowhere',
    });
    const { folder, git, begin, work, commit } = stage;
    hook(folder, 'pre-commit', 'env > "$PWD/.git/env"; git diff --cached --name-only > .git/names');
    hook(folder, 'commit-msg', 'echo "Reviewed-by: hook" >> "$1"');
    put(folder, { 'staged.txt': 'x' });
    git('add', 'staged.txt');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).settlement).toMatchObject({ kind: 'committed', files: 1 });
    expect(readFileSync(join(folder, '.git/names'), 'utf8')).toBe('a.txt\n');
    expect(readFileSync(join(folder, '.git/env'), 'utf8')).not.toMatch(/^(?:RALPH_|GIT_DIR=)/m);
    expect(git('log', '-1', '--format=%b')).toMatch(/Reviewed-by: hook$/);
  });

  test('what a failing one says comes back, and nothing has changed', async () => {
    const { folder, git, begin, work, commit } = await commitsIn();
    hook(folder, 'pre-commit', 'echo "no semicolon in a.txt" >&2; exit 3');
    await begin();
    await work(1, { 'a.txt': '1\n', 'b.txt': 'b\n' });
    const [head, status, index] = [
      git('rev-parse', 'HEAD'),
      git('status', '-s'),
      git('ls-files', '-s'),
    ];
    expect((await commit()).settlement).toEqual({
      kind: 'refused',
      why: 'git commit ended with 1: no semicolon in a.txt',
      output: 'no semicolon in a.txt',
    });
    expect([git('rev-parse', 'HEAD'), git('status', '-s'), git('ls-files', '-s')]).toEqual([
      head,
      status,
      index,
    ]);
  });

  test('one that formats and adds a file has its way', async () => {
    const { folder, git, begin, work, commit } = await commitsIn();
    hook(folder, 'pre-commit', 'echo formatted > a.txt; echo x > log.txt; git add a.txt log.txt');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    await commit();
    expect(git('show', 'HEAD:a.txt')).toBe('formatted');
    expect(git('status', '--porcelain')).toBe('');
  });

  test('one that adds what a person has staged otherwise leaves the index of that to the person', async () => {
    const { folder, git, begin, work, commit } = await commitsIn({
      'a.txt': 'a\n',
      'b.txt': 'b\n',
    });
    hook(folder, 'pre-commit', 'git add b.txt');
    put(folder, { 'b.txt': 'staged\n' });
    git('add', 'b.txt');
    put(folder, { 'b.txt': 'later\n' });
    await begin();
    await work(1, { 'a.txt': '1\n' });
    await commit();
    expect(git('show', ':b.txt')).toBe('staged');
  });

  const TYPED = 'head -1 "$1" | grep -q "^fix: " || { echo "no type"; exit 1; }';

  test('one that refuses the subject is told from the others, and the flag is named', async () => {
    const { git, folder, begin, work, commit } = await commitsIn();
    hook(folder, 'commit-msg', TYPED);
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).settlement).toEqual({
      kind: 'not-committed',
      why: 'the commit-msg hook refuses the subject "Did it" (no type); --commit-message "chore: {task} {iteration}" gives another one',
    });
    expect(git('log', '--format=%s')).toBe('first');
    const { settlement } = await commit({}, { template: 'fix: {summary}' });
    expect(settlement.kind).toBe('committed');
  });

  test('a refusal by an earlier hook is the agent’s to fix, whatever commit-msg would say', async () => {
    const { folder, begin, work, commit } = await commitsIn();
    hook(folder, 'commit-msg', TYPED);
    hook(folder, 'pre-commit', 'echo a TODO; exit 1');
    put(folder, { '.git/COMMIT_EDITMSG': 'an earlier message of a person\n' });
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).settlement).toMatchObject({ kind: 'refused', output: 'a TODO' });
  });

  test('one that never ends is cut', async () => {
    const { folder, begin, work, commit } = await commitsIn();
    hook(folder, 'pre-commit', 'touch .git/in-hook; exec sleep 1000');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    holdTime();
    const committing = commit();
    await until(
      () => existsSync(join(folder, '.git/in-hook')),
      () => 'the hook',
    );
    expect((await passTimeThrough(committing)).settlement).toMatchObject({
      kind: 'refused',
      why: 'git commit was killed or took too long',
    });
  });

  test.for<[string, (folder: string, git: (...args: string[]) => string) => void, RegExp]>([
    ['a new hook', (folder) => hook(folder, 'post-commit', 'touch ran'), /the hook .*post-commit/],
    [
      'a changed hook',
      (folder) => hook(folder, 'pre-commit', 'touch ran'),
      /the hook .*pre-commit/,
    ],
    [
      'a hook that became executable',
      (folder) => chmodSync(join(folder, '.git/hooks/commit-msg'), 0o755),
      /the hook .*commit-msg/,
    ],
    [
      'another folder of hooks',
      (_, git) => git('config', 'core.hooksPath', 'own'),
      /core\.hookspath/,
    ],
    ['a filter', (_, git) => git('config', 'filter.x.clean', 'touch ran'), /filter\.x\.clean/],
    [
      'the program of a filter',
      (folder) => put(folder, { 'clean.sh': 'touch ran' }),
      /the filter .*clean\.sh/,
    ],
    [
      'the program of a hook in the settings',
      (folder) => put(folder, { 'lint.sh': 'touch ran' }),
      /the hook .*lint\.sh/,
    ],
    ['an author', (_, git) => git('config', 'user.name', 'Agent'), /user\.name/],
    [
      'attributes',
      (folder) => put(folder, { '.git/info/attributes': '* filter=x\n' }),
      /the file .*info\/attributes/,
    ],
  ])('the agent has changed %s: it does not run, and is named', async ([, change, named]) => {
    const { folder, git, begin, work, commit } = await commitsIn({
      'clean.sh': 'cat',
      'lint.sh': 'true',
      'a.txt': '',
    });
    git('config', 'filter.own.clean', 'sh ./clean.sh');
    git('config', 'hook.own.event', 'pre-commit');
    git('config', 'hook.own.command', 'sh ./lint.sh');
    hook(folder, 'pre-commit', 'true');
    hook(folder, 'commit-msg', 'touch ran');
    chmodSync(join(folder, '.git/hooks/commit-msg'), 0o644);
    await begin();
    change(folder, git);
    await work(1, { 'a.txt': '1\n' });
    const head = git('rev-parse', 'HEAD');
    const { settlement } = await commit();
    expect(settlement).toMatchObject({ kind: 'not-committed', why: expect.stringMatching(named) });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(git('rev-parse', 'HEAD')).toBe(head);
  });

  test('where a branch is pushed to, or a submodule comes from, is no such change', async () => {
    const { git, begin, work, commit } = await commitsIn();
    await begin();
    git('config', 'branch.work.remote', 'origin');
    // As `git submodule update --init` does.
    git('config', 'submodule.some lib.active', 'true');
    git('config', 'submodule.some lib.url', '../lib');
    git('config', 'submodule.some lib.update', 'rebase');
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).settlement).toMatchObject({ kind: 'committed' });
  });
});

describe('who commits', () => {
  test('no author is configured: nothing is committed', async () => {
    const { git, begin, work, commit } = await commitsIn();
    git('config', '--unset', 'user.email');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    expect((await commit()).settlement).toMatchObject({
      kind: 'not-committed',
      why: expect.stringContaining('user.email'),
    });
    expect(git('log', '--format=%s')).toBe('first');
  });

  test.for<[string, string, object]>([
    [
      'true',
      'echo "no key" >&2; exit 2',
      { kind: 'not-committed', why: expect.stringContaining('cannot be signed: ') },
    ],
    [
      'true',
      'echo "[GNUPG:] SIG_CREATED " >&2; echo "-----BEGIN PGP SIGNATURE-----"; cat > /dev/null',
      { kind: 'committed' },
    ],
    ['false', 'exit 2', { kind: 'committed' }],
  ])('commit.gpgSign=%s, by a program that says: %s', async ([sign, script, expected]) => {
    const { folder, git, begin, work, commit } = await commitsIn();
    git('checkout', '-q', 'main');
    put(folder, { '.git/sign': `#!/bin/sh\n${script}\n` });
    chmodSync(join(folder, '.git/sign'), 0o755);
    git('config', 'gpg.program', join(folder, '.git/sign'));
    git('config', 'commit.gpgSign', sign);
    await begin();
    await work(1, { 'a.txt': '1\n' });
    const { settlement, newBranch } = await commit();
    expect(settlement).toMatchObject(expected);
    expect(newBranch === null).toBe(settlement.kind !== 'committed');
    const isSigned = git('cat-file', 'commit', 'HEAD').includes('gpgsig');
    expect(isSigned).toBe(settlement.kind === 'committed' && sign === 'true');
  });
});

test.for<[string, NodeJS.ProcessEnv, string]>([
  ['a hook of an outer git', { GIT_DIR: '/outer/.git', GIT_PREFIX: 'x/' }, 'A Person'],
  ['a hook with an index of its own', { GIT_INDEX_FILE: '/outer/index' }, 'A Person'],
  ['nothing of the kind', {}, 'Outer'],
])('GIT_AUTHOR_NAME and the date from %s', async ([, outer, author]) => {
  const env = {
    ...GIT_ENV,
    ...{ GIT_AUTHOR_NAME: 'Outer', GIT_COMMITTER_DATE: '@1000000000 +0000' },
  };
  const { git, begin, work, commit } = await commitsIn(undefined, { ...env, ...outer });
  await begin();
  await work(1, { 'a.txt': '1\n' });
  await commit();
  const isOld = git('log', '-1', '--format=%ct') === '1000000000';
  expect([git('log', '-1', '--format=%an'), isOld]).toEqual([author, author === 'Outer']);
});

describe('done again after a kill', () => {
  test('a commit that was made is found; the index is brought up to date', async () => {
    const { folder, git, begin, work, commit } = await commitsIn();
    put(folder, { 'staged.txt': 'x' });
    git('add', 'staged.txt');
    await begin();
    const index = readFileSync(join(folder, '.git/index'));
    await work(1, { 'a.txt': '1\n', 'b.txt': 'b\n' });
    await commit();
    const head = git('rev-parse', 'HEAD');
    writeFileSync(join(folder, '.git/index'), index);
    expect((await commit({ again: true })).settlement).toEqual({
      kind: 'committed',
      commit: head,
      branch: 'work',
      files: 2,
    });
    expect(git('rev-parse', 'HEAD')).toBe(head);
    expect(git('status', '--porcelain')).toBe('A  staged.txt');
  });

  test('what a hook made of the files is the iteration’s, and a later edit is not', async () => {
    const { folder, git, begin, work, commit } = await commitsIn();
    hook(folder, 'pre-commit', 'echo formatted | tee a.txt > b.txt; git add a.txt b.txt');
    await begin();
    await work(1, { 'a.txt': '1\n', 'b.txt': 'b\n' });
    await commit();
    put(folder, { 'b.txt': 'a person’s\n' });
    const { left, rewritten } = await commit({ again: true });
    expect([[...left], rewritten]).toEqual([[['b.txt', 'others']], ['a.txt']]);
    expect(git('status', '--porcelain')).toBe('M b.txt');
  });

  test('an earlier task’s commit of the same name is none of this one', async () => {
    const { begin, work, commit, committed, git } = await commitsIn();
    git('commit', '-q', '--allow-empty', '-m', 'x\n\nRalph-Task: t\nRalph-Iteration: 1');
    await begin();
    await work(1, { 'a.txt': '1\n' });
    await commit({ again: true });
    expect(committed()).toEqual(['a.txt']);
  });

  test('what somebody changed while no driver was alive stays', async () => {
    const { folder, begin, work, commit, committed } = await commitsIn();
    await begin();
    await work(1, { 'a.txt': '1\n', 'b.txt': 'b\n' });
    put(folder, { 'a.txt': 'a person’s\n' });
    expect([...(await commit({ again: true })).left]).toEqual([['a.txt', 'others']]);
    expect(committed()).toEqual(['b.txt']);
  });
});

test('without the snapshot from before the iteration nothing is committed', async () => {
  const { ids, begin, work, commit } = await commitsIn();
  await begin();
  await work(1, { 'a.txt': '1\n' });
  await work(2, { 'a.txt': '2\n' });
  await ids.remove(new Set(['1']));
  await expect(commit({ iteration: 2 })).rejects.toThrow('the snapshot from before the iteration');
});

describe('what is rewritten at the commit', () => {
  const STAGED = 'git diff --cached --name-only --diff-filter=d';

  test.for<[string, string, readonly string[]]>([
    [
      'formats what it commits',
      `for f in $(${STAGED}); do echo f >> $f; git add $f; done`,
      ['new'],
    ],
    ['formats it and does not add it', `for f in $(${STAGED}); do echo f >> $f; done`, ['new']],
    ['formats it and refuses', `for f in $(${STAGED}); do echo f >> $f; done; exit 1`, ['new']],
    ['adds a file', 'echo 1 > made; git add made', ['made']],
    ['removes a file', 'rm new', ['new']],
    ['writes a file that is not committed', 'echo 1 >> a.txt', []],
    ['commits what a person has changed', 'git add --all', []],
    ['changes nothing', 'true', []],
  ])('a hook that %s', async ([, script, rewritten]) => {
    const { folder, begin, work, commit } = await commitsIn({ 'a.txt': 'a\n' });
    hook(folder, 'pre-commit', script);
    put(folder, { 'mine.txt': 'a person’s\n' });
    await begin();
    await work(1, { new: 'new\n' });
    expect((await commit()).rewritten).toEqual(rewritten);
  });

  test('a filter', async () => {
    const { git, begin, work, commit } = await commitsIn({ '.gitattributes': '*.up filter=up\n' });
    git('config', 'filter.up.clean', 'tr a-z A-Z');
    await begin();
    await work(1, { 'a.up': 'a\n', 'b.txt': 'b\n' });
    expect((await commit()).rewritten).toEqual(['a.up']);
  });
});
