import { decide, MAX_RESCUES, type Rules } from '../core/rescue/decide.ts';
import {
  type FileAction,
  type FileFacts,
  type FileOutcome,
  leave,
} from '../core/rescue/vault-files.ts';
import { endingRow, rowOfState } from '../core/task/endings.ts';
import { laterBy } from '../core/task/task-state.ts';
import { messageOf } from '../errors.ts';
import type { NoRoom, RanTask, TaskRequest, VaultPorts } from './ports.ts';
import { sideBySide } from './side-by-side.ts';

export interface PassOptions {
  readonly stuckAfterMs: number;
  /** Whether to start tasks for the new files, too, those in `Needs_Action`. */
  readonly startNew: boolean;
  readonly concurrency: number;
  /** How often to look for newly due files while tasks run and a place is free; absent: never. */
  readonly lookAgainMs?: number;
}

/** A cause that keeps every file from being processed, such as a missing login. */
export type CommonCause = Pick<RanTask, 'status' | 'exitReason' | 'exitCode'> & {
  /** When the cause is over, as an ISO instant; absent if unknown. */
  readonly until?: string;
};

/** The cause if the daily budget is spent, with the exit code of a task that reaches it. */
const DAY_SPENT = {
  status: 'budget_spent',
  exitReason: 'day_budget',
  exitCode: endingRow('budget_spent', 'day_budget').exitCode,
} as const;

export interface PassEnd {
  /** Why the pass (one round through the task files) ended before all were processed; null if it was not cut short. */
  readonly cause: CommonCause | null;
  /** How many files could not be processed because of an error. */
  readonly problems: number;
}

/**
 * Goes through the vault once: handles every file as `decide` says. With `lookAgainMs` it lists files again while a
 * long task runs. A cause that affects all files ends the pass: running tasks finish, and no more are started. Rejects
 * only if the folders cannot be read.
 */
export async function pass(ports: VaultPorts, options: PassOptions): Promise<PassEnd> {
  const { lookAgainMs } = options;
  const list = async () => inOrder(await ports.vault.list({ withNew: options.startNew }));
  let queue = await list();
  // All listed files are judged as of this instant, so they become due in order of age.
  let listedAt = ports.clock.now();
  let isOld = false;
  const inHand = new Set<string>();
  let cause: CommonCause | null = null;
  let problems = 0;
  let worked = 0;
  const onRan = (end: RanTask | NoRoom): void => {
    if (end.kind === 'no-room') {
      if (end.isForAll) cause ??= { ...DAY_SPENT, until: end.until };
      return;
    }
    const { status, exitReason, exitCode } = end;
    const { verdict } = endingRow(status, exitReason);
    if (verdict === 'common') cause ??= { status, exitReason, exitCode };
    else if (verdict !== 'interrupted') worked += 1;
  };
  const next = async (underWay: number): Promise<(() => Promise<void>) | null> => {
    if (cause !== null || ports.stops.signal.aborted) return null;
    if (isOld && queue.length === 0 && underWay > 0) {
      queue = (await list()).filter(({ ownId }) => !inHand.has(ownId));
      listedAt = ports.clock.now();
      isOld = false;
    }
    const facts = queue.shift();
    if (facts === undefined) return null;
    const rules = { ...options, listedAt };
    inHand.add(facts.ownId);
    return async () => {
      const outcome = await handle(facts, ports, rules, onRan).catch(
        (error: unknown): FileOutcome => ({ kind: 'problem', message: messageOf(error) }),
      );
      inHand.delete(facts.ownId);
      if (outcome.kind === 'problem') problems += 1;
      ports.report(facts.file, outcome);
    };
  };
  const wake = async (signal: AbortSignal): Promise<void> => {
    await ports.clock.waitUntil(laterBy(ports.clock.now(), lookAgainMs ?? 0), signal);
    isOld = true;
  };
  await sideBySide(options.concurrency, next, lookAgainMs === undefined ? null : wake);
  await keepBlockedNote(ports, cause, worked);
  return { cause, problems };
}

async function keepBlockedNote(
  { notes }: VaultPorts,
  cause: CommonCause | null,
  worked: number,
): Promise<void> {
  if (cause !== null) {
    const { status, exitReason } = cause;
    await notes.write({ kind: 'blocked', taskId: 'rescue', status, exitReason });
  } else if (worked > 0) await notes.clearBlocked();
}

/**
 * Sorts files: those in `In_Progress` by name, then those in `Needs_Action`, the oldest first. A file whose prompt
 * the agent's service refused comes last, so that it cannot hold up the others.
 */
