import { type AgentName, isAgentName } from '../core/agent/agents/agents.ts';
import type { PlanStand } from '../core/completion/plan-file.ts';
import type { Changes, EndingFields, RalphEvent } from '../core/machine/events.ts';
import { endingRow, rowOfState } from '../core/task/endings.ts';
import type { EvidenceProof } from '../core/task/task-state.ts';
import { counted } from '../core/text/counted.ts';
import { askedText, oneLine } from '../core/text/untrusted-text.ts';
import { taskCommand } from '../printed-command.ts';
import { agentRemedy } from './agent-remedy.ts';
import {
  belowSections,
  formatCost,
  formatDuration,
  formatLines,
  plural,
  toldCost,
} from './format.ts';
import { branchesText, indexBehindText, uncommittedText } from './left-at-end.ts';
import { lookBackOf, ownBranchOf, ownBranchText } from './look-back.ts';
import { type ResumeFacts, resumeCommand } from './resume-command.ts';

/** What the messages about a run need in addition to the event. */
export interface MessageContext {
  /** The agent of the run, for advice that depends on it. */
  readonly agent: AgentName;
  /** The prompt of the task. */
  readonly asked?: string;
  /** The task for which commands are shown; absent: none are. Null (for a fleet of machines): no note or log either. */
  readonly task?: ResumeFacts | null;
}

export type EndingEvent = Extract<RalphEvent, EndingFields>;

/** Whether this is the last event of a run. */
export function isEnding(event: RalphEvent): event is EndingEvent {
  return 'exit_code' in event && 'status' in event;
}

/** Returns the closing lines: how the task ended, why, and what to do next. */
export function endingLines(event: EndingEvent, telling: MessageContext): string {
  const facts = endingFacts(event, telling).map(({ label, text }) => `${label}: ${text}`);
  return [endingLine(event, telling), ...facts].join('\n');
}

/** Says how the task ended: what was done, or why it was not. */
export function endingLine(event: EndingEvent, { asked }: Pick<MessageContext, 'asked'>): string {
  const { says } = endingRow(event.status, event.exit_reason);
  const why = event.exit_reason.replace(/^\w+:/, '');
  switch (event.event) {
    case 'task_completed':
      return `${says}: ${oneLine(asked === undefined ? event.task_id : askedText(asked), 120)}`;
    case 'task_failed':
      return `${filled(says, why)}: ${event.error}`;
    case 'task_stalled':
      return filled(says, [words(why), event.error ?? []].flat().join(': '));
    case 'task_usage_limited':
      return event.until === null ? says : `${says}, until ${event.until}`;
    case 'task_budget_spent':
      return event.until === null ? says : `${says}; there is room again at ${event.until}`;
    default:
      return filled(says, words(why));
  }
}

function usedText(event: EndingEvent): string {
  const { iterations_used: iterations, elapsed_seconds } = event;
  return [
    plural(iterations, 'iteration'),
    ...(elapsed_seconds === undefined ? [] : [formatDuration(elapsed_seconds * 1_000)]),
    costWithJudge(event),
  ].join(', ');
}

function costWithJudge({ usage, usage_of_judge: judge }: EndingEvent): string {
  const ofJudge = judge?.cost_usd ?? 0;
  const part = ofJudge > 0 ? ` (${formatCost(ofJudge)} of it for the judge)` : '';
  return `${toldCost(usage.cost_usd)}${part}`;
}

function words(reason: string): string {
  return reason.replaceAll('-', ' ');
}

function filled(says: string, why: string): string {
  return says.replace('…', () => why);
}

/** One more fact about an ending. Its text is never cut. */
export interface EndingFact {
  readonly label: string;
  readonly text: string;
}

