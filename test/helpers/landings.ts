import { join } from 'node:path';
import type { LandingForm, LandingRefusal } from '../../src/core/snapshots/landing.ts';
import type { OwnWorkTree } from '../../src/core/task/task-state.ts';
import { type Landing, land } from '../../src/effects/branches/land.ts';
import { findTaskWork } from '../../src/effects/branches/task-work.ts';
import { askGit, makeGit } from '../../src/effects/git/call/git.ts';
import { createPatience } from '../../src/effects/git/git-locks.ts';
import { gitIdentity } from '../../src/effects/git/identity.ts';
import { checkoutsOf } from './checkouts.ts';
import { type Files, GIT_ENV, gitIn, makeRepository } from './repository.ts';
import { idsBelow, idsInMemory } from './snapshots.ts';
import { tempFolder } from './temp-folder.ts';

const NAMED = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

interface LandOptions {
  readonly onto?: string;
  readonly apart?: string | null;
  readonly form?: LandingForm;
  readonly check?: (folder: string) => Promise<LandingRefusal | null>;
  readonly env?: NodeJS.ProcessEnv;
  /** The folder of the scratch work tree. */
  readonly parent?: string;
  readonly signal?: AbortSignal;
  /** On which the task has made commits. */
  readonly branches?: readonly string[];
  /** Called before and after git moves a branch that is checked out. */
  readonly atMove?: (when: 'before' | 'after') => void;
  /** Called instead of each pause in which a lock is waited for. */
  readonly onPause?: () => void;
  /** As `--snapshot-exclude` has them. */
  readonly excludedGlobs?: readonly string[];
}

/** A repository on `main`, with a task `t` that has a work tree of its own. */
export async function makeLanding(files: Files = { 'a.txt': 'a\n', 'b.txt': 'b\n' }) {
  const { folder, git } = await makeRepository(files);
  const trees = await tempFolder();
  const landedIds = idsInMemory();
  /** Gives a task a work tree on the branch `ralph/<id>`. */
  const addTask = (taskId: string) => {
    const place = join(trees, taskId);
    const base = git('rev-parse', 'main');
    git('worktree', 'add', '-q', '-b', `ralph/${taskId}`, place, 'main');
    const tree: OwnWorkTree = {
      ...{ path: place, branch: `ralph/${taskId}`, base, onto: 'main', origin: folder },
    };
    return { taskId, tree, folder: place, git: gitIn(place) };
  };
  /** Lands a task as `ralph land` does, but for what the task's settings say. */
  const landTask = async (
    { taskId, tree }: ReturnType<typeof addTask>,
    {
      onto = 'main',
      form = { kind: 'squash' },
      check,
      env = {},
      signal,
      parent = trees,
      excludedGlobs = [],
      atMove,
      onPause,
      apart = null,
      branches = [],
    }: LandOptions = {},
  ): Promise<Landing> => {
    const { repository, git: ralphs } = await checkoutsOf(folder, env);
    const gitFolder = await tempFolder();
    const own = { repository, git: ralphs, gitFolder, env: { ...GIT_ENV, ...env } };
    const work = await findTaskWork({
      ...{ ...own, taskId, branch: tree.branch, tree, ids: idsBelow(folder, taskId) },
      ...{ maxBytes: 1_000, excludedGlobs },
    });
    if ('kind' in work) {
      return { end: { kind: 'refused', why: work }, stays: new Map(), elsewhere: new Map() };
    }
    const gitToEnd = makeGit(async (args, extras) => {
      if (!args.includes('--ff-only')) return askGit(ralphs, args, extras);
      atMove?.('before');
      const answer = await askGit(ralphs, args, extras);
      atMove?.('after');
      return answer;
    });
    return land({
      ...{ ...own, gitToEnd, parent, taskId, work, base: tree.base, onto, form, apart },
      ...{ refs: `refs/ralph/${taskId}`, ids: landedIds },
      message: `Do ${taskId}\n\nRalph-Task: ${taskId}\n`,
      identity: gitIdentity(NAMED),
      check: check ?? (async () => null),
      branches,
      patience: createPatience(async () => onPause?.()),
      signal: signal ?? new AbortController().signal,
    });
  };
  return { folder, git, trees, addTask, landTask, task: addTask('t') };
}
