import { execFileSync } from 'node:child_process';
import { appendFile, chmod, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MeasuredResult } from '../../../src/core/completion/command-result.ts';
import type { Sightings } from '../../../src/core/completion/sightings.ts';
import { createGitProgress } from '../../../src/effects/snapshots/keeper/tree-progress.ts';
import { takeBaseline } from '../../../src/effects/workspace/baseline.ts';
import { createObserver, type ObserverRequest } from '../../../src/effects/workspace/observer.ts';
import type { Observer } from '../../../src/loop/ports.ts';
import { observerRequest, succeeded } from '../../fixtures/observer-request.ts';
import { measuredResult } from '../../helpers/checks.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

type Files = Readonly<Record<string, string>>;
type More = Partial<ObserverRequest>;

async function put(folder: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** A folder with files as they are at the task's start, and the observer on it. */
async function stage(files: Files, more: More | ((folder: string) => More) = {}) {
  const folder = await tempFolder();
  await put(folder, files);
  return open(folder, typeof more === 'function' ? more(folder) : more);
}

async function open(folder: string, more: More) {
  const ran: string[] = [];
  const request = observerRequest({
    cwd: folder,
    run: async (command, input) => {
      ran.push(`${command} < ${input}`);
      return succeeded(command);
    },
    ...more,
  });
  // As it comes back from baseline.json on `resume`.
  const baseline = JSON.parse(JSON.stringify(await takeBaseline(request)));
  return { folder, ran, observer: createObserver(request, baseline) };
}

/** What one iteration shows in which the agent does this. */
async function iterate(observer: Observer, agent: () => Promise<unknown>): Promise<Sightings> {
  await observer.mark();
  await agent();
  return observer.look();
}

/** A git work tree with one commit, marked, and the observer on it. */
async function stageGit(more: More | ((folder: string) => More) = {}, files: Files = {}) {
  const folder = await tempFolder();
  const home = await tempFolder();
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      cwd: folder,
      env,
      stdio: 'pipe',
    });
  await put(folder, { 'a.txt': 'a', ...files });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message=first');
  const progress = createGitProgress({ cwd: folder, excluded: [join(folder, 'Done')], env });
  await progress.mark();
  const given = typeof more === 'function' ? more(folder) : more;
  return { ...(await open(folder, { git: progress, ...given })), git };
}

const nothing = async () => {};

describe('where nothing can be looked at', () => {
  test('nothing is seen, and no sign of progress can be told', async () => {
    const { folder, observer, ran } = await stage({});
    expect(await iterate(observer, () => put(folder, { 'new.txt': '' }))).toEqual({
      watchMatches: [],
      movedFile: null,
      commands: {},
      plan: null,
      planAtStart: null,
      protectedChanged: [],
      approvalFile: null,
      progress: { git: null, watched: null },
    });
    expect(ran).toEqual([]);
  });

  test('git tells nothing outside a work tree', async () => {
    const { folder, observer } = await stage({}, (cwd) => ({
      git: createGitProgress({ cwd, excluded: [], env: { PATH: process.env.PATH } }),
    }));
    const { progress } = await iterate(observer, () => put(folder, { 'new.txt': '' }));
    expect(progress.git).toBe(null);
    expect(observer.usesGit).toBe(false);
  });
});

describe('the watched file', () => {
  test('is seen where it stands in the done folder', async () => {
    const { folder, observer } = await stage({ 'task.md': 'task', 'Done/other.md': '' }, (cwd) => ({
      donePath: join(cwd, 'Done', 'task.md'),
    }));
    expect((await iterate(observer, nothing)).movedFile).toBe(null);
    const { movedFile, progress } = await iterate(observer, () =>
      rename(join(folder, 'task.md'), join(folder, 'Done', 'task.md')),
    );
    expect(movedFile).toBe(join(folder, 'Done', 'task.md'));
    expect(progress).toEqual({ git: null, watched: null });
  });
});

