import type { FileOutcome, LeaveReason, VaultFile } from '../../core/rescue/vault-files.ts';
import { commandHere } from '../../printed-command.ts';
import { formatDuration } from '../format.ts';

/** Returns a line on what ralph did with a file of the vault (a folder with tasks), or null if nothing has to be said. */
export function vaultLine(file: VaultFile, outcome: FileOutcome): string | null {
  const what = outcomeText(outcome);
  return what === null ? null : `${file.folder}/${shownName(file.name)}: ${what}`;
}

/** Replaces control characters, since a file name can contain anything but a slash. */
function shownName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}

function outcomeText(outcome: FileOutcome): string | null {
  switch (outcome.kind) {
    case 'leave':
      return LEFT[outcome.reason](shownName(outcome.detail));
    case 'ran':
      return ranText(outcome);
    case 'finished':
      return `was already completed; moved to ${shownName(outcome.movedTo)}`;
    case 'for-human':
      return `left to a human: ${HUMAN_REASONS[outcome.why]}${outcome.note === null ? '' : `; note: ${shownName(outcome.note)}`}`;
    case 'needs-approval':
      return `waits for an approval: ${shownName(outcome.request)}`;
    case 'overdue-approval':
      return `its approval has been overdue for ${formatDuration(outcome.overdueMs)}: ${shownName(outcome.request)}`;
    case 'quarantined':
      return `moved to ${shownName(outcome.movedTo)} after ${outcome.failedRescues} failed rescues`;
    case 'problem':
      return `problem: ${shownName(outcome.message.replace(/\s+/g, ' '))}`;
  }
}

/** The reasons for which a person has to deal with a file. */
export const HUMAN_REASONS = {
  payment: 'ralph never automates payments',
  'too-large': 'it is too large for a prompt',
  'front-matter': 'its front matter cannot be read',
} as const;

/** The words for each reason to leave a file alone; null: no line is printed. */
const LEFT: Readonly<Record<LeaveReason, (detail: string) => string | null>> = {
  'no-task': () => null,
  'own-note': () => null,
  unsettled: () => null,
  link: () => 'left: it is a link, and links are not followed',
  namesake: () => 'left: another file here gives the same task id; rename one of them',
  live: () => 'left: a running loop works on it',
  taken: () => 'left: another ralph works on it',
  fresh: (ageMs) => `left: touched ${formatDuration(Number(ageMs))} ago`,
  held: (standing) =>
    `left: its task is ${standing.replaceAll('_', ' ')}; ralph resume continues it`,
  'not-yours': (taskId) =>
    `left: its task was not written by you here; if it is yours, take it over: ${commandHere('resume', taskId, ['--trust'])}`,
  'beyond-pass': (what) =>
    `left: its task ${what}, which this pass was not given; ralph resume continues it`,
  'no-room': (until) => `left: the budget of the day is spent; there is room again at ${until}`,
  'unreadable-state': (standing) => `left: the state of its task cannot be read (${standing})`,
  noted: (note) => `left to a human: its own run left ${note}`,
  rejected: () => 'left to a human: the work on it was rejected',
  completed: () => 'left: its task is completed',
  'no-text': () => 'left: it is not a text file',
  unnamed: () => 'left: its name is not valid text',
  empty: () => 'left: it is empty',
  gone: () => 'left: it is gone',
};

/** Exit reasons that say no more than the status. */
const SELF_EVIDENT = new Set(['max_iterations', 'timeout']);

const HOW = { rescue: 'rescued', resume: 'resumed', 'start-new': 'started' } as const;

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
