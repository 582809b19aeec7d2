import type { TreeToKeep } from '../../../core/machine/action.ts';
import { leakyRemotes } from '../../../core/snapshots/shared-refs.ts';
import { snapshotMessage } from '../../../core/snapshots/snapshot-message.ts';
import {
  attemptNames,
  endNames,
  readSnapshotName,
  START,
  startNames,
} from '../../../core/snapshots/snapshot-names.ts';
import type { Timeline } from '../../../core/snapshots/timeline.ts';
import { messageOf } from '../../../errors.ts';
import type { Snapshots } from '../../../loop/ports.ts';
import { findGitAbove } from '../../files/find-git-above.ts';
import { realPath } from '../../files/real-path.ts';
import { findConfigured } from '../../git/configured-repository.ts';
import { type Git, gitIn, hearing } from '../../git/git.ts';
import { didNotAnswer, GitError } from '../../git/git-error.ts';
import { eachSetting, type ListedSettings, listSettings } from '../../git/listed-settings.ts';
import { allBut, type Pathspecs } from '../../git/pathspecs.ts';
import { openPrivateGit, type PrivateGit } from '../../git/private-git.ts';
import type { Places } from '../../git/repository.ts';
import type { TreePath } from '../../git/tree-path.ts';
import type { InnerRepository } from '../../workspace/inner-repositories.ts';
import type { SnapshotIds } from '../snapshot-ids.ts';
import { listSnapshots } from '../snapshot-list.ts';
import { putRefsRight } from '../snapshot-ref.ts';
import { createSnapshotStore, type KeptTree, type SnapshotStore } from '../snapshot-store.ts';
import { createSigns, innerNotices, keptNotices } from './kept-notices.ts';

export interface TreeKeeperRequest {
  readonly cwd: string;
  /** Where this process has found the repository before; null or absent if it has not. */
  readonly found?: Places | null;
  /** Absolute paths of folders that never belong to a snapshot. */
  readonly excluded: readonly string[];
  /** Patterns of files that never belong to a snapshot, relative to the root of the work tree. */
  readonly excludedGlobs: readonly string[];
  /** The size of the largest untracked file that is kept, in bytes. */
  readonly maxBytes: number;
  /** Where ralph's own git folder is; it is created. */
  readonly folder: string;
  readonly taskId: string;
  readonly ids: SnapshotIds;
  readonly env: NodeJS.ProcessEnv;
  readonly runId: string;
  /** Aborting this signal kills git at once. */
  readonly signal: AbortSignal;
  readonly now: () => string;
  /**
   * Tells a person, once, why there is no snapshot. If git did not answer, `missing` says which snapshot is missing,
   * such as `of iteration 3`; otherwise it is null.
   */
  readonly warn: (why: string, missing: string | null) => void;
  /** Tells a person which files are in no snapshot or look like secrets, or what may push snapshots to a remote. */
  readonly notice: (sentence: string) => void;
}

/** Makes the snapshots of one task's work tree. */
export interface TreeKeeper extends Snapshots {
  readonly git: PrivateGit;
  /** Git's settings as they were when the keeper was opened; null if git could not list them. */
  readonly settings: ListedSettings | null;
  readonly store: SnapshotStore;
  /** The beginning of the names of the snapshots' refs. */
  readonly refs: string;
  /** Whether the newest snapshot could be made. */
  readonly isWorking: boolean;
  /**
   * Returns the tree id of the work tree as it is, without what git ignores; null if a program has run since the
   * newest snapshot, or if that snapshot failed or lacks more than ignored files.
   */
  knownTree(): string | null;
  /** Makes `knownTree` null. Called when a program other than the agent starts that may change the work tree. */
  loseTree(): void;
  /** Whether the folder is still in the same repository. */
  isHere(): boolean;
  /** Makes a snapshot of just what a hook or filter wrote at an iteration's commit, as work of the iteration. */
  keepRewritten(iteration: number, paths: readonly TreePath[]): Promise<void>;
  /** Makes a snapshot after checks, as work of the iteration. Returns the earlier snapshot's tree; null for none. */
  keepChecked(iteration: number): Promise<string | null>;
  /** Returns the files that the agent has changed since the last call; null if they are unknown. */
  filesTouched(): readonly TreePath[] | null;
  /** Tells a person of work in repositories inside the tree that no snapshot keeps. */
  tellInner(repositories: readonly InnerRepository[]): void;
  /** Returns the trees of the first and the newest snapshot; null if there is none. */
  ends(): { readonly first: string; readonly newest: string } | null;
  /** The tree from before the first iteration; null if its snapshot is gone or was never made. */
  readonly start: string | null;
  /** Returns the number of the next snapshot, which the caller then makes without this object. */
  nextOrder(): number;
  /**
   * Writes the work tree to git's objects without a snapshot: the next snapshot is made as if this had not happened.
   * Rejects with a `GitError`, or the system's error.
   */
  keepUnnamed(): Promise<KeptTree>;
  timeline(): Promise<Timeline>;
  /** Makes missing refs again, and tells a person which refs somebody has moved or removed. */
  mendRefs(): Promise<void>;
}

