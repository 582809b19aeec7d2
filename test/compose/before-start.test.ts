import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { lookAhead, requireStart } from '../../src/compose/before-start.ts';
import { requirePlanAfterSetup } from '../../src/effects/plan/plan-left-behind.ts';
import { legPlan } from '../helpers/leg-plan.ts';
import { GIT_ENV, makeRepository, put } from '../helpers/repository.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// What a run could not do where it is to start: why it is refused, and what is only said.

type Given = Readonly<Record<string, unknown>>;
type Env = Readonly<Record<string, string>>;

const ENV: Env = { ...GIT_ENV, PATH: process.env.PATH ?? '' };

async function outlookIn(folder: string, settings: Given = {}, env: Env = ENV, isNew = true) {
  const { refusals, notices } = await lookAhead({
    plan: await legPlan(folder, env, settings),
    isNew,
  });
  return { refusals: refusals.map(({ message }) => message), notices };
}

const NOTHING = { refusals: [], notices: [] };

afterEach(() => void vi.unstubAllEnvs());

describe('an author', () => {
  const AUTHOR = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com' };
  const COMMITTER = { GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' };

  test.for<[string, Env, readonly string[], boolean]>([
    ['none', {}, [], false],
    ['a name alone', {}, ['user.name=a'], false],
    ['by the configuration', {}, ['user.name=a', 'user.email=a@example.com'], true],
    ['by variables', { ...AUTHOR, ...COMMITTER }, [], true],
    ['by variables for one of the two', AUTHOR, [], false],
    ['by variables and the configuration', AUTHOR, ['committer.name=a', 'committer.email=b'], true],
  ])('%s', async ([, variables, configured, isKnown]) => {
    const { folder, git } = await makeRepository();
    for (const setting of configured) git('config', ...setting.split('='));
    const { refusals } = await outlookIn(folder, { commit: true }, { ...ENV, ...variables });
    const refusal = expect.stringMatching(
      /^the test commits in your name.*user\.name.*user\.email/,
    );
    expect(refusals).toEqual(isKnown ? [] : [refusal]);
  });

  test('is needed for commits alone, by a resumed task as well', async () => {
    const { folder } = await makeRepository();
    expect(await outlookIn(folder)).toEqual(NOTHING);
    expect((await outlookIn(folder, { commit: true }, ENV, false)).refusals).toHaveLength(1);
  });
});

describe('the folder for temporary files', () => {
  const PROVED = { verify: ['true'], proof: 'hold' };

  test.for([
    ['is missing', '/dev/null/none'],
    ['is a file', '/etc/hostname'],
    ['is relative', '.'],
  ] as const)(
    '%s: where a claim may be checked in a checkout, its variable is named',
    async ([, place]) => {
      const { folder } = await makeRepository();
      const refusal = expect.stringMatching(new RegExp(`^TMPDIR expects .* found ${place}`));
      vi.stubEnv('TMPDIR', place);
      const clean = { verify: ['true'], verifyClean: true };
      for (const settings of [PROVED, clean, { proof: 'hold', until: 'true' }]) {
        expect((await outlookIn(folder, settings)).refusals).toEqual([refusal]);
      }
      for (const settings of [{}, { proof: 'hold' }, { verify: ['true'], proof: 'tell' }]) {
        expect((await outlookIn(folder, settings)).refusals).toEqual([]);
      }
    },
  );

  test('is not needed where nothing can be checked out', async () => {
    vi.stubEnv('TMPDIR', '/dev/null/none');
    const folder = await tempFolder('/tmp');
    expect(await outlookIn(folder, PROVED)).toEqual(NOTHING);
  });
});

describe('git', () => {
  test('that does not open the repository is told of, with the reason', async () => {
    const { folder, git } = await makeRepository();
    git('config', 'core.repositoryFormatVersion', '9');
    const { refusals, notices } = await outlookIn(folder);
    expect(refusals).toEqual([]);
    expect(notices).toEqual([
      expect.stringMatching(
        /^No snapshots, diff and undo: they need a git work tree, and git does not open the one at .* \(.*version.*\)\.$/,
      ),
    ]);
    expect(await outlookIn(folder, { snapshots: false })).toEqual(NOTHING);
  });

  test('that refuses the owner is told of, with what allows it', async () => {
    const { folder } = await makeRepository();
    // It says the same of the folder of another user.
    const env = { ...ENV, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1', PATH: await assuming(ENV) };
    const { notices } = await outlookIn(folder, {}, env);
    expect(notices).toEqual([
      expect.stringContaining(`git config --global --add safe.directory ${folder} allows it`),
    ]);
  });

  test('that is not there is the reason itself', async () => {
    const { folder } = await makeRepository();
    const { notices } = await outlookIn(folder, {}, { ...ENV, PATH: '/dev/null/none' });
    expect(notices).toEqual([expect.stringContaining('(git was not found')]);
  });

  test('is not missed where there is no repository', async () => {
    const folder = await tempFolder();
    expect(await outlookIn(folder)).toEqual(NOTHING);
  });
});

/** A PATH with a git that knows a variable of its own tests, which ralph does not pass on. */
async function assuming({ PATH = '' }: Env): Promise<string> {
  const bin = await tempFolder();
  const script = `#!/bin/sh\nPATH=${PATH} GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec git "$@"\n`;
  writeFileSync(join(bin, 'git'), script);
  chmodSync(join(bin, 'git'), 0o755);
  return `${bin}:${PATH}`;
}

describe('a plan file', () => {
  test.for<[string, string | null, Given, RegExp | null]>([
    ['that is not there', null, {}, /names P\.md, and there is no such file/],
    ['without a box', '# Plan\n', {}, /names P\.md, which has no box:/],
    [
      'without one in its section',
      '# A\n- [ ] a\n# B\n',
      { planSection: ['B'] },
      /no box below 'B'/,
    ],
    ['with a box', '- [x] a\n', {}, null],
    ['with a box in its section', '# A\n# B\n- [] b\n', { planSection: ['b'] }, null],
  ])('%s', async ([, text, more, notice]) => {
    const folder = await tempFolder();
    if (text !== null) put(folder, { 'P.md': text });
    const { refusals, notices } = await outlookIn(folder, { planFile: 'P.md', ...more });
    expect(refusals).toEqual([]);
    expect(notices).toEqual(notice === null ? [] : [expect.stringMatching(notice)]);
  });

  test('of a new work tree is the one where the task is started, or the one elsewhere', async () => {
    const { folder } = await makeRepository({ 'P.md': '- [ ] a' });
    const elsewhere = await tempFolder();
    put(elsewhere, { 'P.md': '- [ ] a' });
    for (const planFile of ['P.md', join(elsewhere, 'P.md')]) {
      expect(await outlookIn(folder, { worktree: true, planFile })).toEqual(NOTHING);
    }
  });

  test('that --setup may write into a new work tree is not missed', async () => {
    const { folder } = await makeRepository();
    const settings = { planFile: 'P.md', setup: 'true' };
    expect(await outlookIn(folder, { ...settings, worktree: true })).toEqual(NOTHING);
    const { notices } = await outlookIn(folder, {
      ...settings,
      verify: ['true'],
      verifyClean: true,
    });
    expect(notices).toEqual([expect.stringContaining('there is no such file')]);
  });

  test('that is a folder cannot be read', async () => {
    const folder = await tempFolder();
    mkdirSync(join(folder, 'P.md'));
    const { notices } = await outlookIn(folder, { planFile: 'P.md' });
    expect(notices).toEqual([expect.stringContaining('cannot be read as a plan')]);
  });

  test('is told of once in a process that runs several tasks', async () => {
    const folder = await tempFolder();
    const plan = await legPlan(folder, ENV, { planFile: 'P.md' });
    const coming = { plan, isNew: true, said: new Set<string>() };
    expect((await requireStart(coming)).notices).toHaveLength(1);
    expect((await requireStart(coming)).notices).toEqual([]);
  });
});

describe('a plan file that a new work tree does not have', () => {
  async function stage() {
    const { folder, git } = await makeRepository({ '.gitignore': 'hidden\n', 'in.md': '- [ ] a' });
    put(folder, { 'hidden/P.md': '- [ ] a', 'new.md': '- [ ] a' });
    git('branch', 'earlier');
    put(folder, { 'later.md': '- [ ] a' });
    symlinkSync('in.md', join(folder, 'link.md'));
    symlinkSync('hidden', join(folder, 'door'));
    git('add', 'later.md', 'link.md', 'door');
    git('commit', '-q', '-m', 'second');
    symlinkSync('in.md', join(folder, 'own.md'));
    const ask = (planFile: string, more: Given = {}, isNew = true) =>
      outlookIn(folder, { worktree: true, planFile, ...more }, ENV, isNew);
    return { folder, ask };
  }

  test.for<[string, string, Given, RegExp | null]>([
    ['that is committed', 'in.md', {}, null],
    ['that the agent has to write', 'nowhere.md', {}, null],
    ['that git ignores', 'hidden/P.md', {}, /git ignores hidden\/P\.md.*--copy "hidden\/P\.md"/],
    ['that is copied', 'hidden/P.md', { copy: ['hidden/**'] }, null],
    ['that is not committed', 'new.md', {}, /new\.md is not committed in HEAD.*commit it/],
    ['that is not committed, and not copied', 'new.md', { copy: ['*.md'] }, /is not committed/],
    ['that is not in the base', 'later.md', { base: 'earlier' }, /not committed in earlier/],
    ['that is in the base', 'later.md', {}, null],
    ['behind a link', 'link.md', {}, null],
    ['behind a link that is not committed', 'own.md', {}, /own\.md is not committed in HEAD/],
    ['behind a link to what git ignores', 'door/P.md', {}, /--copy "hidden\/P\.md"/],
    ['behind a link to what is copied', 'door/P.md', { copy: ['hidden/**'] }, null],
    ['that --setup may bring', 'hidden/P.md', { setup: 'true' }, null],
  ])('%s', async ([, planFile, more, refusal]) => {
    const { ask } = await stage();
    const { refusals } = await ask(planFile, more);
    expect(refusals).toEqual(refusal === null ? [] : [expect.stringMatching(refusal)]);
  });

  test('is no matter once the task has begun', async () => {
    const { ask } = await stage();
    expect((await ask('new.md', {}, false)).refusals).toEqual([]);
  });

  test('is asked for again after --setup', async () => {
    const { folder } = await stage();
    const settings = { worktree: true, planFile: 'hidden/P.md', setup: 'true' };
    const plan = await legPlan(folder, ENV, settings);
    await expect(requirePlanAfterSetup(plan)).rejects.toThrow(/--copy "hidden\/P\.md"/);
    put(plan.cwd, { 'hidden/P.md': '- [ ] a' });
    try {
      await requirePlanAfterSetup(plan);
    } finally {
      rmSync(`${folder}.ralph`, { recursive: true });
    }
    expect(existsSync(plan.cwd)).toBe(false);
  });
});
