import { AGENTS, type AgentName, isAgentName } from '../core/agent/agents/agents.ts';
import type {
  Activity,
  AgentChanged,
  Changes,
  EndingFields,
  RalphEvent,
} from '../core/machine/events.ts';
import type { Notice, RalphActivity } from '../core/machine/loop-state.ts';
import { ENDINGS, endingRow, rowOfState } from '../core/task/endings.ts';
import type { EvidenceProof, Wait } from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { fitted } from './columns.ts';
import { formatCost, formatCountdown, formatDuration, formatLines, plural } from './format.ts';
import { lookBackOf, lookBackText, ownBranchOf, ownBranchText } from './look-back.ts';
import { type ResumeFacts, resumeCommand } from './resume-command.ts';
import { refusedHost } from './sandbox-words.ts';

// Every sentence that a person reads while a task runs is in this file, so that they sound alike.

export function startLine(taskId: string, policy: StartFacts): string {
  return `task ${taskId}: up to ${plural(policy.maxIterations, 'iteration')} of ${formatDuration(policy.iterationTimeoutMs)}, ${formatDuration(policy.taskTimeoutMs)} in all; done when ${policy.completion}`;
}

export interface StartFacts {
  readonly maxIterations: number;
  readonly iterationTimeoutMs: number;
  readonly taskTimeoutMs: number;
  /** The completion rule in words. */
  readonly completion: string;
}

export function promptStatesPromise(promise: string): string {
  return `The prompt itself states the promise '${promise}' on a line of its own: an agent that repeats the prompt could count as done. Put the promise into a sentence instead.`;
}

/** A limit from an environment or a configuration that the agent of this run cannot hold. */
export function limitsNothing(where: string, agent: string): string {
  return `${where} limits nothing in this run: ${agent} does not tell what it uses of it.`;
}

/** Says which agents a limit of the supervisor cannot hold. */
export function doesNotHold(where: string, agents: readonly string[]): string {
  return `${where} does not hold ${agents.join(' and ')}: what it limits is not told while ${agents.length === 1 ? 'that agent works' : 'they work'}.`;
}

/** Says once what a run without permissions and without a sandbox means. */
export function mayDoEverything(): string {
  return 'The agent may do everything you may: --sandbox keeps it in this folder.';
}

/** Warns of a command that runs outside the sandbox and executes files of the work folder. */
export function runsAgentsFiles(where: string, command: string): string {
  return `${where} '${command}' runs outside the sandbox, and executes what the agent may have written.`;
}

/** Warns that the agent reads files that the prompt names with an `@`. */
export function promptIncludesFiles(agents: string, words: readonly string[]): string {
  const shown = words.slice(0, 3).join(', ');
  return `${agents} reads the files that the prompt names with an @ (${shown}${words.length > 3 ? ', …' : ''}) and puts their content into it; write \\@ to keep it text.`;
}

/** Returns the notice that ralph prints once, when a default limit is reached. */
export function defaultLimitNotice(limit: 'iteration' | 'task'): string {
  return limit === 'iteration'
    ? 'That was the default limit of an iteration: raise it with --iteration-timeout 20m, or use --task-type coding for 30 iterations of 30 minutes.'
    : 'That was the default limit of the whole task: raise it with --timeout 4h, or use --task-type coding for 8 hours.';
}

export function unsupportedFlagNotice(what: Notice): string {
  return `This agent does not know ${what.flag}, which ralph adds by itself; ralph continues without it.`;
}

/** Returns the warning for a user's command that failed. `exitCode` is null if a signal ended it. */
export function commandFailed(flag: string, exitCode: number | null): string {
  return `${flag} ${exitCode === null ? 'was killed' : `exited with ${exitCode}`}.`;
}

/** Returns the notice about paths that an iteration changed and ralph does not commit. */
export function leftUncommitted(
  why: 'others' | 'secret' | 'ignored' | 'conflict' | 'repository',
  names: readonly string[],
): string {
  const shown = names.slice(0, 10).map((name) => oneLine(name, 200));
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  return `Not committed: ${shown.join(', ')}${more} (${LEFT_BECAUSE[why]}).`;
}

const LEFT_BECAUSE = {
  others: 'somebody else had changed this before, so ralph leaves the whole file to you',
  secret: 'a new file that looks like a secret by its name; add it to .gitignore',
  ignored: 'git ignores it, or did when the iteration began',
  conflict: 'it has a conflict',
  repository: 'a repository of its own; git submodule add makes it part of this one',
} as const;

