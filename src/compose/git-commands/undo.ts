import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { shownPath } from '../../core/snapshots/shown-path.ts';
import { snapshotMessage } from '../../core/snapshots/snapshot-message.ts';
import { emptySpan, redoSpans, type UndoSpan, undoSpan } from '../../core/snapshots/timeline.ts';
import { undoHint } from '../../core/snapshots/undo-hint.ts';
import type { KeptPath, UndoPreview } from '../../core/snapshots/undo-preview.ts';
import type { Driver } from '../../core/task/task-state.ts';
import type { WorkTreeClaim } from '../../effects/branches/work-tree-claim.ts';
import { GitError } from '../../effects/git/git-error.ts';
import { type Repository, textOrNone } from '../../effects/git/repository.ts';
import { underWayIn } from '../../effects/git/under-way.ts';
import { thisDriver } from '../../effects/lock/driver-identity.ts';
import { outerEnvironment } from '../../effects/plan/outer-environment.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import {
  type HeadMove,
  moveHead,
  type PlannedMove,
  planHeadMove,
} from '../../effects/snapshots/move-head.ts';
import { isMovedByOthers } from '../../effects/snapshots/moved-head.ts';
import { isUndoCutOff } from '../../effects/snapshots/restore/begun-undo.ts';
import type { HeldPlaces } from '../../effects/snapshots/restore/held.ts';
import { type PreparedUndo, prepareUndo } from '../../effects/snapshots/restore/undo.ts';
import { openSnapshotIds } from '../../effects/snapshots/snapshot-ids.ts';
import { leaveRequest } from '../../effects/state/requests.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import { CommandError, messageOf, SandboxError } from '../../errors.ts';
import {
  TaskAlreadyActiveError,
  UntrustedTaskError,
  WorkTreeTakenError,
} from '../../task-errors.ts';
import { doubtOf, holdTask } from '../open-task.ts';
import { workTreeHolds } from '../work-tree-hold.ts';
import { otherTasksInTree } from './other-tasks.ts';
import { HELD, IGNORED_THEN, inWords, kindOf, LEFT_OUT, shownMove } from './shown-undo.ts';
import {
  changedNothing,
  missingIterations,
  type NamedTask,
  openTaskSnapshots,
  type TaskSnapshots,
  unknownIteration,
} from './task-snapshots.ts';

/** The undo or redo that a person asked for. */
export interface UndoWish {
  /** The first iteration to undo; null for the last one, and for a redo. */
  readonly iteration: number | null;
  readonly redo: boolean;
  readonly force: boolean;
  /** Whether HEAD and the index are moved, too; `if-own`: only if nobody else has moved them since the task began. */
  readonly hard: boolean | 'if-own';
}

/** A task whose changes may be undone. */
export interface UndoneTask extends NamedTask {
  readonly place: SealedPlace;
  readonly isOwn: boolean;
  /** Whether the task can be resumed, so that its next prompt can mention the undo. */
  readonly canBeResumed: boolean;
}

/** An undo or redo that waits for a person's yes. The task stays locked until `close`. */
export interface OpenUndo {
  readonly preview: UndoPreview;
  readonly isNothing: boolean;
  /** Carries out the undo or redo. Resolves to the paths that could not be restored. Rejects with a `CommandError`. */
  carryOut(): Promise<readonly KeptPath[]>;
  close(): void;
}

/** Prepares an undo or a redo, and changes no file. Rejects with a `CommandError` or an error about the task. */
export async function openUndo(task: UndoneTask, wish: UndoWish): Promise<OpenUndo> {
  const { state, paths, place, isOwn } = task;
  const taskId = state.task_id;
  const seal = sealAt(place, true);
  const driver = thisDriver(systemClock.now(), randomUUID());
  const hold = await holdTask(paths, taskId, driver);
  try {
    const doubt = doubtOf(paths, { kind: 'task', state, isOwn }, seal);
    if (doubt !== null) throw new UntrustedTaskError(taskId, paths.stateDir, doubt, []);
    const ids = openSnapshotIds({ folder: paths.folder, seal, task: state });
    const snapshots = await openTaskSnapshots(task, driver.run_id, true, ids);
    const tree = await holdWorkTree(task, snapshots, driver);
    const close = (): void => {
      tree.release();
      hold.release();
    };
    const places = { denied: await deniedTo(task, snapshots), start: snapshots.keeper.start };
    return await withinSnapshots(task, wish, snapshots, places).then(
      (undo) => ({ ...undo, close }),
      (error: unknown) => {
        tree.release();
        throw error;
      },
    );
  } catch (error) {
    hold.release();
    throw asNothingDone(error);
  }
}

