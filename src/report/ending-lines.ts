import { type AgentName, isAgentName } from '../core/agent/agents/agents.ts';
import type { PlanStand } from '../core/completion/plan-file.ts';
import type { Changes, EndingFields, RalphEvent } from '../core/machine/events.ts';
import { endingRow, rowOfState } from '../core/task/endings.ts';
import type { EvidenceProof } from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { agentRemedy } from './agent-remedy.ts';
import { belowSections, formatCost, formatDuration, formatLines, plural } from './format.ts';
import { branchesText, indexBehindText, uncommittedText } from './left-at-end.ts';
import { lookBackOf, lookBackText, ownBranchOf, ownBranchText } from './look-back.ts';
import { type ResumeFacts, resumeCommand } from './resume-command.ts';

/** What the messages about a run need besides the event. */
export interface MessageContext {
  /** The agent of the run, for advice that depends on it. */
  readonly agent: AgentName;
  /** Without it, no resume command is shown. Null: no folder of the task is kept here, so its note and logs are not shown either. */
  readonly task?: ResumeFacts | null;
  /** Whether the task runs in a fleet, which commits what it leaves after its end. */
  readonly inFleet?: boolean;
}

export type EndingEvent = Extract<RalphEvent, EndingFields>;

/** Whether this is the last event of a run. */
export function isEnding(event: RalphEvent): event is EndingEvent {
  return 'exit_code' in event && 'status' in event;
}

/** Returns the closing lines: how the task ended, why, and what to do next. */
export function endingLines(event: EndingEvent, telling: MessageContext): string {
  const hints = endingFacts(event, telling).map(({ label, text }) =>
    // It begins with its own word.
    label === 'proof' ? text : `${label}: ${text}`,
  );
  return [endingLine(event), ...hints].join('\n');
}

/** Says how the task ended, why, and what it used; the time only with `isTimed`. */
export function endingLine(event: EndingEvent, { isTimed = false } = {}): string {
  const { elapsed_seconds } = event;
  const used = [
    `after ${plural(event.iterations_used, 'iteration')}`,
    ...(isTimed && elapsed_seconds !== undefined ? [formatDuration(elapsed_seconds * 1_000)] : []),
    ...(event.usage.cost_usd > 0 ? [costWithJudge(event)] : []),
  ];
  return `${endingText(event)} ${used.join(', ')}`;
}

/** `$1.20 ($0.30 of it for the judge)` */
function costWithJudge({ usage, usage_of_judge: judge }: EndingEvent): string {
  const ofJudge = judge?.cost_usd ?? 0;
  const part = ofJudge > 0 ? ` (${formatCost(ofJudge)} of it for the judge)` : '';
  return `${formatCost(usage.cost_usd)}${part}`;
}

function endingText(event: EndingEvent): string {
  const { says } = endingRow(event.status, event.exit_reason);
  const why = event.exit_reason.replace(/^\w+:/, '');
  switch (event.event) {
    case 'task_completed': {
      const { kind = 'no evidence', detail = '' } = event.evidence ?? {};
      return filled(says, `${kind.replaceAll('-', ' ')}: ${detail}`);
    }
    case 'task_failed':
      return `${filled(says, why)}: ${event.error}`;
    case 'task_stalled':
      return filled(says, [words(why), event.error ?? []].flat().join(': '));
    case 'task_usage_limited':
      return event.until === null ? says : `${says}, until ${event.until}`;
    case 'task_budget_spent':
      return event.until === null ? says : `${says}; there is room again at ${event.until},`;
    default:
      return filled(says, words(why));
  }
}

function words(reason: string): string {
  return reason.replaceAll('-', ' ');
}

function filled(says: string, why: string): string {
  return says.replace('…', () => why);
}

/** One more fact about an ending. Its text is never cut. */
export interface EndingFact {
  readonly label:
    | 'proof'
    | 'finding'
    | 'missing'
    | 'changed'
    | 'commits'
    | 'left'
    | 'index'
    | 'look back'
    | 'branch'
    | 'what to do'
    | 'note'
    | 'logs'
    | 'next';
  readonly text: string;
}

