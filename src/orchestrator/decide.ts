import { msBetween } from '../core/task-state.ts';
import type { FileAction, FileFacts, FileTask, LeaveReason } from '../core/vault-work.ts';
import { canGoOn, verdictOf } from './endings.ts';
import { isPaymentFile } from './payment.ts';

/** By what a pass decides. */
export interface Rules {
  /** ISO instant. */
  readonly now: string;
  /** How long a file must have been untouched to count as stuck. */
  readonly stuckAfterMs: number;
}

/** After so many failed rescues a file is put away. */
export const MAX_RESCUES = 3;
/** A file that is still being written must not be started. */
const STILL_MS = 2_000;
/** As much as a prompt may hold, less what stands around it. */
const LARGEST_BYTES = 1_000_000;

/**
 * What is done with a file, from data to data: the first rule that applies.
 *
 *   no task of anybody's ─► live ─► completed ─► In_Progress: ours, its rescue's, failed 3 times, stuck?
 *                                                │            payment, own task, text ─► rescue
 *                                                └ Needs_Action: still? payment, own task, text ─► start
 */
export function decide(facts: FileFacts, rules: Rules): FileAction {
  return (
    noTask(facts) ??
    (facts.file.folder === 'In_Progress' ? inProgress(facts, rules) : needsAction(facts, rules))
  );
}

/** Files that nobody meant as a task, and those that somebody is at. */
function noTask({ file, own, ownId, rescue, rescueId }: FileFacts): FileAction | null {
  if (/^RALPH_.+\.md$/i.test(file.name) || /^ralph_/i.test(file.frontMatter.type ?? '')) {
    return leave('own-note');
  }
  if (file.kind === 'link') return leave('link');
  if (file.kind === 'other' || isTemporary(file.name)) return leave('no-task');
  if (file.folder === 'Needs_Action' && !/\.(?:md|txt)$/i.test(file.name)) return leave('no-task');
  if (file.kind === 'unnamed') return leave('unnamed');
  if (own?.standing === 'live' || rescue?.standing === 'live') return leave('live');
  if (own?.isOwn === false) return leave('not-yours', ownId);
  if (rescue?.isOwn === false) return leave('not-yours', rescueId);
  return file.hasNamesake ? leave('namesake') : null;
}

function isTemporary(name: string): boolean {
  return name.startsWith('.') || name.startsWith('~') || /(?:~|\.part|\.tmp)$/i.test(name);
}

function inProgress(facts: FileFacts, rules: Rules): FileAction {
  const { file, own, ownId, rescue, rescueId, isOurs } = facts;
  if (isOver(own, facts)) return { kind: 'finish', taskId: ownId };
  if (isOver(rescue, facts)) return { kind: 'finish', taskId: rescueId };
  const isStuck = msBetween(file.touchedAt, rules.now) >= rules.stuckAfterMs;
  if (isPaymentFile(file)) {
    return isStuck ? { kind: 'to-human', why: 'payment', detail: '' } : fresh(facts, rules);
  }
  if (isOurs && own !== null) {
    const goOn = waiting(own, ownId, rules) ?? goOnWith(own, ownId);
    if (goOn !== null) return goOn;
  }
  if (rescue !== null) {
    const goOn = waiting(rescue, rescueId, rules) ?? goOnWith(rescue, rescueId);
    if (goOn !== null) return goOn;
  }
  if (facts.failedRescues >= MAX_RESCUES) {
    return { kind: 'quarantine', failedRescues: facts.failedRescues };
  }
  if (!isStuck) return fresh(facts, rules);
  return (
    ownTask(facts, rules) ??
    heldBy(rescue) ??
    content(facts) ?? {
      kind: 'rescue',
      taskId: rescueId,
      stuckForMs: msBetween(file.touchedAt, rules.now),
    }
  );
}

/** Completed, and nobody has touched or moved the file since: what is left to do is to move it. */
function isOver(task: FileTask | null, { file }: FileFacts): boolean {
  if (task?.standing !== 'completed' || task.finishedAt === null) return false;
  return msBetween(file.changedAt, task.finishedAt) >= 0;
}