describe('--until', () => {
  test('is run at each look, and only there', async () => {
    const results = [1, 0].map((exitCode) =>
      measuredResult({ ...succeeded('make check'), exitCode }),
    );
    const measured: string[] = [];
    const measure = async (command: string): Promise<MeasuredResult> => {
      measured.push(command);
      return results[measured.length - 1] ?? measuredResult(succeeded(command));
    };
    const { observer, ran } = await stage({}, { commands: { until: 'make check' }, measure });
    await observer.mark();
    expect(measured).toEqual([]);
    expect((await observer.look()).commands).toEqual({ until: results[0] });
    await observer.mark();
    expect((await observer.look()).commands).toEqual({ until: results[1] });
    expect(measured).toEqual(['make check', 'make check']);
    expect(ran).toEqual([]);
  });
});

describe('the plan file in a work tree', () => {
  const PLAN = 'sub/plan.md';
  test.for<[what: string, files: Files, onlyPlan: boolean | undefined]>([
    ['the plan alone', { [PLAN]: '- [x] a\n' }, true],
    ['the plan and another file', { [PLAN]: '- [x] a\n', 'b.txt': 'b' }, undefined],
    ['another file alone', { 'b.txt': 'b' }, undefined],
    ['nothing', {}, undefined],
  ])('is told apart where it is all that changed: %s', async ([, files, onlyPlan]) => {
    const { folder, observer } = await stageGit(
      (cwd) => ({ planFile: join(cwd, 'link', 'plan.md') }),
      { [PLAN]: '- [ ] a\n' },
    );
    // A plan is the same file by every path that leads to it.
    await symlink('sub', join(folder, 'link'));
    await observer.mark();
    await observer.look();
    const { progress } = await iterate(observer, () => put(folder, files));
    expect(progress.git?.filesChanged).toBe(Object.keys(files).length);
    expect(progress.git?.onlyPlan).toBe(onlyPlan);
  });

  test('is compared with what it was at the start of the task', async () => {
    const { folder, observer } = await stageGit(
      (cwd) => ({ planFile: join(cwd, PLAN), planSections: ['now'] }),
      { [PLAN]: '- [ ] a\n## Now\n- [ ] b\n' },
    );
    for (const text of ['## Now\n- [x] b\n', '## Now\n']) {
      expect(await iterate(observer, () => put(folder, { [PLAN]: text }))).toMatchObject({
        planAtStart: { open: 1, done: 0 },
      });
    }
  });
});

describe('the plan file', () => {
  const planned = (files: Files) => stage(files, (cwd) => ({ planFile: join(cwd, 'plan.md') }));

  test('is counted at each look', async () => {
    const { folder, observer } = await planned({ 'plan.md': '- [ ] a\n- [ ] b\n' });
    expect(await iterate(observer, nothing)).toMatchObject({
      plan: { open: 2, done: 0 },
      progress: { watched: false },
    });
    const tick = () => put(folder, { 'plan.md': '- [x] a\n- [ ] b\n' });
    expect(await iterate(observer, tick)).toMatchObject({
      plan: { open: 1, done: 1 },
      progress: { watched: true },
    });
  });

  test.for([
    ['words', '- [x] a\n- [ ] b\n\nSome words.\n'],
    ['further boxes', '- [x] a\n- [ ] b\n- [ ] c\n'],
    ['boxes that were unticked', '- [ ] a\n- [ ] b\n'],
  ] as const)('does not advance by %s', async ([, text]) => {
    const { folder, observer } = await planned({ 'plan.md': '- [x] a\n- [ ] b\n' });
    const { progress } = await iterate(observer, () => put(folder, { 'plan.md': text }));
    expect(progress.watched).toBe(false);
  });

  test('that is missing, or a folder, has no boxes; one that comes later has', async () => {
    const { folder, observer } = await planned({});
    expect(await iterate(observer, nothing)).toMatchObject({
      plan: null,
      progress: { watched: false },
    });
    await mkdir(join(folder, 'plan.md'));
    expect((await iterate(observer, nothing)).plan).toBe(null);
    await rm(join(folder, 'plan.md'), { recursive: true });
    expect(await iterate(observer, () => put(folder, { 'plan.md': '- [x] a' }))).toMatchObject({
      plan: { open: 0, done: 1 },
      progress: { watched: true },
    });
  });
});