export function branchMade(branch: string): string {
  return `The commits of this task go to the new branch ${branch}, which is now checked out: the branch before is protected, or there was none.`;
}

export function headNotMoved(iteration: number, why: string): string {
  return `The files are as before iteration ${iteration}, but the branch and the index stay as they are: ${why}.`;
}

export function indexBehind(): string {
  return "The repository's index is locked, so git status shows the last commit as taken back; git reset brings the index up to date.";
}

export function protectsNothing(glob: string): string {
  return `--protect '${glob}' matches no file, so it protects nothing.`;
}

/** Returns what ralph adds to the refusal of a configuration if the task is not this user's either. */
export function foreignTaskNotice(taskId: string, stateDir: string): string {
  return `task '${taskId}' in ${stateDir} was not written by you here either, so ralph runs nothing from it; look at it with ralph status ${taskId}.`;
}

export function previousRunArchived(taskId: string, needsTrust: boolean): string {
  const resume = `ralph resume ${taskId}${needsTrust ? ' --trust' : ''}`;
  return `An earlier run of ${taskId} was moved to the history, and this one starts over; ${resume} would have continued it.`;
}

/** Returns the notice for a new run whose task id belonged to a driver that died before it announced its ending. */
export function endingNotAnnounced(taskId: string, why: string): string {
  return `cannot announce how the earlier run of ${taskId} ended (${why.replace(/\.$/, '')})`;
}

export function leftoversOfDeadDriver(count: number): string {
  return `ended ${count === 1 ? 'a process' : `${count} processes`} that the last run of this task left behind when it crashed`;
}

export function leftoversNotEnded(pids: readonly number[]): string {
  const [what, them] =
    pids.length === 1 ? ['a process', 'it'] : [`${pids.length} processes`, 'them'];
  return `${what} of the run named in this state still ${pids.length === 1 ? 'lives' : 'live'} (${pids.join(', ')}); end ${them} unless this task is a copy of another`;
}

export function baselineLost(): string {
  return 'The state of the files at the start of the task is lost (baseline.json is missing or damaged): changes are counted from now on.';
}

export function leftoverLine(
  what: 'left' | 'ended' | 'ended-inside',
  processes: readonly { readonly pid: number; readonly command: string }[],
): string {
  const names = processes.map(({ pid, command }) => `${pid} (${command})`).join(', ');
  switch (what) {
    case 'left':
      return `still running in the background: ${names}`;
    case 'ended':
      return `ended leftover background processes: ${names}`;
    case 'ended-inside':
      return `ended with the agent, as everything in the sandbox does in each iteration: ${names}; a server has to be started anew`;
  }
}

/** Says what the agent is doing, for the live display. */
export function activityText(activity: Activity): string {
  switch (activity.kind) {
    case 'tool':
      return activity.target === '' ? activity.tool : `${activity.tool}: ${activity.target}`;
    case 'text':
      return activity.text;
    case 'thinking':
      return 'thinking';
    case 'sub-agents':
      return `${plural(activity.working, 'sub-agent')} at work`;
  }
}

/** Says what ralph is doing while the agent does not work, for the live display. */
export function ralphActivityText(what: RalphActivity, nowMs: number): string {
  switch (what.kind) {
    case 'look':
      return 'checking what the agent has done';
    case 'verify':
      return `verifying: ${what.command}`;
    case 'examine':
      return EXAMINING[what.part];
    case 'settle':
      return what.by === 'commit'
        ? 'committing what the iteration changed'
        : 'taking back what the iteration changed';
    case 'after':
      return `--after: ${what.command}`;
    case 'wait':
      return waitText(what.wait.kind, formatCountdown(Date.parse(what.wait.until) - nowMs));
    case 'approval': {
      const left = formatCountdown(Date.parse(what.until) - nowMs);
      return `waiting for an approval, ${left} left: ${what.what}`;
    }
    case 'stop':
      return 'stopping; Ctrl-C again kills at once';
  }
}

const EXAMINING = {
  judges: 'comparing what decides the checks with the start',
  oldExam: 'running the checks with what decides them as it was at the start',
  cleanCheckout: 'running the checks in a clean checkout',
} as const;

/** Files that are named before the rest is only counted. */
const MOST_JUDGES = 6;