function fresh({ file }: FileFacts, { now }: Rules): FileAction {
  const ageMs = Math.max(0, msBetween(file.touchedAt, now));
  return leave('fresh', String(ageMs));
}

/** A task that waits to be allowed something: it goes on when that is answered. */
function waiting(task: FileTask, taskId: string, { now }: Rules): FileAction | null {
  const { approval, standing } = task;
  if (standing !== 'paused_awaiting_approval' || approval === null) return null;
  if (approval.isAnswered) return { kind: 'resume', taskId };
  const overdueMs = msBetween(approval.expiresAt, now);
  if (overdueMs < 0) return { kind: 'needs-approval', request: approval.file };
  return {
    kind: 'overdue-approval',
    request: approval.file,
    overdueMs,
  };
}

function goOnWith(task: FileTask, taskId: string): FileAction | null {
  return canGoOn(task) ? { kind: 'resume', taskId } : null;
}

/** What the file's own task says about it; null where it says nothing. */
function ownTask({ own, ownId, ownNote }: FileFacts, rules: Rules): FileAction | null {
  if (own === null) return ownNote === null ? null : leave('noted', ownNote);
  if (own.isKeptByProgram && own.standing !== 'completed')
    return leave('held', 'kept by a program');
  switch (own.standing) {
    case 'interrupted':
      return { kind: 'resume', taskId: ownId };
    case 'completed':
      return null;
    case 'paused_awaiting_approval':
      return own.approval?.isAnswered === true
        ? leave('held', own.standing)
        : (waiting(own, ownId, rules) ?? leave('held', own.standing));
    case 'paused':
    case 'stopped':
    case 'usage_limited':
      return leave('held', own.standing);
    case 'corrupt':
    case 'newer ralph':
    case 'unreadable':
      return leave('unreadable-state', own.standing);
    default:
      return ownNote === null ? null : leave('noted', ownNote);
  }
}

/** A rescue that a person has to go on with. */
function heldBy(rescue: FileTask | null): FileAction | null {
  if (rescue === null) return null;
  if (rescue.standing === 'failed' && rescue.isRejected) return leave('rejected');
  switch (rescue.standing) {
    case 'corrupt':
    case 'completed':
      // A corrupt state is kept aside by whoever begins afresh.
      return null;
    case 'newer ralph':
    case 'unreadable':
      return leave('unreadable-state', rescue.standing);
    default:
      return verdictOf(rescue.standing, rescue.exitReason) === 'held'
        ? leave('held', rescue.standing)
        : null;
  }
}

/** What keeps a file from being a prompt; null where nothing does. */
function content({ file }: FileFacts): FileAction | null {
  const { frontMatter, sizeBytes, text } = file;
  if (sizeBytes > LARGEST_BYTES) return { kind: 'to-human', why: 'too-large', detail: '' };
  if (text === null) return leave('no-text');
  if (text.trim() === '') return leave('empty');
  if (frontMatter.problem !== null) {
    return { kind: 'to-human', why: 'front-matter', detail: frontMatter.problem };
  }
  return null;
}

function needsAction(facts: FileFacts, rules: Rules): FileAction {
  const { file, own, ownId, isOurs } = facts;
  const { now } = rules;
  // What was copied with its old time has arrived only now.
  const stillMs = Math.min(msBetween(file.touchedAt, now), msBetween(file.changedAt, now));
  if (stillMs < STILL_MS) return leave('unsettled');
  if (isPaymentFile(file)) return { kind: 'to-human', why: 'payment', detail: '' };
  if (isOver(own, facts)) return leave('completed');
  if (own !== null && isOurs) {
    const goOn = waiting(own, ownId, rules) ?? goOnWith(own, ownId);
    if (goOn !== null) return goOn;
  }
  return ownTask(facts, rules) ?? content(facts) ?? { kind: 'start-new', taskId: ownId };
}

function leave(reason: LeaveReason, detail = ''): Extract<FileAction, { kind: 'leave' }> {
  return { kind: 'leave', reason, detail };
}
