import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type {
  Elsewhere,
  LandingEnd,
  LandingForm,
  LandingRefusal,
  Stays,
} from '../../core/snapshots/landing.ts';
import { shownPath } from '../../core/snapshots/shown-path.ts';
import { writeFileAtomic } from '../files/write-file.ts';
import { type Git, type GitSetting, gitAt } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { Patience } from '../git/git-locks.ts';
import { changesBetween, writePatch } from '../git/questions/diffs.ts';
import { commitsOfTask, mergeBase, newestOfTask } from '../git/questions/history.ts';
import { resolveCommit, setRef } from '../git/questions/refs.ts';
import { type Repository, refOf } from '../git/repository.ts';
import type { SnapshotIds } from '../snapshots/snapshot-ids.ts';
import { moveBranch } from './move-branch.ts';
import { type AddedWork, makeScratch, removeOldScratch, type ScratchTree } from './scratch-tree.ts';
import type { TaskWork } from './task-work.ts';

/*
 * Brings the work of a task to a branch of the user's ("lands" it). Only the last step changes anything of the user's.
 * If ralph is killed before that, only a work tree is left, which the next landing removes:
 *
 *   scratch work tree ──► commits, and what was left uncommitted ──► merge ──► checks ──► branch moves
 */

export interface LandRequest {
  readonly repository: Repository;
  /** Git whose calls end at once if the user stops ralph. */
  readonly git: Git;
  /** Git whose calls finish even if the user stops ralph. */
  readonly gitToEnd: Git;
  /** The folder in which the scratch work tree is made. */
  readonly parent: string;
  /** The folder of ralph's own git files, the one with which the task's work was found. */
  readonly gitFolder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly taskId: string;
  readonly work: TaskWork;
  /** Every branch, without `refs/heads/`, on which the task has made commits. */
  readonly branches: readonly string[];
  /** The beginning of the names of the task's snapshot refs; null if it has none. */
  readonly refs: string | null;
  readonly ids: SnapshotIds;
  /** The commit at which the task began; null if it is unknown. */
  readonly base: string | null;
  /** The branch to land on, without `refs/heads/`. */
  readonly onto: string;
  /** The file that lists this task and others, relative to the root: its changes do not land. Null if there is none. */
  readonly apart: string | null;
  readonly form: LandingForm;
  readonly message: string;
  /** The author of the commit, as settings of git. */
  readonly identity: readonly GitSetting[];
  /** Prepares the merged work tree and runs the task's checks in it. Resolves to null if they pass. */
  readonly check: (folder: string) => Promise<LandingRefusal | null>;
  readonly patience: Patience;
  readonly signal: AbortSignal;
}

export interface Landing {
  readonly end: LandingEnd;
  /** What the task left that does not land: each path, one character for each byte, with the reason. */
  readonly stays: Stays;
  /** How many commits the task has on branches that do not land; empty if the landing is refused. */
  readonly elsewhere: Elsewhere;
}

/**
 * Lands what a task did. Call it only while no other landing is under way in the repository. If it rejects, with a
 * `GitError` or the system's error, nothing has changed.
 */
export async function land(request: LandRequest): Promise<Landing> {
  const { repository, git, onto, work } = request;
  const target = await resolveCommit(gitAt(git, repository.commonDir), refOf(onto));
  if (target === null) throw new GitError(`there is no branch ${onto}`);
  const place = { repository, git };
  await removeOldScratch(place);
  const scratch = await makeScratch({ ...request, place, commit: work.tip });
  try {
    const added = await scratch.add(work);
    if ('kind' in added) return refused(added);
    return await landFrom(scratch, added, target, request);
  } finally {
    // If this fails, the next landing removes the work tree.
    await scratch.remove().catch(() => {});
  }
}

async function landFrom(
  scratch: ScratchTree,
  added: AddedWork,
  target: string,
  request: LandRequest,
): Promise<Landing> {
  const { work, message, form, check, signal } = request;
  const own = await withoutApart(scratch, added.tree, target, request);
  if ('kind' in own) return refused(own, added.stays);
  const { tree } = own;
  const isCommitted = tree === (await scratch.treeOf(work.tip));
  const whole = isCommitted ? work.tip : await scratch.commit(tree, [work.tip], message);
  const earlier = await earlierLanding(request, target);
  if (earlier !== null && (await holds(scratch, earlier, whole))) {
    const stays = await scratch.missingIn(target, added);
    const elsewhere = await elsewhereOf(scratch, target, request);
    return { end: { kind: 'landed-already', commit: earlier }, stays, elsewhere };
  }
  const merged = await mergeSince(earlier, { target, whole }, scratch, request);
  if ('kind' in merged) return refused(merged, added.stays);
  const stays = await scratch.missingIn(merged.tree, added);
  if (merged.tree === (await scratch.treeOf(target))) {
    if (stays.size > 0) return refused({ kind: 'left-out', stays: shownStays(stays) });
    const elsewhere = await elsewhereOf(scratch, target, request);
    if (elsewhere.size > 0) return refused({ kind: 'elsewhere', elsewhere });
    const of = work.kept === null ? 'commits' : 'work';
    const isEmpty = request.base !== null && tree === (await scratch.treeOf(request.base));
    return { end: { kind: 'nothing-new', of, isEmpty }, stays, elsewhere };
  }
  const parents = form.kind === 'merge' ? [target, whole] : [target];
  const commit = await scratch.commit(merged.tree, parents, message);
  await scratch.become(commit);
  // The agent may have put false objects into the repository, from which git has now written the files.
  await scratch.verify(commit);
  const why = signal.aborted ? STOPPED : await check(scratch.folder);
  if (signal.aborted) return refused(STOPPED, stays);
  if (why !== null) return refused(why, stays);
  // The other branches are looked at before the branch moves: a failure later would hide that the work has landed.
  const elsewhere = await elsewhereOf(scratch, commit, request);
  const end = await bringIn(scratch, { target, commit }, request);
  if (end.kind === 'landed' && form.kind === 'squash') await noteLanded(request, commit, whole);
  return { end, stays, elsewhere: end.kind === 'refused' ? new Map() : elsewhere };
}