/** Names the files that decide what the checks say. */
export function judgedBy(files: readonly string[]): string {
  const more = files.length - MOST_JUDGES;
  const shown = files.slice(0, MOST_JUDGES).join(', ');
  return `The checks are decided by ${shown}${more > 0 ? ` and ${plural(more, 'more file')}` : ''}.`;
}

function waitText(kind: Wait['kind'], left: string): string {
  switch (kind) {
    case 'delay':
      return `next iteration in ${left}`;
    case 'usage-limit':
      return `waiting for the usage limit, ${left} left`;
    case 'outage':
      return `waiting for the agent's service, trying again in ${left}`;
    default:
      return `trying again in ${left}`;
  }
}

/** What the messages about a run need besides the event. */
export interface MessageContext {
  /** The agent of the run, for advice that depends on it. */
  readonly agent: AgentName;
  /** Without it, no resume command is shown. Null: the task was not stored, so its logs are not shown either. */
  readonly task?: ResumeFacts | null;
}

/** Returns the permanent line of an event, or null if it has none. */
export function eventLine(event: RalphEvent, telling: MessageContext): string | null {
  switch (event.event) {
    case 'iteration_started':
      return `iteration ${event.iteration}/${event.max_iterations} started${event.agent === undefined ? '' : ` with ${event.agent}`}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ''}`;
    case 'agent_changed':
      return changeLine(event);
    case 'agent_retry':
      return event.by === 'agent'
        ? `the agent retries by itself${event.status === null ? '' : ` after ${event.status}`}${event.delay_ms === null ? '' : `, in ${formatDuration(event.delay_ms)}`}${event.error === '' ? '' : ` (${event.error})`}`
        : `${event.error}; trying again${event.delay_ms === null ? '' : ` in ${formatDuration(event.delay_ms)}`}`;
    case 'asked_back':
      return `asking the agent whether it is done (attempt ${event.attempt}), since the promise stands in a doubtful place (${event.where.replaceAll('-', ' ')}): ${event.line}`;
    case 'task_iterated':
      return iterationLine(event);
    case 'usage_limit_wait':
      return `the usage limit is reached; waiting until ${event.until}`;
    case 'supervisor':
      return `${event.action === 'cut' ? 'ending the iteration' : 'the agent may get nowhere'}: ${event.detail}`;
    case 'tool_silent':
      return `no answer for ${event.minutes} minutes from ${activityText({ kind: 'tool', tool: event.tool, target: event.target })}`;
    case 'near_miss':
      return `the promise was mentioned, not stated (${event.why.replaceAll('-', ' ')}): ${event.line}`;
    case 'claim_held':
      return `claimed complete, but not accepted (${event.gate.replaceAll('-', ' ')}): ${event.detail}${gateRemedy(event.gate)}`;
    case 'check_ended':
      return checkLine(event);
    case 'finding':
      // The line about the held claim says what holds it.
      return event.held ? null : `found against the claim: ${event.detail}`;
    case 'iteration_committed':
      return `committed ${plural(event.files, 'file')} on ${event.branch} (${event.commit.slice(0, 10)})`;
    case 'commit_failed':
      return `not committed, the work stays as it is: ${event.why}`;
    case 'iteration_reverted':
      return `took back what iteration ${event.iteration} changed: ${plural(event.files, 'file')}${event.kept.length === 0 ? '' : `; changed by somebody else and kept: ${event.kept.join(', ')}`}`;
    case 'revert_failed':
      return `not taken back, the work stays as it is: ${event.why}`;
    case 'task_paused':
      return event.final ? endingLines(event, telling) : waitingLine(event);
    case 'task_resumed':
      if (event.decision !== undefined) return decisionLine(event);
      return [
        event.iteration === 0
          ? 'resumed'
          : `resumed at iteration ${event.iteration}/${event.max_iterations}`,
        ...(event.sandbox_changes ?? []),
      ].join('; ');
    case 'sandbox_refused':
      return `refused: ${refusedHost(event)}`;
    case 'sandbox_planted':
      return `planted: ${event.path}; read it before anything runs it`;
    case 'task_started':
    case 'agent_activity':
      return null;
    default:
      return endingLines(event, telling);
  }
}