export function endingFacts(event: EndingEvent, telling: MessageContext): readonly EndingFact[] {
  const { task = null } = telling;
  const facts: EndingFact[] = [];
  const add = (label: string, text: string | null): void => {
    if (text !== null) facts.push({ label, text });
  };
  const { proof } = event.evidence ?? {};
  if (proof !== undefined) add(proof.proven ? 'proven' : 'not proven', proof.text);
  for (const finding of furtherFindings(proof)) add('finding', finding);
  add('changed', event.changes === null ? null : changesText(event.changes));
  add('missing', event.plan === undefined ? null : planText(event.plan));
  add('commits', branchesText(event.git));
  facts.push(...leftAtEnd(event));
  add('used', usedText(event));
  if (task !== null) {
    const hasChanges = !hasChangedNothing(event);
    const back = hasChanges ? lookBackOf(event.git, task) : null;
    // A task's own work tree may be removed now, and then `ralph undo` fails. Its branch is named below instead.
    const hasOwnTree = event.git.work_tree !== null;
    add('look', back?.diff ?? null);
    add('undo', back && !hasOwnTree ? back.undo : null);
    const branch = hasChanges ? ownBranchOf(event.git, task) : null;
    add('branch', branch && ownBranchText(branch));
    add('land', branch?.land ?? null);
  }
  const { refused = [] } = event;
  const allowed = task?.allowing?.(refused) ?? { flags: [], left: [] };
  if (refused.length > 0) add('refused', counted(refused).join('; '));
  // If the next command allows what was refused, no further advice is needed.
  if (allowed.flags.length === 0) add('what to do', remedyOf(event, telling.agent));
  if (task !== null && event.exit_reason === 'approval-pending') {
    add('allow', taskCommand('approve', task));
    add('refuse', taskCommand('reject', task));
  }
  if (allowed.left.length > 0 && allowed.flags.length > 0)
    add('what to do', leftText(allowed.left));
  if (telling.task === null) return facts;
  const { isFinal = false } = endingRow(event.status, event.exit_reason);
  if (!isFinal && task !== null) {
    add('next', resumeCommand(task, event.status, event.exit_reason, event));
  }
  if (event.status === 'completed') return facts;
  add('note', event.note);
  add('logs', event.log_dir);
  return facts;
}

function leftText(calls: readonly string[]): string {
  return `no rule allows just ${calls.join(' or ')}; find one for --allowed-tools, or tell the agent another way`;
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

/** Returns what is left uncommitted. It is shown even after success: a script may push incomplete commits. */
export function leftAtEnd({ uncommitted, index_behind }: EndingEvent): readonly EndingFact[] {
  return [
    ...(uncommitted === undefined ? [] : [{ label: 'left', text: uncommittedText(uncommitted) }]),
    ...(index_behind === undefined
      ? []
      : [{ label: 'index', text: indexBehindText(index_behind) }]),
  ];
}

/** Returns the findings against a completed task, without the one with which the text of its proof begins. */
export function furtherFindings(proof: EvidenceProof | undefined): readonly string[] {
  return proof?.findings.filter((finding) => !proof.text.startsWith(finding)) ?? [];
}

/** Says in one line whether a completed task is proven, and by what, or why not. */
export function proofText({ proven, text }: EvidenceProof): string {
  return `${proven ? 'proven' : 'not proven'}: ${text}`;
}

function changesText(changes: Changes): string {
  const { commits, files, names, lines } = changes;
  if (commits === 0 && files === 0) return 'nothing';
  const what = names?.map((name) => oneLine(name, 200)).join(', ') ?? plural(files, 'file');
  const many = lines === null ? '' : ` (${formatLines(lines)})`;
  return `${what}${many}${commits === 0 ? '' : `, in ${plural(commits, 'commit')}`}`;
}

function hasChangedNothing({ changes }: EndingEvent): boolean {
  return changes !== null && changes.commits === 0 && changes.files === 0;
}

function remedyOf(event: EndingEvent, agent: AgentName): string | null {
  switch (event.event) {
    case 'task_usage_limited':
      return event.until === null ? 'try again later' : `try again after ${event.until}`;
    case 'task_paused':
      return event.status === 'paused_awaiting_approval' ? 'answer the request, then resume' : null;
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

/** Returns the agent to give advice about: the judge that failed, or else the agent that worked last. */
function agentOf({ agent, judge }: EndingEvent, only: AgentName): AgentName {
  if (isAgentName(judge)) return judge;
  return isAgentName(agent) ? agent : only;
}

/**
 * Returns what to do about an ending, or null. `failure` is what the agent said when it failed; `accepting` are the
 * flags that accept what was found.
 */
export function remedyFor(
  state: string,
  exitReason: string,
  agent: AgentName,
  failure: string | null,
  accepting: readonly string[] = [],
): string | null {
  if (exitReason === 'unproven' && accepting.length > 0) {
    return `fix what was found, or accept it with ${accepting.join(' ')}`;
  }
  const row = rowOfState(state, exitReason);
  const cause = exitReason.replace(/^failed:/, '');
  const ofFailure = failure === null ? undefined : row?.remedyOfFailure;
  return ofFailure ?? agentRemedy(agent, cause, failure ?? '') ?? row?.remedy ?? null;
}
