import { DEFAULT_AGENT, isAgentName } from '../../core/agent/agents/agents.ts';
import type { Briefing, BriefTask } from '../../core/task/briefing.ts';
import { type EndedStatus, endingRow, isEnded } from '../../core/task/endings.ts';
import type { ShownState } from '../../core/task/shown-task.ts';
import type { TaskGit } from '../../core/task/task-state.ts';
import { shellQuote, type TaskPlace, taskCommand } from '../../printed-command.ts';
import { furtherFindings, proofText, remedyFor } from '../ending-lines.ts';
import { formatCost, formatDuration, plural } from '../format.ts';
import { resumeCommand } from '../resume-command.ts';
import { isForeign, NOT_YOURS } from '../screens/status.ts';

// The words of a briefing, shared by Markdown and HTML.

const STATES: Readonly<Record<Exclude<ShownState, EndedStatus>, string>> = {
  interrupted: 'interrupted',
  running: 'running',
  pending: 'about to start',
  corrupt: 'damaged',
  'newer ralph': 'written by a newer ralph',
  unreadable: 'unreadable',
};

export function stateWords(state: ShownState): string {
  return isEnded(state) ? endingRow(state, null).words : STATES[state];
}

/** Returns the reason for a task's state as a clause; empty if the state needs no explanation. */
export function stateReason(task: BriefTask): string {
  const why = whyOf(task);
  if (!isForeign(task.shown)) return why;
  return why === '' ? NOT_YOURS : `${NOT_YOURS}: ${why}`;
}

function whyOf({ shown, task }: BriefTask): string {
  if (task === null) return `its state in ${shown.stateFile} cannot be read`;
  switch (shown.state) {
    case 'completed': {
      const { evidence } = task;
      // A state that this user did not write proves nothing.
      if (evidence === null || !shown.isOwn) return '';
      const claim = `${evidence.kind.replaceAll('-', ' ')}: ${evidence.detail}`;
      return evidence.proof === undefined ? claim : `${claim}; ${proofText(evidence.proof)}`;
    }
    case 'paused_awaiting_approval':
      return task.approval === null ? '' : task.approval.what;
    case 'interrupted':
      return 'its driver died';
    case 'running':
    case 'pending':
      return shown.last ?? '';
    case 'failed':
    case 'stalled':
    case 'usage_limited':
      return failure(task.exit_reason ?? '', task.errors.at(-1)?.message ?? '');
    default:
      return '';
  }
}

/** Returns what was found against a completed task, apart from what its reason says; most tasks have none. */
export function findingsOf({ shown, task }: BriefTask): readonly string[] {
  return shown.isOwn ? furtherFindings(task?.evidence?.proof) : [];
}

function failure(exitReason: string, error: string): string {
  const cause = exitReason.replace(/^failed:/, '').replace(/[-_]/g, ' ');
  return [cause, error].filter((part) => part !== '').join(': ');
}

/** Returns general advice for a task that ended, or null if there is none. */
export function remedyOf({ shown, task }: BriefTask): string | null {
  const agent = task?.agent ?? null;
  const known = isAgentName(agent) ? agent : DEFAULT_AGENT;
  const failure = shown.state === 'failed' ? (task?.errors.at(-1)?.message ?? null) : null;
  return remedyFor(shown.state, task?.exit_reason ?? '', known, failure, task?.accepting);
}

/** Returns the shell command that answers a task's request or resumes the task; null if no command can. */
export function commandOf(
  { shown, task }: BriefTask,
  { vault, stateDir, keyFlag, fleetWords }: Briefing,
): string | null {
  if (task === null || shown.archived) return null;
  const facts = {
    ...{ taskId: shown.taskId, vault, stateDir, keyFlag, needsTrust: isForeign(shown) },
    ...(fleetWords === undefined ? {} : { fleetWords }),
  };
  // In a fleet (machines that share tasks), an expired request cannot be answered, but a resume asks again.
  const canAnswer = fleetWords === undefined || shown.finishedAt === null;
  if (shown.state === 'paused_awaiting_approval' && canAnswer) {
    // An answer runs nothing from the task, so the command needs no `--trust`.
    return taskCommand('approve', facts);
  }
  if (task.kept_by === 'library') return null;
  switch (shown.state) {
    case 'completed':
    case 'running':
    case 'pending':
      return null;
    default:
      return resumeCommand(facts, shown.state, task.exit_reason, {
        ...(task.accepting === undefined ? {} : { accepting: task.accepting }),
      });
  }
}

/** Returns what `of` makes of a task's git facts; null for a task that is not this user's, or not on this machine. */
export function gitFacts<T>(
  { shown, task }: BriefTask,
  { vault, stateDir, keyFlag, fleetWords }: Briefing,
  of: (git: TaskGit, place: TaskPlace) => T | null,
): T | null {
  if (task === null || isForeign(shown) || fleetWords !== undefined) return null;
  return of(task.git, { taskId: shown.taskId, vault, stateDir, keyFlag });
}

/** Returns the shell command that prints a file. */
export function readCommand(file: string): string {
  return `cat ${shellQuote(file)}`;
}

/** Says what was used within the period: `3 iterations, 12m 05s, $1.20`. */
export function usedWords({
  iterations,
  workMs,
  costUsd,
}: Pick<BriefTask, 'workMs' | 'costUsd'> & { readonly iterations: number }): string {
  return [
    plural(iterations, 'iteration'),
    ...(workMs > 0 ? [formatDuration(workMs)] : []),
    ...(costUsd > 0 ? [formatCost(costUsd)] : []),
  ].join(', ');
}

/** Formats an ISO instant to the minute, in UTC: `2026-01-05 10:00`. */
export function minute(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}