function changeLine({ from, to, why, until, error }: Extract<RalphEvent, AgentChanged>): string {
  const said = error === null || error === '' ? '' : ` (${error})`;
  switch (why) {
    case 'free-again':
      return `${to} is free again and goes on instead of ${from}`;
    case 'usage-limit':
      return `${from} has reached its usage limit${said}; ${to} goes on, ${from} again after ${until}`;
    case 'outage':
      return `the service of ${from} does not answer${said}; ${to} goes on, ${from} again after ${until}`;
    default: {
      const remedy = isAgentName(from) ? AGENTS[from].remedies[why] : undefined;
      return `${from} is skipped for the rest of this run, ${SKIPPED[why]}${said}; ${to} goes on${remedy === undefined ? '' : `; what to do: ${remedy}`}`;
    }
  }
}

const SKIPPED = {
  'agent-not-found': 'since it was not found',
  'not-logged-in': 'since it is not logged in',
  'no-credit': 'since it has no credit',
} as const;

type CheckEnded = Extract<RalphEvent, { event: 'check_ended' }>;

/** Returns null for what another line says, or what nobody has to know. */
function checkLine(event: CheckEnded): string | null {
  const { check, verdict, iteration, reused, on_claim } = event;
  const tests = event.tests === null ? '' : ` (${plural(event.tests, 'test')})`;
  const hasPassed = verdict !== 'failed';
  if (reused) {
    return `${check} ${hasPassed ? 'passed' : 'failed'} on this very tree before${tests}, so it is not run again`;
  }
  if (iteration === 0) {
    return hasPassed
      ? `${check} passes before the first iteration${tests}: it proves nothing about the work`
      : `${check} fails before the first iteration: ${howItFailed(event)}`;
  }
  if (verdict === 'known-failures') {
    return `${check} fails only with tests that failed before the first iteration (${event.failed}): accepted`;
  }
  return hasPassed || on_claim ? null : `${check} fails: ${howItFailed(event)}`;
}

function howItFailed({ exit_code, timed_out, tests, failed }: CheckEnded): string {
  const end = timed_out ? 'it ran out of time' : `it exited with ${exit_code ?? 'a signal'}`;
  return tests === null || failed === null
    ? end
    : `${end}, ${failed} of ${plural(tests, 'test')} failed`;
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
    `iteration ${event.iteration}${event.agent === undefined ? '' : ` (${event.agent})`} ${event.outcome === 'answered' ? 'answered' : event.detail}`,
    ` in ${formatDuration(event.duration_ms)}`,
    event.cost_usd > 0 ? `, ${formatCost(event.cost_usd)}` : '',
    event.files_changed === null ? '' : `, ${plural(event.files_changed, 'file')} changed`,
    event.refused.length > 0 ? `, refused: ${event.refused.join('; ')}` : '',
    event.output_preview === '' ? '' : ` — ${fitted(event.output_preview, 100)}`,
  ];
  return parts.join('');
}

/** Describes an iteration in one line, with the most important words first, since the line may be cut. */
export function iterationBrief(
  event: Extract<RalphEvent, { event: 'task_iterated' }>,
  maxIterations: number,
): string {
  const isGood = event.outcome === 'answered';
  const facts = [
    `${event.iteration}/${maxIterations}${event.agent === undefined ? '' : ` ${event.agent}`} ${event.outcome.replaceAll('-', ' ')}`,
    formatDuration(event.duration_ms),
    ...(event.cost_usd > 0 ? [formatCost(event.cost_usd)] : []),
    ...(event.files_changed === null ? [] : [plural(event.files_changed, 'file')]),
    ...(event.refused.length > 0 ? [`refused: ${event.refused.join('; ')}`] : []),
  ]
    // The line of a failed iteration needs room for the error.
    .slice(0, isGood ? undefined : 2)
    .join(', ');
  const words = isGood ? event.output_preview : event.detail;
  return words === '' ? facts : `${facts} — ${words}`;
}

export type EndingEvent = Extract<RalphEvent, EndingFields>;

/** Whether this is the last event of a run. */
export function isEnding(event: RalphEvent): event is EndingEvent {
  return 'exit_code' in event && 'status' in event;
}

/** Returns the closing lines: how the task ended, why, and what to do next. */
function endingLines(event: EndingEvent, telling: MessageContext): string {
  const hints = endingFacts(event, telling).map(({ label, text }) =>
    // It begins with its own word.
    label === 'proof' ? text : `${label}: ${text}`,
  );
  return [endingLine(event), ...hints].join('\n');
}

