import type { Activity, EndingFields, RalphEvent } from '../core/events.ts';
import type { Saying } from '../core/machine.ts';
import { formatCost, formatDuration } from './format.ts';

/** Every sentence a person reads while a task runs, so that they stay of one voice. */

export function startLine(taskId: string, policy: StartFacts): string {
  return `task ${taskId}: up to ${count(policy.maxIterations, 'iteration')} of ${formatDuration(policy.iterationTimeoutMs)}, ${formatDuration(policy.taskTimeoutMs)} in all; done when ${policy.completion}`;
}

export interface StartFacts {
  readonly maxIterations: number;
  readonly iterationTimeoutMs: number;
  readonly taskTimeoutMs: number;
  /** The completion rule in words. */
  readonly completion: string;
}

export const PERMISSIONS_NOTICE =
  'claude runs with its default permissions: it may read, and asks before it edits files or runs commands; nobody answers here, so those are refused. Give --permission-mode acceptEdits, --allowed-tools or --dangerously-skip-permissions to allow them.';

export function promptStatesPromise(promise: string): string {
  return `The prompt itself states the promise '${promise}' on a line of its own: an agent that repeats the prompt would count as done. Put it into a sentence instead.`;
}

/** Said once, when a limit passes that nobody had chosen. */
export function defaultLimitNotice(limit: 'iteration' | 'task'): string {
  return limit === 'iteration'
    ? 'That was the default limit of an iteration: --iteration-timeout 20m gives it more, and --task-type coding gives 30 iterations of 30 minutes.'
    : 'That was the default limit of the whole task: --timeout 4h gives it more, and --task-type coding gives 8 hours.';
}

export function sayingText(what: Saying): string {
  return `This agent does not know ${what.flag}, which ralph adds by itself: it goes on without.`;
}

/** A command of the user's that did not do its work. */
export function commandFailed(flag: string, exitCode: number | null): string {
  return `${flag} ${exitCode === null ? 'was ended' : `exited with ${exitCode}`}.`;
}

export function protectsNothing(glob: string): string {
  return `--protect '${glob}' matches no file, so nothing is protected by it.`;
}

export function previousRetired(taskId: string): string {
  return `An earlier run of ${taskId} was put into the history, and this one starts afresh; ralph resume ${taskId} would have gone on with it.`;
}

export function leftoversOfDeadDriver(count: number): string {
  return `ended ${count === 1 ? 'a process' : `${count} processes`} that the last run of this task had left when it died`;
}

export function baselineLost(): string {
  return 'What the files were at the start of the task is not known any more (baseline.json is gone or damaged): they are compared with what they are now.';
}

export function leftoverLine(
  what: 'left' | 'ended',
  processes: readonly { readonly pid: number; readonly command: string }[],
): string {
  const names = processes.map(({ pid, command }) => `${pid} (${command})`).join(', ');
  return what === 'left'
    ? `still running in the background: ${names}`
    : `ended what was left in the background: ${names}`;
}

/** What the agent does now, for a line that changes. */
export function activityText(activity: Activity): string {
  switch (activity.kind) {
    case 'tool':
      return activity.target === '' ? activity.tool : `${activity.tool}: ${activity.target}`;
    case 'text':
      return activity.text;
    case 'thinking':
      return 'thinking';
  }
}

/** The durable line of an event, or null where it leaves none. */
export function eventLine(event: RalphEvent, agent: AgentName): string | null {
  switch (event.event) {
    case 'iteration_started':
      return `iteration ${event.iteration}/${event.max_iterations} started${event.attempt > 1 ? ` (attempt ${event.attempt})` : ''}`;
    case 'agent_retry':
      return event.by === 'agent'
        ? `the agent retries by itself${event.status === null ? '' : ` after ${event.status}`}${event.delay_ms === null ? '' : `, in ${formatDuration(event.delay_ms)}`}${event.error === '' ? '' : ` (${event.error})`}`
        : `${event.error}; trying again${event.delay_ms === null ? '' : ` in ${formatDuration(event.delay_ms)}`}`;
    case 'task_iterated':
      return iterationLine(event);
    case 'usage_limit_wait':
      return `the usage limit is reached; waiting until ${event.until}`;
    case 'near_miss':
      return `the promise was mentioned, not stated (${event.why.replaceAll('-', ' ')}): ${event.line}`;
    case 'claim_held':
      return `claimed complete, but not accepted (${event.gate.replaceAll('-', ' ')}): ${event.detail}${event.gate === 'refused-tools' ? `; what to do: ${REFUSED_REMEDY}` : ''}`;
    case 'task_paused':
      return event.final ? endingLine(event, agent) : waitingLine(event);
    case 'task_resumed':
      if (event.decision !== undefined) return decisionLine(event);
      return event.iteration === 0
        ? 'resumed'
        : `resumed at iteration ${event.iteration}/${event.max_iterations}`;
    case 'task_started':
    case 'agent_activity':
      return null;
    default:
      return endingLine(event, agent);
  }
}

function waitingLine(event: { readonly what: string; readonly file: string }): string {
  return `waits for an approval: ${event.what}\nto answer: ralph approve or ralph reject, or move Pending_Approval/${event.file} to Approved/ or Rejected/`;
}

