import type { AgentName } from '../../core/agent/agents/agents.ts';
import type { VaultNote } from '../../core/rescue/vault-files.ts';
import { withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { commandHere, fromItsFolder } from '../../printed-command.ts';
import { remedyFor } from '../ending-lines.ts';
import { HUMAN_REASONS } from '../screens/vault-line.ts';
import { frontMatter, inlineText } from './markdown.ts';

/** What every note mentions that ralph leaves when it goes over the files of the vault, a folder with tasks. */
interface NoteContext {
  /** ISO instant. */
  readonly created: string;
  readonly agent: AgentName;
  readonly stateDir: string;
}

/** The word for `<reason>` in a note's file name, `RALPH_<reason>_<task_id>_<timestamp>.md`. */
export const NOTE_REASONS: Readonly<Record<VaultNote['kind'], string>> = {
  'for-human': 'HUMAN',
  overdue: 'OVERDUE',
  quarantined: 'QUARANTINED',
  blocked: 'BLOCKED',
};

/** Returns the Markdown text of a note that a pass over the vault's files leaves for a person. */
export function renderVaultNote(facts: VaultNote, context: NoteContext): string {
  const note = withoutControlsIn(facts);
  const { title, reason, body } = contentOf(note, context);
  const front = frontMatter({
    type: `ralph_${NOTE_REASONS[note.kind].toLowerCase()}`,
    task_id: note.taskId,
    reason,
    ...('file' in note ? { file: note.file } : {}),
    created: context.created,
    state_dir: context.stateDir,
  });
  return [front, `# ${title}`, ...body].join('\n\n').concat('\n');
}

interface NoteContent {
  readonly title: string;
  readonly reason: string;
  readonly body: readonly string[];
}

function contentOf(note: VaultNote, { agent }: NoteContext): NoteContent {
  switch (note.kind) {
    case 'for-human':
      return {
        title: `For a human: ${inlineText(note.file)}`,
        reason: note.why,
        body: [
          `ralph does not process this file: ${HUMAN_REASONS[note.why]}${note.detail === '' ? '' : ` (${inlineText(note.detail)})`}.`,
          'Do the work yourself and move the file to `Done`, or correct the problem. You can delete this note.',
        ],
      };
    case 'overdue':
      return {
        title: `An approval is overdue: ${inlineText(note.file)}`,
        reason: 'approval-overdue',
        body: [
          `The work on this file waits for an answer to ${inlineText(note.request)}.`,
          'Move the request from `Pending_Approval` to `Approved` or to `Rejected`; the next pass continues from there.',
        ],
      };
    case 'quarantined':
      return {
        title: `Moved to quarantine: ${inlineText(note.file)}`,
        reason: 'failed-rescues',
        body: [
          `${note.failedRescues} rescues of this file have failed, so it was moved to \`Quarantine\`. \`${fromItsFolder(commandHere('logs', note.taskId))}\` shows what the last one did.`,
          'Correct the file, and move it back to `In_Progress` or `Needs_Action` to try it again.',
        ],
      };
    case 'blocked':
      return blocked(note, agent);
  }
}

function blocked(note: Extract<VaultNote, { kind: 'blocked' }>, agent: AgentName): NoteContent {
  const remedy = remedyFor(note.status, note.exitReason, agent, null);
  const isLimit = note.status === 'usage_limited' || note.exitReason === 'day_budget';
  return {
    title: 'ralph cannot process any file of the vault',
    reason: note.exitReason,
    body: [
      `The last pass ended with: ${note.status.replaceAll('_', ' ')} (${inlineText(note.exitReason)}). This affects every file, so no rescue was counted as failed.`,
      isLimit
        ? 'The limit resets by itself; the next pass tries again.'
        : `What to do: ${remedy ?? 'read the logs of the last task'}. The next pass then continues.`,
    ],
  };
}