/** The limit for one call of git, in ms. The first snapshot of a large repository takes minutes. */
const TIMEOUT_MS = 5 * 60_000;
/** After this many failures in a row no more snapshots are tried: each failure may take up to `TIMEOUT_MS`. */
const FAILURES_AT_MOST = 5;

/**
 * Opens the snapshots of a task. Null if the folder is in no work tree, or git refuses to open it. Rejects with a
 * `GitError` if git does not answer, or if the configuration names another work tree: an undo would write there.
 */
export async function openTreeKeeper(request: TreeKeeperRequest): Promise<TreeKeeper | null> {
  const { cwd, excluded, folder, env, runId, signal, ids } = request;
  const place = findGitAbove(cwd);
  if (place === null) return null;
  let unanswered: string | null = null;
  const limits = { env, runId, signal, timeoutMs: TIMEOUT_MS };
  const heard = (git: Git): Git =>
    hearing(git, (command) => {
      unanswered = command;
    });
  const outer = heard(gitIn(cwd, limits));
  const configured = await findConfigured({
    ...{ cwd, place, git: outer, home: env.HOME, found: request.found ?? null },
    // Runs as the user, so that the list has none of the settings that ralph itself passes to git.
    listSettings: () => listSettings(heard(gitIn(cwd, { ...limits, asUser: true }))),
  });
  if (configured === null) {
    if (unanswered !== null) throw new GitError(didNotAnswer(unanswered));
    return null;
  }
  const { repository, settings } = configured;
  if (realPath(repository.root) !== place) {
    throw new GitError(`core.worktree leads from ${place} to ${repository.root}`);
  }
  const git = openPrivateGit({ folder, repository, ...limits });
  const pathspecs = allBut(excluded, repository.root, request.excludedGlobs);
  if (ids.all.length === 0) {
    for (const { says, remedy } of leakyRemotes(eachSetting(settings))) {
      request.notice(`${says}; to keep them here: ${remedy}`);
    }
  }
  const earlier = await listSnapshots(git.own, ids.all);
  return createTreeKeeper({ ...request, git, settings, place, pathspecs, earlier });
}

interface OpenKeeper extends TreeKeeperRequest {
  readonly earlier: Timeline;
  readonly git: PrivateGit;
  readonly settings: ListedSettings | null;
  readonly place: string;
  readonly pathspecs: Pathspecs;
}