export function endingFacts(event: EndingEvent, telling: MessageContext): readonly EndingFact[] {
  const { task = null } = telling;
  const facts: EndingFact[] = [];
  const add = (label: EndingFact['label'], text: string | null): void => {
    if (text !== null) facts.push({ label, text });
  };
  const { proof } = event.evidence ?? {};
  if (proof !== undefined) add('proof', proofText(proof));
  for (const finding of proof?.findings ?? []) add('finding', finding);
  add('missing', event.plan === undefined ? null : planText(event.plan));
  add('changed', event.changes === null ? null : changesText(event.changes, telling));
  add('commits', branchesText(event.git));
  facts.push(...leftAtEnd(event));
  if (task !== null) {
    const hasChanges = !hasChangedNothing(event);
    const back = hasChanges ? lookBackOf(event.git, task) : null;
    // A work tree of the task's own may go now, and then nothing can be taken back: what becomes of it is said next.
    const hasOwnTree = event.git.work_tree !== null;
    add('look back', back && (hasOwnTree ? back.diff : lookBackText(back)));
    const branch = hasChanges ? ownBranchOf(event.git, task) : null;
    add('branch', branch && ownBranchText(branch));
  }
  add('what to do', remedyOf(event, telling.agent));
  if (telling.task === null) return facts;
  add('note', event.note);
  add('logs', event.log_dir);
  const { isFinal = false } = endingRow(event.status, event.exit_reason);
  if (!isFinal && task !== null) {
    add('next', resumeCommand(task, event.status, event.exit_reason, event.accepting));
  }
  return facts;
}

/** Says what is missing in a plan; null if nothing is. */
function planText({ sections = [], ...plan }: PlanStand): string | null {
  const { ticked, boxes, first_open_line: line } = plan;
  const name = oneLine(plan.file, 300);
  const below = belowSections(sections);
  if (boxes === null) return `${name} is not there, or cannot be read`;
  if (boxes === 0) return `${name} has no box${below}`;
  if (line === null) return null;
  return `${name}: ${ticked} of ${boxes} ticked${below}, the first open one is in line ${line}`;
}

/** What a person has to know even if all went well: a script may push what is not all in a commit. */
export function leftAtEnd({ uncommitted, index_behind }: EndingEvent): readonly EndingFact[] {
  return [
    ...(uncommitted === undefined
      ? []
      : [{ label: 'left' as const, text: uncommittedText(uncommitted) }]),
    ...(index_behind === undefined
      ? []
      : [{ label: 'index' as const, text: indexBehindText(index_behind) }]),
  ];
}

/** Says in one line whether a completed task is proven, and by what, or why not. */
export function proofText({ proven, text }: EvidenceProof): string {
  return `${proven ? 'proven' : 'not proven'}: ${text}`;
}

function changesText(changes: Changes, { inFleet = false }: MessageContext): string {
  const { commits, files, lines } = changes;
  if (commits === 0 && files === 0) return 'nothing';
  const own = commits === 0 ? 'no commit' : plural(commits, 'commit');
  const counts = [...(commits === 0 && inFleet ? [] : [own]), plural(files, 'file')];
  return [...counts, ...(lines === null ? [] : [`${formatLines(lines)} lines`])].join(', ');
}

function hasChangedNothing({ changes }: EndingEvent): boolean {
  return changes !== null && changes.commits === 0 && changes.files === 0;
}

function remedyOf(event: EndingEvent, agent: AgentName): string | null {
  switch (event.event) {
    case 'task_usage_limited':
      return event.until === null ? 'try again later' : `try again after ${event.until}`;
    case 'task_paused':
      return event.status === 'paused_awaiting_approval'
        ? `answer with ralph approve ${event.task_id} or ralph reject ${event.task_id}, then resume`
        : null;
    default: {
      const failure = 'error' in event ? event.error : null;
      return remedyFor(
        event.status,
        event.exit_reason,
        agentOf(event, agent),
        failure,
        event.accepting,
      );
    }
  }
}

/** Returns the agent that needs advice: the judge that failed, or else the one that worked last. */
function agentOf({ agent, judge }: EndingEvent, only: AgentName): AgentName {
  if (isAgentName(judge)) return judge;
  return isAgentName(agent) ? agent : only;
}

/**
 * Returns what to do about an ending, from the state of its task, or null if there is no general advice. `failure`
 * is what the agent said of the failure behind it; null if there was none. `accepting` has the flags that accept
 * what was found.
 */
export function remedyFor(
  state: string,
  exitReason: string,
  agent: AgentName,
  failure: string | null,
  accepting: readonly string[] = [],
): string | null {
  if (exitReason === 'unproven' && accepting.length > 0) {
    return `mend what was found, or accept it with ${accepting.join(' ')}`;
  }
  const row = rowOfState(state, exitReason);
  const cause = exitReason.replace(/^failed:/, '');
  const ofFailure = failure === null ? undefined : row?.remedyOfFailure;
  return ofFailure ?? agentRemedy(agent, cause, failure ?? '') ?? row?.remedy ?? null;
}