/** Says how the task ended, why, and what it used. Leaves out the time if `elapsedMs` is null. */
export function endingLine(event: EndingEvent, elapsedMs: number | null = null): string {
  const used = [
    `after ${plural(event.iterations_used, 'iteration')}`,
    ...(elapsedMs === null ? [] : [formatDuration(elapsedMs)]),
    ...(event.usage.cost_usd > 0 ? [formatCost(event.usage.cost_usd)] : []),
  ];
  return `${endingText(event)} ${used.join(', ')}`;
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
    case 'task_usage_limited':
      return event.until === null ? says : `${says}, until ${event.until}`;
    case 'task_budget_spent':
      return event.until === null ? says : `${says}; there is room again at ${event.until},`;
    default:
      return filled(says, why.replaceAll('-', ' '));
  }
}

function filled(says: string, why: string): string {
  return says.replace('…', () => why);
}

/** One more fact about an ending. Its text is never cut. */
export interface EndingFact {
  readonly label:
    | 'proof'
    | 'finding'
    | 'changed'
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
  add('changed', event.changes === null ? null : changesText(event.changes));
  if (task !== null) {
    const back = hasChangedNothing(event) ? null : lookBackOf(event.git, task);
    add('look back', back && lookBackText(back));
    const branch = ownBranchOf(event.git, task);
    add('branch', branch && ownBranchText(branch));
  }
  add('what to do', remedyOf(event, telling.agent));
  add('note', event.note);
  // Without a stored task there are no logs and nothing to resume.
  if (telling.task === null) return facts;
  add('logs', event.log_dir);
  const { isFinal = false } = endingRow(event.status, event.exit_reason);
  if (!isFinal && task !== null) add('next', resumeCommand(task, event.status, event.exit_reason));
  return facts;
}

/** Says in one line whether a completed task is proven, and by what, or why not. */
export function proofText({ proven, text }: EvidenceProof): string {
  return `${proven ? 'proven' : 'not proven'}: ${text}`;
}

function changesText(changes: Changes): string {
  const { commits, files, lines } = changes;
  if (commits === 0 && files === 0) return 'nothing';
  const counts = [commits === 0 ? 'no commit' : plural(commits, 'commit'), plural(files, 'file')];
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
    default:
      return remedyFor(event.status, event.exit_reason, agentOf(event, agent));
  }
}

/** Returns the agent that worked last. */
function agentOf({ agent }: EndingEvent, only: AgentName): AgentName {
  return isAgentName(agent) ? agent : only;
}

function gateRemedy(gate: string): string {
  return gate === 'refused-tools' ? `; what to do: ${ENDINGS.stalled.reasons.refused.remedy}` : '';
}

/** Returns what to do about an ending, from the state of its task, or null if there is no general advice. */
export function remedyFor(state: string, exitReason: string, agent: AgentName): string | null {
  const ofAgent: Readonly<Record<string, string>> = AGENTS[agent].remedies;
  const cause = exitReason.replace(/^failed:/, '');
  return ofAgent[cause] ?? rowOfState(state, exitReason)?.remedy ?? null;
}

/** Returns the notice, printed even with `--quiet`, that a person takes over a task of somebody else. */
export function takenOver(taskId: string, doubt: string, rights: readonly string[]): string {
  const asks = rights.length === 0 ? 'with nothing but its prompt' : `with ${rights.join(', ')}`;
  return `task '${taskId}' ${doubt}; --trust takes it over, ${asks}`;
}

/**
 * Returns the error for a completed task in the history without a valid signature. `problem` says why ralph
 * could not check the signature; null means that it is missing or wrong.
 */
export function completedByAnother(taskId: string, problem: string | null): string {
  const why =
    problem === null
      ? 'your ralph did not write that here'
      : `ralph cannot tell whether you wrote that (${problem})`;
  return `the state of ${taskId} says that it is completed, but ${why}; ralph run --task-id ${taskId} does the work again`;
}

/** `why` is half a sentence. */
export function proofNotKept(why: string): string {
  return `The proof of this task could not be written: ${why.replace(/\.$/, '')}.`;
}

/** `why` is half a sentence. */
export function noSnapshots(why: string): string {
  return `No snapshot of the work tree could be made, so undo cannot bring back what the agent changes: ${why}`;
}

/** Says that the tasks of `ralph watch` work in the same files. */
export function tasksShareTree(concurrency: number, cwd: string): string {
  return `up to ${concurrency} tasks work in ${cwd} at the same time, in the same files; --worktree gives each its own`;
}
