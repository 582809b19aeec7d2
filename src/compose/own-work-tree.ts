import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { maskSecrets } from '../core/secrets/secrets.ts';
import { endingRow } from '../core/task/endings.ts';
import type { OwnWorkTree, TaskState } from '../core/task/task-state.ts';
import type { TreeLacks } from '../core/task/tree-lacks.ts';
import { firstFew, oneLine } from '../core/text/untrusted-text.ts';
import { bringBack, newestSnapshot } from '../effects/branches/bring-back.ts';
import {
  type CheckoutPlace,
  gitDirOf,
  isBranch,
  makeCheckout,
  removeCheckout,
} from '../effects/branches/checkout.ts';
import { copyFiles } from '../effects/branches/copy-files.ts';
import { noteOwner, whoseTree } from '../effects/branches/own-tree.ts';
import {
  emptySubmodules,
  hooksLeftBehind,
  ignoredLeftBehind,
} from '../effects/branches/tree-lacks.ts';
import { uncommittedFiles, unsavedPlan, unsavedWork } from '../effects/branches/unsaved-work.ts';
import type { WorkTreeClaim } from '../effects/branches/work-tree-claim.ts';
import { findGitAbove } from '../effects/files/find-git-above.ts';
import { makePrivateFolder, removeFile } from '../effects/files/write-file.ts';
import { isStillAt } from '../effects/git/configured-repository.ts';
import { gitAt } from '../effects/git/git.ts';
import { gitRefusal } from '../effects/git/git-error.ts';
import { gitWith, openRepository } from '../effects/git/open-repository.ts';
import { openPrivateGit } from '../effects/git/private-git.ts';
import { deleteRef, resolveName } from '../effects/git/questions/refs.ts';
import { findPlaces, refOf } from '../effects/git/repository.ts';
import { asText } from '../effects/git/tree-path.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import { storedSnapshotIds } from '../effects/snapshots/snapshot-ids.ts';
import { ownFiles, uncountedFolders } from '../effects/vault/vault-folders.ts';
import { messageOf } from '../errors.ts';
import type { RunEnd } from '../loop/stop.ts';
import { taskCommand } from '../printed-command.ts';
import { treeLacks } from '../report/notices.ts';
import { WorkTreeError } from '../task-errors.ts';
import { type ClaimedRun, READY, type ReadyTree, type TaskTree } from './held-run.ts';
import { confinedTo } from './sandbox/confined-to.ts';
import { runSetUp } from './user-commands.ts';
import { workTreeHolds } from './work-tree-hold.ts';

/*
 * The work tree in which a task works: the one in which it was started, or with `--worktree` its own. That is made in
 * these steps:
 *
 *   state saved ──► sign ──► branch and work tree ──► lock ──► newest snapshot ──► --copy ──► --setup ──► sign gone
 *
 * The sign is a file in the task's folder. If it is still there, a resume repeats all steps; each step leaves what an
 * earlier try has done.
 */

type TreeRun = Pick<
  ClaimedRun,
  'plan' | 'paths' | 'warn' | 'driver' | 'stops' | 'resume' | 'workTrees' | 'sandbox' | 'found'
>;

/** Locks the work tree in which the task starts, unless the task gets its own. Rejects with a `WorkTreeTakenError`. */
export async function openTaskTree(run: TreeRun): Promise<TaskTree> {
  const { plan, resume } = run;
  const own = plan.workTree === null ? null : createOwnTree(run, plan.workTree);
  const tellsOnly = resume?.announcesOnly === true;
  let claim = own !== null || tellsOnly ? null : await claimPlace(run);
  return {
    async ready(task) {
      if (own === null) return READY;
      try {
        return await own.ready(task, (held) => {
          claim = held;
        });
      } catch (error) {
        if ('exitCode' in Object(error)) throw error;
        const { path: place } = own.tree;
        const todo =
          resume === undefined
            ? '--worktree-dir names another folder'
            : 'clear that up and resume again';
        const why = `the work tree ${place} cannot be made (${messageOf(error)}); ${todo}`;
        throw new WorkTreeError(plan.taskId, why);
      }
    },
    async discard() {
      claim?.pause();
      await own?.discard().catch(() => undefined);
    },
    async whileHeld(runTask) {
      try {
        const end = await runTask();
        const isOver = !tellsOnly && claim?.isHeld() !== false;
        if (isOver) await own?.settle(end, () => claim?.pause());
        return end;
      } finally {
        claim?.release();
      }
    },
  };
}

/** Locks the work tree around the task's folder; resolves to null if there is none. */
async function claimPlace(run: TreeRun): Promise<WorkTreeClaim | null> {
  const { cwd, gitEnv } = run.plan;
  const git = gitWith(gitEnv, run.driver.run_id);
  const place = findGitAbove(cwd);
  const found = run.found !== null && isStillAt(run.found, place) ? run.found : null;
  const opened = found ?? (place === null ? null : await findPlaces(cwd, git));
  return opened && claimTree(run, opened.gitDir, opened.root);
}