/** Returns the paths that the agent cannot write in the task's sandbox; none without a sandbox. */
async function deniedTo(
  { state, paths, vault, place }: UndoneTask,
  { taskId, keeper }: TaskSnapshots,
): Promise<readonly string[]> {
  const stored = readStoredRun(paths.folder);
  if (stored?.settings.sandbox !== true) return [];
  const { deniedLater } = await import('../sandbox/run-sandbox.ts');
  const env = outerEnvironment(process.env, stored);
  const facts = { state, stored, vault, env, stateDir: place.stateDir, keyFile: place.keyFile };
  try {
    return await deniedLater(facts, keeper.git.repository.root);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new CommandError(
      `ralph undo cannot tell what the sandbox of task ${taskId} keeps from its agent: ${error.message}`,
    );
  }
}

/** Locks the work tree, so that no task starts in it. Rejects with `TaskAlreadyActiveError`. */
async function holdWorkTree(
  { vault }: NamedTask,
  { taskId, keeper }: TaskSnapshots,
  driver: Driver,
): Promise<Pick<WorkTreeClaim, 'release'>> {
  const { gitDir, root } = keeper.git.repository;
  const user = { taskId, vault, needsAlone: true };
  // Without a lock there is no warning: if the lock cannot be written, the undo itself reports that it cannot write.
  const request = { gitDir, root, driver, user, isShared: false, warn: () => {} };
  return workTreeHolds()
    .hold(request)
    .catch((error: unknown) => {
      if (!(error instanceof WorkTreeTakenError)) throw error;
      const sentence = `ralph undo needs the work tree ${root} for itself, and ${error.who} works there; end that first.`;
      throw new TaskAlreadyActiveError(taskId, error.who, sentence);
    });
}

async function withinSnapshots(
  task: UndoneTask,
  wish: UndoWish,
  snapshots: TaskSnapshots,
  places: HeldPlaces,
): Promise<Omit<OpenUndo, 'close'>> {
  const { keeper, newest, taskId } = snapshots;
  const { git, store } = keeper;
  const { iteration, spans } = spansOf(task, snapshots, wish);
  const { prepared, move, isNothing } = await firstToDo(spans, async (span) => {
    const move = await moveFor(wish, snapshots, span);
    if (!wish.hard || move === OTHERS) refuseUnderWay(git.repository, span, taskId);
    return { prepared: await prepareUndo({ git, store, span, force: wish.force, places }), move };
  });
  const { plan, span, held, ignored, submodules, leftOut } = prepared;
  const restored = [...plan.restore].filter(([name]) => !submodules.has(name));
  const preview: UndoPreview = {
    ...{ taskId, iteration },
    changes: [
      ...restored.map(([name, change]) => ({ path: shownPath(name), kind: kindOf(change) })),
      ...[...submodules.keys()].map((name) => ({ path: shownPath(name), kind: 'filled' as const })),
    ],
    kept: [
      ...plan.kept.map((name) => `${shownPath(name)}${ignored.has(name) ? IGNORED_THEN : ''}`),
      ...held.map((name) => `${shownPath(name)}${HELD}`),
    ],
    leftOut: [...leftOut].map(([name, why]) => ({ path: shownPath(name), why: LEFT_OUT[why] })),
    missing: missingIterations(task, snapshots),
    others: otherTasksInTree(task, git.repository.root, span.base.at),
    move: move.kind === 'move' ? shownMove(move.move) : null,
    whyNoMove: move.kind === 'refused' ? move.why : null,
  };

  return {
    preview,
    isNothing,
    async carryOut() {
      const at = systemClock.now();
      const subject = span.isRedo ? 'before a redo' : `before the undo of iteration ${iteration}`;
      const about = { taskId, order: newest.order + 1, at, subject };
      const moved = move.kind === 'move' ? move.move : null;
      await prepared
        .keep(
          ({ branch }, undone) => snapshotMessage({ ...about, branch, undone }),
          moved === null ? [] : commitsOf(moved, git.repository),
        )
        .catch((error: unknown) => {
          throw asNothingDone(error);
        });
      let hasBegun = false;
      try {
        const blocked = await prepared.restore();
        hasBegun = true;
        if (moved !== null) await moveHead(git, moved);
        prepared.end(blocked);
        const paths = [...plan.restore.keys(), ...plan.already.keys()];
        const done = paths.filter((name) => !blocked.has(name)).sort();
        const text = undoHint({ iteration, paths: done, hasMovedHead: moved !== null });
        if (task.canBeResumed) await leaveHint(task, text, at);
        return [...blocked].map(([name, why]) => ({ path: shownPath(name), why: inWords(why) }));
      } catch (error) {
        if (!hasBegun) throw asNothingDone(error);
        throw new CommandError(
          `The files are back, but not all else is: ${messageOf(error)}. The same command finishes it.`,
        );
      }
    },
  };
}