function inOrder(all: readonly FileFacts[]): FileFacts[] {
  const rank = ({ file, own, rescue }: FileFacts): number => {
    const isRefused = [own, rescue].some((task) => task?.exitReason === 'failed:refused-request');
    return isRefused ? 2 : file.folder === 'In_Progress' ? 0 : 1;
  };
  return all.toSorted(
    (one, other) =>
      rank(one) - rank(other) ||
      (one.file.folder === 'Needs_Action'
        ? Date.parse(one.file.touchedAt) - Date.parse(other.file.touchedAt)
        : 0) ||
      (one.file.name < other.file.name ? -1 : 1),
  );
}

/** A file that this pass has locked, and everything that is needed to handle it. */
interface LockedFile {
  readonly facts: FileFacts;
  readonly ports: VaultPorts;
  readonly onRan: (end: RanTask | NoRoom) => void;
}

/**
 * Handles one file. `seen` may be outdated, since another pass may have moved the file. So the file is locked and
 * read again, and the decision is made again.
 */
async function handle(
  seen: FileFacts,
  ports: VaultPorts,
  { stuckAfterMs, listedAt }: PassOptions & { readonly listedAt: string },
  onRan: LockedFile['onRan'],
): Promise<FileOutcome> {
  const rules = (now: string): Rules => ({ now, stuckAfterMs });
  const first = decide(seen, rules(listedAt));
  if (first.kind === 'leave') return first;
  const hold = await ports.vault.hold(seen.ownId);
  if (hold === null) return leave('taken');
  try {
    const facts = await ports.vault.look(seen.file);
    if (facts === null) return leave('gone');
    return await act(decide(facts, rules(ports.clock.now())), { facts, ports, onRan });
  } finally {
    hold.release();
  }
}

async function act(action: FileAction, held: LockedFile): Promise<FileOutcome> {
  const { facts, ports } = held;
  const { file, ownId, rescueId } = facts;
  const path = `${file.folder}/${file.name}`;
  switch (action.kind) {
    case 'leave':
    case 'needs-approval':
      return action;
    case 'finish': {
      const movedTo = await ports.vault.move(file, 'done');
      await ports.records.close(rescueId, ports.clock.now());
      return { kind: 'finished', movedTo };
    }
    case 'to-human': {
      const { why, detail } = action;
      const note = { kind: 'for-human', taskId: ownId, file: path, why, detail } as const;
      return { kind: 'for-human', why, note: await ports.notes.write(note) };
    }
    case 'overdue-approval': {
      const { request } = action;
      await ports.notes.write({ kind: 'overdue', taskId: ownId, file: path, request });
      return action;
    }
    case 'quarantine':
      return quarantine(held, action.failedRescues);
    default:
      // Lets a later pass resume the file's own task if this pass is cut short.
      if (action.taskId === ownId) await ports.records.adopt(rescueId);
      if (action.kind === 'rescue') await countBefore(held);
      return run({ ...action, file }, held);
  }
}

/** Counts a failure of the last rescue (task for a stuck file) now, since the new rescue moves its state file away. */
async function countBefore({ facts, ports }: LockedFile): Promise<void> {
  const { rescue, rescueId } = facts;
  if (rescue !== null && rowOfState(rescue.standing, rescue.exitReason)?.verdict === 'failed') {
    await ports.records.countFailed(rescueId, rescue.startedAt);
  }
}

async function run(request: TaskRequest, held: LockedFile): Promise<FileOutcome> {
  const { facts, ports, onRan } = held;
  const { file, rescueId } = facts;
  const end = await ports.runTask(request);
  if (end.kind === 'leave') return end;
  onRan(end);
  if (end.kind === 'no-room') return leave('no-room', end.until);
  const { verdict } = endingRow(end.status, end.exitReason);
  const isRescue = request.taskId === rescueId;
  let failedRescues: number | null = null;
  if (verdict === 'failed' && isRescue) {
    failedRescues = await ports.records.countFailed(rescueId, end.startedAt);
    const isThere = (await ports.vault.look(file)) !== null;
    if (isThere && failedRescues >= MAX_RESCUES) return quarantine(held, failedRescues);
  }
  if (verdict === 'done') await ports.records.close(rescueId, ports.clock.now());
  if (verdict === 'common' && end.note !== null) await ports.notes.remove(end.note);
  const { status, exitReason } = end;
  const { kind: how, taskId } = request;
  return { kind: 'ran', how, taskId, status, exitReason, failedRescues };
}

async function quarantine(
  { facts, ports }: LockedFile,
  failedRescues: number,
): Promise<FileOutcome> {
  const { file, rescueId } = facts;
  const movedTo = await ports.vault.move(file, 'quarantine');
  await ports.records.close(rescueId, ports.clock.now());
  await ports.notes.write({ kind: 'quarantined', taskId: rescueId, file: movedTo, failedRescues });
  return { kind: 'quarantined', movedTo, failedRescues };
}