function claimTree(run: TreeRun, gitDir: string, root: string): Promise<WorkTreeClaim> {
  const { plan, driver, warn, workTrees = workTreeHolds() } = run;
  const { taskId, vault, settings } = plan;
  const needsAlone = settings.commit || settings.revertFailed;
  return workTrees.hold({
    ...{ gitDir, root, driver, warn, isShared: settings.shareWorktree },
    user: { taskId, vault, needsAlone },
  });
}

const SIGN = 'work-tree-not-ready';

function createOwnTree(run: TreeRun, tree: OwnWorkTree) {
  const { plan, paths, warn, driver, stops, sandbox } = run;
  const git = gitWith(plan.gitEnv, driver.run_id);
  const sign = path.join(paths.folder, SIGN);
  /** Whether this process has made the work tree for a new task. */
  let isMade = false;
  let lacks: TreeLacks = { submodules: [], ignored: [], hooks: null };

  const place = async (): Promise<CheckoutPlace> => {
    for (const folder of [tree.origin, tree.path]) {
      const opened = await openRepository(folder, git);
      if (opened.kind === 'repository') {
        return { repository: opened.repository, git, path: tree.path };
      }
    }
    const why = `the repository of the work tree ${tree.path} was in ${tree.origin}, and git finds none there`;
    throw new WorkTreeError(plan.taskId, why);
  };

  const anothers = (): WorkTreeError => {
    const why = `the work tree ${tree.path} is another task's by now, so this one does not touch it; start it again with ralph run`;
    return new WorkTreeError(plan.taskId, why);
  };

  /** Makes the branch and the work tree. Resolves to the work tree's own git folder. */
  const make = async (at: CheckoutPlace, task: TaskState, wasGone: boolean): Promise<string> => {
    const isNew = task.status === 'pending';
    const commit = (await isBranch(at, tree.branch))
      ? tree.base
      : ((await lastHead(at, task)) ?? tree.base);
    const gitDir = await makeCheckout({
      ...{ ...at, commit, branch: tree.branch },
      async onEntered(entered) {
        if (!(await noteOwner(entered, task))) throw anothers();
        isMade = isNew;
      },
    });
    if (isNew) {
      warn(`The task works in ${tree.path}, on the new branch ${tree.branch}.`);
      await findLacks();
      await tellUncommitted(at);
    } else if (wasGone) {
      warn(`The work tree ${tree.path} was gone; it is made again from the branch ${tree.branch}.`);
    }
    return gitDir;
  };

  /** Warns about needed files that the new work tree lacks, unless `--setup` or `--copy` may bring them. */
  const findLacks = async (): Promise<void> => {
    const { setup, copy } = plan.settings;
    if (setup !== null || copy.length > 0) return;
    const submodules = await emptySubmodules(tree, git);
    lacks = { ...lacks, submodules, ignored: await ignoredLeftBehind(tree, git) };
    treeLacks(lacks).forEach(warn);
  };

  /** Warns about git hooks that the new work tree lacks. Call it after `--setup`, which may create them. */
  const findHooks = async (): Promise<void> => {
    if (!plan.settings.commit) return;
    const hooks = await hooksLeftBehind(tree, plan.gitEnv);
    treeLacks({ submodules: [], ignored: [], hooks }).forEach(warn);
    lacks = { ...lacks, hooks };
  };

  const tellUncommitted = async (at: CheckoutPlace): Promise<void> => {
    const excluded = uncountedFolders(plan.vault, plan.stateDir);
    const names = await uncommittedFiles({ cwd: tree.origin, excluded }, at.git);
    if (names.length === 0) return;
    const shown = firstFew(names, (name) => oneLine(name, 300), 1);
    warn(`What is not committed in ${tree.origin} is not in it: ${shown}.`);
  };

  /** Opens the snapshots of this task from its own work tree; resolves to null if there are none. */
  const snapshots = async (task: TaskState, root: string) => {
    if (task.git.snapshots === null) return null;
    const opened = await openRepository(root, git);
    if (opened.kind !== 'repository') return null;
    const { repository } = opened;
    const folder = path.join(paths.folder, 'git');
    const own = openPrivateGit({ folder, repository, env: plan.gitEnv, timeoutMs: GIT_TIMEOUT_MS });
    const newest = await newestSnapshot(own, storedSnapshotIds(paths.folder).all);
    return newest === null ? null : { own, newest };
  };

  const lastHead = async (at: CheckoutPlace, task: TaskState): Promise<string | null> =>
    (await snapshots(task, at.repository.root))?.newest.head ?? null;

  const restore = async (task: TaskState): Promise<void> => {
    const found = await snapshots(task, tree.path);
    if (found === null) {
      const why = 'there is no snapshot of what was not committed';
      if (task.status !== 'pending') warn(`The work tree has what the branch has: ${why}.`);
      return;
    }
    const tip = await resolveName(gitAt(git, tree.path), 'HEAD');
    const kept = await bringBack(found.own, found.newest, {
      ...{ tip: tip ?? '', base: tree.base },
      denied: await sandbox.denied(),
    });
    if (kept.length === 0) return;
    const names = kept.map((name) => asText(name)).join(', ');
    warn(`Not brought back, since the branch has changed them meanwhile: ${oneLine(names, 300)}.`);
  };

  const copy = async (): Promise<void> => {
    const globs = plan.settings.copy;
    if (globs.length === 0) return;
    const from = path.join(tree.origin, path.relative(tree.path, plan.cwd));
    const isOwn = ownFiles(plan.vault, plan.stateDir);
    const places = { from, to: plan.cwd, root: tree.path };
    const { idle } = await copyFiles({ ...places, globs, git, isOwn });
    for (const glob of idle) {
      warn(`--copy '${glob}' matches no file in ${from} that git ignores (links do not count).`);
    }
  };

  /** Removes the task's branch if it has no commit of its own. Resolves to whether the branch was removed. */
  const dropBranch = async ({ repository }: CheckoutPlace): Promise<boolean> => {
    const here = gitAt(git, repository.commonDir);
    return (await gitRefusal(deleteRef(here, refOf(tree.branch), tree.base))) === null;
  };

  const setUp = async (inside: Sandbox | null): Promise<string | null> => {
    const command = plan.settings.setup;
    if (command === null) return null;
    warn(`Setting the work tree up: ${oneLine(maskSecrets(command), 200)}`);
    return runSetUp(command, plan, { runId: driver.run_id, stops, ...confinedTo(inside) });
  };

  const planLost = async (at: CheckoutPlace): Promise<string | null> => {
    const { planFile } = plan.policy;
    if (planFile === null) return null;
    const file = path.resolve(plan.cwd, planFile);
    return unsavedPlan(at, {
      file,
      original: path.join(tree.origin, path.relative(tree.path, file)),
    });
  };

  /** Returns a sentence that names the undo command, or '' if there is nothing to undo, for a work tree that stays. */
  const undoOffer = ({ changes, git }: RunEnd['fields']): string => {
    const hasChanges = changes !== null && changes.commits + changes.files > 0;
    if (git.snapshots === null || !hasChanges) return '';
    return ` To take back its last iteration: ${taskCommand('undo', plan)}`;
  };

  return {
    tree,
    async ready(task: TaskState, onClaimed: (claim: WorkTreeClaim) => void): Promise<ReadyTree> {
      const at = await place();
      const found = await gitDirOf(at);
      const whose = found === null ? 'unknown' : whoseTree(found, task);
      if (whose === "another's") throw anothers();
      const isKnown = whose === 'own' || task.status !== 'pending';
      const isWhole = found !== null && isKnown && !existsSync(sign);
      if (!isWhole) {
        makePrivateFolder(paths.folder);
        writeFileSync(sign, '');
      }
      const gitDir = isWhole ? found : await make(at, task, found === null);
      onClaimed(await claimTree(run, gitDir, tree.path));
      if (isWhole) {
        await sandbox.open();
        return READY;
      }
      mkdirSync(plan.cwd, { recursive: true });
      await restore(task);
      await copy();
      const failure = await setUp(await sandbox.open());
      if (failure === null) removeFile(sign);
      if (failure === null && task.status === 'pending') await findHooks();
      return { setupFailed: failure === 'stopped' ? null : failure, lacks };
    },
    async discard() {
      if (!isMade) return;
      const at = await place();
      await removeCheckout(at);
      await dropBranch(at);
    },
    async settle({ fields }: RunEnd, onRemoval: () => void) {
      if (!existsSync(tree.path)) {
        warn(`The work tree ${tree.path} is gone; its branch is ${tree.branch}.`);
        return;
      }
      const { needs } = endingRow(fields.status, fields.exit_reason);
      const stays = (why: string): void =>
        warn(
          `The work tree ${tree.path} stays, since ${why}; its branch is ${tree.branch}.${undoOffer(fields)}`,
        );
      if (needs === 'a resume') return stays('the task is not over');
      if (fields.exit_reason === 'failed:setup') return stays('--setup has not succeeded in it');
      if (plan.settings.keepBackground) return stays('processes of the agent may still use it');
      try {
        const at = await place();
        const isCompleted = fields.status === 'completed';
        const why =
          (await unsavedWork(at, tree.branch)) ?? (isCompleted ? null : await planLost(at));
        if (why !== null) return stays(why);
        onRemoval();
        await removeCheckout(at);
        const isEmpty = await dropBranch(at);
        warn(
          isEmpty
            ? `The work tree ${tree.path} and its branch ${tree.branch} are removed, since nothing was committed on this branch and nothing is left in it. There is nothing to land.`
            : `The work tree ${tree.path} is removed, since all in it is committed; the branch ${tree.branch} stays. There is nothing left to undo.`,
        );
      } catch (error) {
        stays(`it cannot be removed (${messageOf(error)})`);
      }
    },
  };
}

/** The limit for one git process that reads or writes snapshots. */
const GIT_TIMEOUT_MS = 60_000;