function createTreeKeeper(request: OpenKeeper): TreeKeeper {
  const { git, cwd, place, ids, earlier, pathspecs, maxBytes, taskId } = request;
  const { now, warn, notice } = request;
  const last = earlier.snapshots.at(-1) ?? null;
  const newStore = (newest: SnapshotStore['newest']): SnapshotStore =>
    createSnapshotStore({ git, ids, newest, maxBytes, pathspecs });
  let store = newStore(last);
  let first = earlier.snapshots[0]?.tree ?? null;
  const treeAtStart = earlier.snapshots.find(({ name }) => name === START)?.tree ?? null;
  let start = ids.isFromStart ? treeAtStart : null;
  let order = last?.order ?? 0;
  let known: string | null = null;
  let failures = 0;
  let hasWarned = false;
  /** The paths that snapshots found changed since `filesTouched` was called; null if unknown. */
  let touched: Set<TreePath> | null = new Set();
  const signs = createSigns(git.repository);
  const said = new Set<string>();
  let newestKept: KeptTree | null = null;
  /** Whether neither the agent nor a program of the task can have changed anything since the tree was kept. */
  let isUndisturbed = false;

  /** Returns the id of a kept tree if only ignored files are missing from it, and null if others are or may be. */
  function wholeTree({ leftOut, nested, tree }: KeptTree): string | null {
    const isWhole = leftOut.size + nested.size + request.excludedGlobs.length === 0;
    return isWhole ? tree : null;
  }

  /** The changes that `keepUnnamed` has written: they also count as changes of the next snapshot. */
  let unnamed: Pick<KeptTree, 'changed' | 'secrets'> = { changed: [], secrets: [] };

  const keepTree = async (): Promise<KeptTree> => {
    const kept = await store.keepTree();
    const changed = [...new Set([...unnamed.changed, ...kept.changed])];
    return { ...kept, changed, secrets: [...new Set([...unnamed.secrets, ...kept.secrets])] };
  };

  const isHere = (): boolean => findGitAbove(cwd) === place;

  /** Called before a second try: the user's `git gc` may have removed objects to which no ref led yet. */
  const startOver = (): void => {
    store = newStore(null);
    touched = null;
  };

  /** Whether the newest snapshot is that of an undo. It holds the tree from before the undo, not what came later. */
  const isAfterUndo = (): boolean => readSnapshotName(store.newest?.name ?? '')?.kind === 'undo';

  /** Makes a snapshot under the first free name, unless nothing differs from the newest one. */
  const keep = async (free: Iterable<string>, subject: string): Promise<KeptTree> => {
    const kept = await keepTree();
    if (!kept.isAsNewest || isAfterUndo()) await keepAs(kept, free, subject);
    return kept;
  };

  const keepAs = async (kept: KeptTree, free: Iterable<string>, subject: string): Promise<void> => {
    const about = { taskId, order: order + 1, at: now(), subject };
    const { name, tree } = await store.keep(kept, free, ({ branch }) =>
      snapshotMessage({ ...about, branch }),
    );
    order += 1;
    first ??= tree;
    if (name === START && ids.isFromStart) start = tree;
  };

  /** Tells a person which paths are not kept. Resolves to those of them that changed since the last call. */
  const tellOf = async (kept: KeptTree): Promise<readonly TreePath[]> => {
    unnamed = { changed: [], secrets: [] };
    const moved = await signs.changedSince(kept);
    for (const each of keptNotices(kept, said)) notice(each);
    newestKept = kept;
    return moved;
  };

  const tryToKeep = async (free: () => Iterable<string>, subject: string, missing: string) => {
    known = null;
    isUndisturbed = false;
    if (failures >= FAILURES_AT_MOST) return null;
    git.unanswered = null;
    try {
      const kept = await keep(free(), subject).catch((error) => {
        startOver();
        // Git did not answer, and would hang again.
        if (git.unanswered !== null) throw error;
        return keep(free(), subject);
      });
      failures = 0;
      known = wholeTree(kept);
      isUndisturbed = true;
      return { changed: kept.changed, moved: await tellOf(kept) };
    } catch (error) {
      failures += 1;
      // A gap in the numbers shows that a snapshot is missing.
      order += 1;
      if (!hasWarned) tell(error, missing);
      hasWarned = true;
      return null;
    }
  };

  const tell = (error: unknown, missing: string): void => {
    if (git.unanswered === null) warn(messageOf(error), null);
    else warn(didNotAnswer(git.unanswered), missing);
  };

  const before = async (iteration: number): Promise<void> => {
    if (isUndisturbed && !store.hasMoved() && isHere()) return;
    const isFirst = first === null && iteration === 1;
    const free = () => startNames(iteration, isFirst);
    await tryToKeep(free, `before iteration ${iteration}`, `from before iteration ${iteration}`);
  };

  return {
    git,
    settings: request.settings,
    refs: ids.refs,
    get store() {
      return store;
    },
    get isWorking() {
      return failures === 0;
    },
    knownTree: () => known,
    loseTree() {
      known = null;
      isUndisturbed = false;
    },
    disturb() {
      isUndisturbed = false;
    },
    isHere,
    before,
    async after({ iteration, as, outcome }: TreeToKeep) {
      // Until now, the task ran without snapshots, so this one cannot show what the iteration changed.
      if (first === null) return before(iteration);
      if (as === 'missing-end' && ids.all.some(({ name }) => name === String(iteration))) {
        known = null;
        return;
      }
      const free = () => (as === 'attempt' ? attemptNames(iteration) : endNames(iteration));
      const subject = `iteration ${iteration}: ${outcome}`;
      const kept = await tryToKeep(free, subject, `of iteration ${iteration}`);
      if (kept === null || touched === null) return;
      for (const name of [...kept.changed, ...kept.moved]) touched.add(name);
    },
    async keepRewritten(iteration, paths) {
      if (paths.length === 0) return;
      known = null;
      isUndisturbed = false;
      try {
        const kept = await store.keepTree(new Set(paths));
        if (kept.tree === store.newest?.tree) return;
        await keepAs(kept, endNames(iteration), `iteration ${iteration}: rewritten at its commit`);
      } catch {
        // The next snapshot has these changes, though not as work of the iteration.
      }
    },
    async keepChecked(iteration) {
      const before = store.newest?.tree ?? null;
      const subject = `iteration ${iteration}: after its checks`;
      await tryToKeep(() => endNames(iteration), subject, `of iteration ${iteration}`);
      // A judge (another agent) or the like may run next, and take so long that others write meanwhile.
      isUndisturbed = false;
      return before;
    },
    filesTouched() {
      const names = touched === null ? null : [...touched];
      touched = new Set();
      return names;
    },
    tellInner(repositories) {
      if (newestKept === null) return;
      for (const each of innerNotices(newestKept, repositories, said)) notice(each);
    },
    ends() {
      const newest = store.newest?.tree ?? null;
      return first === null || newest === null ? null : { first, newest };
    },
    get start() {
      return start;
    },
    nextOrder() {
      order += 1;
      return order;
    },
    async keepUnnamed() {
      isUndisturbed = false;
      const kept = await keepTree().catch(() => {
        startOver();
        return keepTree();
      });
      unnamed = kept;
      return kept;
    },
    timeline: () => listSnapshots(git.own, ids.all),
    async mendRefs() {
      for (const sentence of await putRefsRight(git, ids)) {
        if (!said.has(sentence)) notice(sentence);
        said.add(sentence);
      }
    },
  };
}