function decisionLine(event: Extract<RalphEvent, { event: 'task_resumed' }>): string {
  const because = event.reason ? `, because: ${event.reason}` : '';
  return `${event.decision} by ${event.file ?? 'a person'}${because}`;
}

function iterationLine(event: Extract<RalphEvent, { event: 'task_iterated' }>): string {
  const parts = [
    `iteration ${event.iteration} ${event.outcome === 'answered' ? 'answered' : event.detail}`,
    ` in ${formatDuration(event.duration_ms)}`,
    event.cost_usd > 0 ? `, ${formatCost(event.cost_usd)}` : '',
    event.refused.length > 0 ? `, refused: ${event.refused.join('; ')}` : '',
    event.output_preview === '' ? '' : ` — ${event.output_preview.slice(0, 100)}`,
  ];
  return parts.join('');
}

type EndingEvent = Extract<RalphEvent, EndingFields>;

const LIMITED_BY: Readonly<Record<string, string>> = {
  outage: "the agent's service stayed out of reach",
  usage_limit: 'a usage limit outlasts --max-wait',
  max_usage: '--max-usage is reached',
};

/** The closing line: how it ended, by what, and what to do next. */
function endingLine(event: EndingEvent, agent: AgentName): string {
  const used = `after ${count(event.iterations_used, 'iteration')}${event.usage.cost_usd > 0 ? `, ${formatCost(event.usage.cost_usd)}` : ''}`;
  return [`${endingText(event)} ${used}`, ...endingHints(event, agent)].join('\n');
}

const PAUSED_BY: Readonly<Record<string, string>> = {
  'approval-expired': 'not completed: nobody answered the request for approval in time',
  'approval-pending': 'not completed: it waits for an approval (ApprovalPendingError)',
};

function endingText(event: EndingEvent): string {
  switch (event.event) {
    case 'task_completed':
      return `completed (${event.evidence?.kind.replaceAll('-', ' ') ?? 'no evidence'}: ${event.evidence?.detail ?? ''})`;
    case 'task_failed':
      return `failed (${event.exit_reason.replace(/^failed:/, '')}): ${event.error}`;
    case 'max_iterations_reached':
      return 'not completed: the iterations ran out';
    case 'task_timeout':
      return 'not completed: the time for the whole task is over';
    case 'task_stalled':
      return `not completed: stalled (${event.exit_reason.replaceAll('-', ' ')})`;
    case 'task_budget_spent':
      return 'not completed: the money for the task is spent';
    case 'task_usage_limited':
      return `not completed: ${LIMITED_BY[event.exit_reason] ?? event.exit_reason}${event.until === null ? '' : `, until ${event.until}`}`;
    case 'task_stopped':
      return `stopped (${event.exit_reason.replace(/^stopped:/, '')})`;
    case 'task_paused':
      return PAUSED_BY[event.exit_reason] ?? 'paused';
  }
}

function endingHints(event: EndingEvent, agent: AgentName): readonly string[] {
  const hints: string[] = [];
  if (event.event === 'task_failed') {
    const remedy = remedyFor(event.exit_reason, agent);
    if (remedy !== null) hints.push(`what to do: ${remedy}`);
  }
  if (event.event === 'task_stalled') {
    hints.push(`what to do: ${stallRemedy(event.exit_reason)}`);
  }
  if (event.note !== null) hints.push(`note: ${event.note}`);
  hints.push(`logs: ${event.log_dir}`);
  return hints;
}

const REFUSED_REMEDY =
  'allow the tools with --allowed-tools, --permission-mode acceptEdits or --dangerously-skip-permissions; or, where you forbade them on purpose, name them with --accept-refused';

/** Which agent the advice is about. */
export type AgentName = 'claude' | 'command';

/** What helps where the loop went nowhere. */
export function stallRemedy(exitReason: string): string {
  if (exitReason === 'refused') return REFUSED_REMEDY;
  const flag = exitReason === 'same-error' ? '--same-error-limit' : '--no-progress-limit';
  return `read the logs and make the prompt clearer; ${flag} 0 lets it go on all the same`;
}

/** What helps against a fatal cause, given as `failed:<cause>`; null where nothing general does. */
export function remedyFor(exitReason: string, agent: AgentName): string | null {
  const cause = exitReason.replace(/^failed:/, '');
  if (agent === 'command' && cause === 'agent-not-found') {
    return 'install the program, or name another one with --agent-command';
  }
  return REMEDIES[cause] ?? null;
}

const REMEDIES: Readonly<Record<string, string>> = {
  'agent-not-found':
    'install it (npm install -g @anthropic-ai/claude-code), or name it with --claude-bin',
  'not-logged-in':
    'log in with claude /login, or make a token for cron with claude setup-token and set CLAUDE_CODE_OAUTH_TOKEN, or set a valid ANTHROPIC_API_KEY',
  'no-credit': 'add credit to the account, or use another key',
  'refused-request': 'check --model and the length of the prompt',
  'slash-command':
    'claude took the prompt for a slash command; put a word or an empty line before the slash',
  'bad-option': 'take the option out, or update claude (claude update)',
  'root-refused':
    'claude skips permissions for root only in a sandbox: run as another user, or set IS_SANDBOX=1 where it is one',
};

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