describe('watched files as a sign of progress', () => {
  test('are held against the iteration before, not against the start', async () => {
    const { folder, observer } = await stage({ 'a.md': 'a' }, { globs: ['*.md'] });
    const change = () => appendFile(join(folder, 'a.md'), 'b');
    expect(await iterate(observer, change)).toMatchObject({
      watchMatches: ['a.md'],
      progress: { watched: true },
    });
    // It goes on to match, which is no news.
    expect(await iterate(observer, nothing)).toMatchObject({
      watchMatches: ['a.md'],
      progress: { watched: false },
    });
    expect((await iterate(observer, change)).progress.watched).toBe(true);
  });

  test('that stood there before count as progress only where they change', async () => {
    const { folder, observer } = await stage({ 'a.md': 'a' }, { globs: ['*.md'], existing: true });
    expect(await iterate(observer, nothing)).toMatchObject({
      watchMatches: ['a.md'],
      progress: { watched: false },
    });
    const touch = () => utimes(join(folder, 'a.md'), 1, 1);
    expect((await iterate(observer, touch)).progress.watched).toBe(false);
  });

  test('that an earlier attempt of the same iteration has changed still count', async () => {
    const { folder, observer } = await stage({ 'a.md': 'a', 'plan.md': '- [ ] a' }, (cwd) => ({
      globs: ['a.md'],
      planFile: join(cwd, 'plan.md'),
    }));
    await observer.mark();
    await put(folder, { 'a.md': 'b' });
    expect((await iterate(observer, nothing)).progress.watched).toBe(true);
    await observer.mark();
    await put(folder, { 'plan.md': '- [x] a' });
    expect((await iterate(observer, nothing)).progress.watched).toBe(true);
    expect((await iterate(observer, nothing)).progress.watched).toBe(false);
  });
});

describe('protected files', () => {
  const FILES = { 'test/a.test.ts': 'a', 'test/b.test.ts': 'b', 'src.ts': 's' };
  const protect = ['test/**/*.ts', 'src.ts'];

  test.for<[string, (folder: string) => Promise<unknown>, readonly string[]]>([
    ['nothing has changed', nothing, []],
    ['one was changed', (at) => put(at, { 'test/a.test.ts': 'A' }), ['test/a.test.ts']],
    ['one has grown', (at) => appendFile(join(at, 'src.ts'), ' '), ['src.ts']],
    ['one is gone', (at) => rm(join(at, 'src.ts')), ['src.ts']],
    [
      'its folder is gone',
      (at) => rm(join(at, 'test'), { recursive: true }),
      ['test/a.test.ts', 'test/b.test.ts'],
    ],
    ['one was moved', (at) => rename(join(at, 'src.ts'), join(at, 'other.ts')), ['src.ts']],
    [
      'one is a folder now',
      async (at) => {
        await rm(join(at, 'src.ts'));
        await mkdir(join(at, 'src.ts'));
      },
      ['src.ts'],
    ],
    [
      'one is a link now, to the same content',
      async (at) => {
        await rename(join(at, 'src.ts'), join(at, 'real.ts'));
        await symlink('real.ts', join(at, 'src.ts'));
      },
      ['src.ts'],
    ],
    ['a new one matches', (at) => put(at, { 'test/c.test.ts': 'c' }), []],
    ['one was only touched', (at) => utimes(join(at, 'src.ts'), 1, 1), []],
    ['one was written anew with the same content', (at) => put(at, { 'src.ts': 's' }), []],
    ['one may be run now', (at) => chmod(join(at, 'src.ts'), 0o755), []],
  ])('%s', async ([, agent, changed]) => {
    const { folder, observer } = await stage(FILES, { protect });
    const { protectedChanged } = await iterate(observer, () => agent(folder));
    expect(protectedChanged).toEqual(changed);
  });

  test('that were changed and changed back are as they were', async () => {
    const { folder, observer } = await stage(FILES, { protect });
    const change = await iterate(observer, () => put(folder, { 'src.ts': 'S' }));
    expect(change.protectedChanged).toEqual(['src.ts']);
    const undo = await iterate(observer, () => put(folder, { 'src.ts': 's' }));
    expect(undo.protectedChanged).toEqual([]);
  });

  test('are told at every look, and are no sign of progress by themselves', async () => {
    const { folder, observer } = await stage(FILES, { protect });
    await iterate(observer, () => put(folder, { 'src.ts': 'S' }));
    expect(await iterate(observer, nothing)).toMatchObject({
      protectedChanged: ['src.ts'],
      progress: { watched: null },
    });
  });
});

