import { rowOfState } from '../task/endings.ts';
import { msBetween } from '../task/task-state.ts';
import { isPaymentFile } from './payment.ts';
import { type FileAction, type FileFacts, type FileTask, leave } from './vault-files.ts';

/** What a decision depends on, besides the file. */
export interface Rules {
  /** ISO instant. */
  readonly now: string;
  /** How long a file must have been untouched to count as stuck. */
  readonly stuckAfterMs: number;
}

/** After this many failed rescues (tasks that were to finish a stuck file) the file is moved to `Quarantine`. */
export const MAX_RESCUES = 3;
/** A file that has changed within this time may still be being written. */
const STILL_MS = 2_000;
/** The size limit for the text of a file: that of a prompt, minus what ralph adds around the text. */
const LARGEST_BYTES = 1_000_000;

/**
 * Decides what to do with a file. The first rule that applies decides:
 *
 *   both folders   not a task, in use or not yours ─► leave
 *   In_Progress    completed ─► payment ─► a task to resume ─► failed 3 times ─► not stuck ─► what the file's
 *                  own task or its rescue requires ─► no usable text ─► otherwise a rescue
 *   Needs_Action   just written ─► payment ─► completed ─► a task to resume ─► what the file's own task
 *                  requires ─► no usable text ─► otherwise a new task
 */
export function decide(facts: FileFacts, rules: Rules): FileAction {
  return (
    noTask(facts) ??
    (facts.file.folder === 'In_Progress' ? inProgress(facts, rules) : needsAction(facts, rules))
  );
}

/** Leaves a file that is not a task, that is in use, or that belongs to somebody else; returns null for any other. */
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
  const stuckForMs = untouchedMs(file, rules);
  const isStuck = stuckForMs >= rules.stuckAfterMs;
  if (isPaymentFile(file)) {
    return isStuck ? { kind: 'to-human', why: 'payment', detail: '' } : fresh(facts, rules);
  }
  const resume =
    resumption(isOurs ? own : null, ownId, rules) ?? resumption(rescue, rescueId, rules);
  if (resume !== null) return resume;
  if (facts.failedRescues >= MAX_RESCUES) {
    return { kind: 'quarantine', failedRescues: facts.failedRescues };
  }
  if (!isStuck) return fresh(facts, rules);
  return (
    ownTask(facts, rules) ??
    heldBy(rescue) ??
    content(facts) ?? { kind: 'rescue', taskId: rescueId, stuckForMs }
  );
}

/** Whether the task is completed and the file has not changed since, so that no work is left. */
function isOver(task: FileTask | null, { file }: FileFacts): boolean {
  if (task?.standing !== 'completed' || task.finishedAt === null) return false;
  return msBetween(file.changedAt, task.finishedAt) >= 0;
}

/**
 * Returns how long ago the content of a file last changed, in milliseconds. A time to come says nothing: a program that
 * copies or unpacks files has set it. Then the change time counts, which no program can set.
 */
function untouchedMs({ touchedAt, changedAt }: FileFacts['file'], { now }: Rules): number {
  const ageMs = msBetween(touchedAt, now);
  return ageMs < 0 ? Math.max(ageMs, msBetween(changedAt, now)) : ageMs;
}

function fresh({ file }: FileFacts, rules: Rules): FileAction {
  const ageMs = Math.max(0, untouchedMs(file, rules));
  return leave('fresh', String(ageMs));
}

/** Returns the action for a task that waits for an approval, or null if it does not. */
function waiting(task: FileTask, taskId: string, { now }: Rules): FileAction | null {
  const { approval, standing } = task;
  if (standing !== 'paused_awaiting_approval' || approval === null) return null;
  if (approval.isAnswered) return { kind: 'resume', taskId };
  const overdueMs = msBetween(approval.expiresAt, now);
  if (overdueMs < 0) return { kind: 'needs-approval', request: approval.file };
  return { kind: 'overdue-approval', request: approval.file, overdueMs };
}

/** Returns the action for a task that `ralph rescue` or `watch` has run: a resume, a wait for approval, or null. */
function resumption(task: FileTask | null, taskId: string, rules: Rules): FileAction | null {
  if (task === null) return null;
  const ending = rowOfState(task.standing, task.exitReason);
  const canGoOn = ending?.verdict === 'interrupted' || ending?.isPassing === true;
  const isResumed = task.standing === 'interrupted' || canGoOn;
  return waiting(task, taskId, rules) ?? (isResumed ? { kind: 'resume', taskId } : null);
}

/** Returns the action that the state of the file's own task requires, or null if it requires none. */
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
    case 'corrupt':
    case 'newer ralph':
    case 'unreadable':
      return leave('unreadable-state', own.standing);
    default:
      if (rowOfState(own.standing, own.exitReason)?.needs === 'a resume') {
        return leave('held', own.standing);
      }
      return ownNote === null ? null : leave('noted', ownNote);
  }
}

/** Returns the action for a rescue that only a person can resume; null if a new rescue can begin. */
function heldBy(rescue: FileTask | null): FileAction | null {
  if (rescue === null) return null;
  if (rescue.standing === 'failed' && rescue.isRejected) return leave('rejected');
  switch (rescue.standing) {
    case 'corrupt':
    case 'completed':
      // A corrupt state file does not stop a new run, which moves that state file aside.
      return null;
    case 'newer ralph':
    case 'unreadable':
      return leave('unreadable-state', rescue.standing);
    default:
      return (rowOfState(rescue.standing, rescue.exitReason)?.verdict ?? 'held') === 'held'
        ? leave('held', rescue.standing)
        : null;
  }
}

/** Returns the action for a file that cannot serve as a prompt, or null if it can. */
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
  // A copied file may keep its old modification time, but its change time is new.
  const stillMs = Math.min(untouchedMs(file, rules), msBetween(file.changedAt, rules.now));
  if (stillMs < STILL_MS) return leave('unsettled');
  if (isPaymentFile(file)) return { kind: 'to-human', why: 'payment', detail: '' };
  if (isOver(own, facts)) return leave('completed');
  return (
    resumption(isOurs ? own : null, ownId, rules) ??
    ownTask(facts, rules) ??
    content(facts) ?? { kind: 'start-new', taskId: ownId }
  );
}
