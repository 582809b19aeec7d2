import type { FileOutcome, LeaveReason, VaultFile } from '../core/vault-work.ts';
import { formatDuration } from './format.ts';

/** What became of a file in a pass, one line; null for files that were never meant as tasks. */
export function vaultLine(file: VaultFile, outcome: FileOutcome): string | null {
  const what = outcomeText(outcome);
  return what === null ? null : `${file.folder}/${shownName(file.name)}: ${what}`;
}

/** A name may hold anything but a slash: nothing in it may act on a terminal, or begin a line. */
function shownName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}

function outcomeText(outcome: FileOutcome): string | null {
  switch (outcome.kind) {
    case 'left':
      return LEFT[outcome.action.reason](shownName(outcome.action.detail));
    case 'ran':
      return ranText(outcome);
    case 'finished':
      return `was completed already; moved to ${shownName(outcome.movedTo)}`;
    case 'for-human':
      return `left to a human: ${WHY[outcome.why]}${outcome.note === null ? '' : `; note: ${shownName(outcome.note)}`}`;
    case 'needs-approval':
      return `waits for an approval: ${shownName(outcome.request)}`;
    case 'approval-overdue':
      return `its approval is overdue for ${formatDuration(outcome.overdueMs)}: ${shownName(outcome.request)}`;
    case 'quarantined':
      return `moved to ${shownName(outcome.movedTo)} after ${outcome.failedRescues} failed rescues`;
    case 'problem':
      return `a problem: ${shownName(outcome.message.replace(/\s+/g, ' '))}`;
  }
}

/** Reasons why a human has to see to a file. */
export const WHY = {
  payment: 'a payment is never looped',
  'too-large': 'it is too large for a prompt',
  'front-matter': 'its front matter cannot be read',
} as const;

/** Each with what more is known; null leaves no line. */
const LEFT: Readonly<Record<LeaveReason, (detail: string) => string | null>> = {
  'no-task': () => null,
  'own-note': () => null,
  unsettled: () => null,
  link: () => 'left: it is a link, and links are not followed',
  namesake: () => 'left: another file here would be a task of the same id; rename one of them',
  live: () => 'left: a live loop has it',
  taken: () => 'left: another ralph is at it',
  fresh: (ageMs) => `left: touched ${formatDuration(Number(ageMs))} ago`,
  held: (standing) => `left: its task is ${standing.replaceAll('_', ' ')}; ralph resume goes on`,
  'not-yours': (taskId) =>
    `left: its task was not written by you here; if it is yours, ralph resume ${taskId} --trust takes it over`,
  'beyond-pass': (what) =>
    `left: its task ${what}, which this pass was not given; ralph resume goes on with it`,
  'unreadable-state': (standing) => `left: the state of its task cannot be read (${standing})`,
  noted: (note) => `left to a human: its own run has left ${note}`,
  rejected: () => 'left to a human: the work on it was rejected',
  completed: () => 'left: its task is completed',
  'no-text': () => 'left: it is no text',
  unnamed: () => 'left: its name is no text',
  empty: () => 'left: it is empty',
  gone: () => 'left: it is gone',
};

/** Reasons that only repeat the status. */
const SELF_EVIDENT = new Set(['max_iterations', 'timeout']);

const HOW = { rescue: 'rescued', resume: 'gone on with', 'start-new': 'started' } as const;

function ranText({
  how,
  taskId,
  status,
  exitReason,
  failedRescues,
}: Extract<FileOutcome, { kind: 'ran' }>): string {
  if (status === 'completed') return `${HOW[how]} and completed as ${taskId}`;
  if (status === 'paused_awaiting_approval') {
    return `${HOW[how]} as ${taskId}; it waits for an approval in Pending_Approval`;
  }
  const why =
    exitReason === status || SELF_EVIDENT.has(exitReason) ? '' : ` (${shownName(exitReason)})`;
  const count = failedRescues === null ? '' : `; failed rescues: ${failedRescues}`;
  return `${HOW[how]} as ${taskId}, not completed: ${status.replaceAll('_', ' ')}${why}${count}`;
}