describe('git as a sign of progress', () => {
  test('tells what each iteration has changed, and old dirt is none', async () => {
    const { folder, observer, git } = await stageGit({}, {});
    expect((await iterate(observer, nothing)).progress.git).toEqual({
      commits: 0,
      filesChanged: 0,
    });
    const dirty = await iterate(observer, () => put(folder, { 'a.txt': 'A', 'new.txt': '' }));
    expect(dirty.progress.git).toEqual({ commits: 0, filesChanged: 2 });
    expect((await iterate(observer, nothing)).progress.git).toEqual({
      commits: 0,
      filesChanged: 0,
    });
    const commit = await iterate(observer, async () => {
      git('commit', '--quiet', '--all', '--message=second');
    });
    expect(commit.progress.git?.commits).toBe(1);
  });

  test('has what all attempts of one iteration did', async () => {
    const { folder, observer } = await stageGit();
    expect(observer.usesGit).toBe(true);
    await observer.mark();
    await put(folder, { 'one.txt': '' });
    const { progress } = await iterate(observer, () => put(folder, { 'two.txt': '' }));
    expect(progress.git?.filesChanged).toBe(2);
  });

  test("does not count the vault's own folders", async () => {
    const { folder, observer } = await stageGit();
    const { progress } = await iterate(observer, () => put(folder, { 'Done/task.md': '' }));
    expect(progress.git?.filesChanged).toBe(0);
  });
});

describe("what the user's own commands do is no progress of the agent's", () => {
  /** Each run of a command leaves a file behind, and a tick in the plan. */
  function leavesFiles(folder: string): More {
    let runs = 0;
    return {
      globs: ['*.log'],
      planFile: join(folder, 'plan.md'),
      run: async (command) => {
        runs += 1;
        await put(folder, { [`${runs}.log`]: '' });
        await appendFile(join(folder, 'plan.md'), '- [x] done\n');
        return succeeded(command);
      },
    };
  }
  const NO_PROGRESS = { git: { commits: 0, filesChanged: 0 }, watched: false };

  test('one that runs between two iterations', async () => {
    const { observer } = await stageGit(leavesFiles, { 'plan.md': '' });
    await iterate(observer, nothing);
    await observer.run('make log', '');
    expect((await iterate(observer, nothing)).progress).toEqual(NO_PROGRESS);
  });

  test("one that commits the agent's work: that was counted when it was done", async () => {
    const commit: { now: () => void } = { now: () => {} };
    const { folder, observer, git } = await stageGit({
      run: async (command) => {
        commit.now();
        return succeeded(command);
      },
    });
    commit.now = () => {
      git('add', '--all');
      git('commit', '--quiet', '--message=after');
    };
    const work = await iterate(observer, () => put(folder, { 'new.txt': '' }));
    expect(work.progress.git).toEqual({ commits: 0, filesChanged: 1 });
    await observer.run('git commit', '');
    expect((await iterate(observer, nothing)).progress.git).toEqual(NO_PROGRESS.git);
  });

  test('--until, in the very look at which it runs and in the next', async () => {
    const { observer } = await stageGit(
      (folder) => ({ ...leavesFiles(folder), until: 'npm test' }),
      { 'plan.md': '' },
    );
    expect((await iterate(observer, nothing)).progress).toEqual(NO_PROGRESS);
    expect((await iterate(observer, nothing)).progress).toEqual(NO_PROGRESS);
  });

  test('and the work after it counts again', async () => {
    const { folder, observer } = await stageGit(leavesFiles, { 'plan.md': '' });
    await iterate(observer, nothing);
    await observer.run('make log', '');
    const { progress } = await iterate(observer, () => put(folder, { 'agent.txt': '' }));
    expect(progress.git?.filesChanged).toBe(1);
  });
});