const OTHERS: PlannedMove = { kind: 'refused', why: 'somebody else has committed since' };

async function moveFor(
  { hard }: UndoWish,
  { keeper: { git }, timeline, taskId }: TaskSnapshots,
  { base }: UndoSpan,
): Promise<PlannedMove> {
  if (!hard) return { kind: 'none' };
  const planned = await planHeadMove(git, base);
  if (hard !== 'if-own' || planned.kind !== 'move') return planned;
  return (await isMovedByOthers(git, timeline, taskId, planned.move)) ? OTHERS : planned;
}

function spansOf(
  task: NamedTask,
  snapshots: TaskSnapshots,
  wish: UndoWish,
): { readonly iteration: number | null; readonly spans: readonly UndoSpan[] } {
  const { timeline, taskId, iterations, keeper, newest } = snapshots;
  if (wish.redo) {
    const spans = redoSpans(timeline, isUndoCutOff(keeper.git, newest));
    if (spans.length > 0) return { iteration: null, spans };
    throw new CommandError(
      `ralph undo --redo takes back the newest undo that is not redone, and since the last iteration of task ${taskId} there is none.`,
    );
  }
  const newestOf = task.state.iterations.at(-1)?.number;
  const iteration = wish.iteration ?? iterations.at(-1) ?? newestOf;
  if (iteration === undefined) throw unknownIteration(snapshots, 'its last iteration');
  const isEmpty = changedNothing(task, snapshots, { first: iteration, last: Number.MAX_VALUE });
  const span = isEmpty ? emptySpan(timeline) : undoSpan(timeline, iteration);
  if (span === null) throw unknownIteration(snapshots, `iteration ${iteration}`);
  return { iteration, spans: [span] };
}

interface ChosenUndo {
  readonly prepared: PreparedUndo;
  readonly move: PlannedMove;
}

/** Prepares the undo of each span, one after the other, until one has something to do. */
async function firstToDo(
  [span, ...others]: readonly UndoSpan[],
  prepare: (span: UndoSpan) => Promise<ChosenUndo>,
): Promise<ChosenUndo & { readonly isNothing: boolean }> {
  if (span === undefined) throw new Error('there is nothing to prepare');
  const chosen = await prepare(span);
  const { prepared, move } = chosen;
  // A redo that leaves files as others changed them counts as done, so that the next redo takes the undo before it.
  const passes = span.isRedo && span.begun === null && prepared.plan.kept.length > 0;
  const isNothing = prepared.isNothing && move.kind !== 'move' && !passes;
  return isNothing && others.length > 0 ? firstToDo(others, prepare) : { ...chosen, isNothing };
}

/** Throws if a merge or the like has begun since the snapshot: a commit after the undo would lose the merged branch. */
function refuseUnderWay(repository: Repository, { base }: UndoSpan, taskId: string): void {
  const [since] = underWayIn(repository.gitDir).filter((name) => !base.underWay.includes(name));
  if (since === undefined) return;
  throw new CommandError(
    `Nothing was taken back: a ${since} is under way in the work tree of ${taskId} and was not then. End it first, or let ralph undo --hard end it.`,
  );
}

/** Returns commits that may be on no branch once HEAD has moved: the branch's tip, and those being merged. */
function commitsOf({ tip }: HeadMove, { gitDir }: Repository): readonly string[] {
  const lines = textOrNone(path.join(gitDir, 'MERGE_HEAD')).split('\n');
  const merged = lines.filter((line) => /^[0-9a-f]{40,64}$/.test(line));
  return tip === null ? merged : [tip, ...merged];
}

async function leaveHint({ paths, place }: UndoneTask, text: string, at: string): Promise<void> {
  await leaveRequest(paths.folder, { kind: 'tell', text }, at, sealAt(place, true));
}

/** Turns an error that came before any change of files into a sentence that says so. */
function asNothingDone(error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error;
  if (!(error instanceof GitError) && !isSystem) return error;
  return new CommandError(`Nothing was taken back: ${messageOf(error).replace(/\.$/, '')}.`);
}