/** Returns the task's tree, but with `apart` as in the common ancestor of both branches, so that it does not land. */
async function withoutApart(
  scratch: ScratchTree,
  tree: string,
  target: string,
  { repository, git, work, apart }: LandRequest,
): ReturnType<ScratchTree['withFileOf']> {
  if (apart === null) return { tree };
  const found = await mergeBase(gitAt(git, repository.commonDir), target, work.tip);
  return scratch.withFileOf(tree, apart, found ?? target);
}

function refused(why: LandingRefusal, stays: Stays = new Map()): Landing {
  return { end: { kind: 'refused', why }, stays, elsewhere: new Map() };
}

function shownStays(stays: Stays): Stays {
  return new Map([...stays].map(([name, why]) => [shownPath(name), why]));
}

/** Merges what a task did since `earlier`, its last landing. If that was squashed, a note says what it contained. */
async function mergeSince(
  earlier: string | null,
  { target, whole }: { readonly target: string; readonly whole: string },
  scratch: ScratchTree,
  { ids }: LandRequest,
): ReturnType<ScratchTree['merge']> {
  const landed = ids.all.find(({ name }) => name === landedName(earlier ?? ''))?.commit;
  if (landed === undefined) return scratch.merge(target, whole);
  const withLanded = async (commit: string): Promise<string> =>
    scratch.commit(await scratch.treeOf(commit), [commit, landed], 'landed before\n');
  return scratch.merge(await withLanded(target), await withLanded(whole));
}

/** Returns the name of the note (an id and a ref) that leads to the work which a squashed landing contained. */
function landedName(landing: string): string {
  return `landed/${landing}`;
}

/** Notes what a squashed landing contained. Without the note, a later landing of the same lines may be refused. */
async function noteLanded(
  { repository, gitToEnd, refs, ids }: LandRequest,
  landing: string,
  whole: string,
): Promise<void> {
  if (refs === null) return;
  const name = landedName(landing);
  await ids.add({ name, commit: whole }).catch(() => {});
  await setRef(gitAt(gitToEnd, repository.commonDir), `${refs}/${name}`, whole);
}

const STOPPED: LandingRefusal = { kind: 'stopped' };

/** Whether the commit `landed` already contains all changes of the commit `whole`. */
async function holds(scratch: ScratchTree, landed: string, whole: string): Promise<boolean> {
  const merged = await scratch.merge(landed, whole);
  return 'tree' in merged && merged.tree === (await scratch.treeOf(landed));
}

/** Counts the task's commits on each other branch whose changes the landed commit lacks. */
async function elsewhereOf(
  scratch: ScratchTree,
  landed: string,
  { repository, git, branches, onto, taskId, work }: LandRequest,
): Promise<Elsewhere> {
  const here = gitAt(git, repository.commonDir);
  const found = new Map<string, number>();
  for (const branch of branches.filter((name) => name !== onto)) {
    const others = [landed, work.tip];
    const { length } = await commitsOfTask(here, taskId, refOf(branch), { others });
    // A squashed landing or a cherry-pick brings the changes, but not the commits.
    if (length > 0 && !(await holds(scratch, landed, refOf(branch)))) found.set(branch, length);
  }
  return found;
}

/** Returns the commit of a task's newest landing on a branch, even if later changes have undone it; null if there is none. */
export function earlierLanding(
  { repository, git, base, taskId }: Pick<LandRequest, 'repository' | 'git' | 'base' | 'taskId'>,
  target: string,
): Promise<string | null> {
  return newestOfTask(gitAt(git, repository.commonDir), taskId, { from: base, to: target });
}

/** Moves the branch to the merged commit, or writes the change as a patch file, as `form` says. */
async function bringIn(
  scratch: ScratchTree,
  { target, commit }: { readonly target: string; readonly commit: string },
  { repository, git, gitToEnd, onto, form, taskId, patience }: LandRequest,
): Promise<LandingEnd> {
  const why = 'git cannot compare the commits';
  const changed = await changesBetween(gitAt(git, repository.commonDir), target, commit, { why });
  const files = changed.size;
  if (form.kind === 'patch') {
    if (existsSync(form.file)) return { kind: 'refused', why: { kind: 'file-exists' } };
    // The patch is first written to the work tree's git folder, which is not part of its files and is removed with it.
    const whole = path.join(scratch.gitDir, 'ralph.patch');
    await writePatch(gitAt(git, scratch.folder), target, commit, whole);
    await writeFileAtomic(form.file, readFileSync(whole));
    return { kind: 'written', files };
  }
  const place = { repository, git: gitToEnd, branch: onto, from: target, to: commit };
  const refusal = await moveBranch({ ...place, taskId, patience });
  return refusal === null ? { kind: 'landed', commit, files } : { kind: 'refused', why: refusal };
}
