import { isAgentName } from '../core/agent/agents/agents.ts';
import type { AgentChanged, RalphEvent } from '../core/machine/events.ts';
import { counted } from '../core/text/counted.ts';
import { taskCommand } from '../printed-command.ts';
import { activityText } from './activity-text.ts';
import { agentRemedy } from './agent-remedy.ts';
import { fitted } from './columns.ts';
import { endingLines, type MessageContext } from './ending-lines.ts';
import { formatCost, formatDuration, plural } from './format.ts';
import { refusedHost } from './sandbox-words.ts';

/** Returns the line about an event that stays on the screen; null for an event without one. */
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
      return `asking the agent whether it is done (attempt ${event.attempt}), because ${DOUBTS[event.where] ?? 'the promise is in doubt'}: ${event.line}`;
    case 'task_iterated':
      return iterationLine(event);
    case 'usage_limit_wait':
      return `the usage limit is reached; waiting until ${event.until}`;
    case 'supervisor':
      return `${event.action === 'cut' ? 'ending the iteration' : 'the agent repeats itself'}: ${event.detail}`;
    case 'tool_silent':
      return `no answer for ${event.minutes} minutes from ${activityText({ kind: 'tool', tool: event.tool, target: event.target })}`;
    case 'near_miss':
      if (event.said !== undefined) {
        return `the promise does not count, because a Stop hook held the agent after it (the hook said: ${event.said}): ${event.line}`;
      }
      return `not counted: ${MISSES[event.why] ?? DOUBTS[event.why] ?? 'the promise is not stated'}: ${event.line}`;
    case 'claim_held':
      return `not accepted: ${event.detail}`;
    case 'check_ended':
      return checkLine(event);
    case 'finding':
      // What speaks against a task's proof is said only once: in the line `not accepted: …`, or at the end.
      return null;
    case 'judged':
      return judgedLine(event);
    case 'iteration_committed':
      return `committed ${plural(event.files, 'file')} on ${event.branch} (${event.commit.slice(0, 10)})`;
    case 'commit_failed':
      return `not committed (your files are unchanged): ${event.why}`;
    case 'iteration_reverted':
      return `took back what iteration ${event.iteration} changed: ${plural(event.files, 'file')}${event.kept.length === 0 ? '' : `; changed by somebody else and kept: ${event.kept.join(', ')}`}`;
    case 'revert_failed':
      return `not taken back (your files are unchanged): ${event.why}`;
    case 'task_paused':
      return event.final ? endingLines(event, telling) : waitingLine(event, telling);
    case 'task_resumed':
      if (event.decision !== undefined) return decisionLine(event);
      return [
        event.iteration === 0
          ? 'resumed'
          : `resumed at iteration ${event.iteration}/${event.max_iterations}`,
        ...(event.sandbox_changes ?? []),
      ].join('; ');
    case 'sandbox_refused':
      return `refused: ${refusedHost(event)}${andMore(event.more)}`;
    case 'mcp_unavailable':
      return `MCP server ${event.server} ${event.status === 'failed' ? 'failed to start' : 'wants a login'}, so its tools are missing`;
    case 'sandbox_planted':
      return `new file that other programs may run: ${event.path}${andMore(event.more)}`;
    case 'task_started':
    case 'agent_activity':
      return null;
    default:
      return endingLines(event, telling);
  }
}

function andMore(more: number | undefined): string {
  return more === undefined ? '' : `; and ${more} more`;
}

function changeLine({ from, to, why, until, error }: Extract<RalphEvent, AgentChanged>): string {
  const said = error === null || error === '' ? '' : ` (${error})`;
  switch (why) {
    case 'free-again':
      return `back to ${to}: its wait is over`;
    case 'usage-limit':
      return `${from} has reached its usage limit${said}; ${to} continues, ${from} again after ${until}`;
    case 'outage':
      return `the service of ${from} does not answer${said}; ${to} continues, ${from} again after ${until}`;
    default: {
      const remedy = isAgentName(from) ? agentRemedy(from, why, error ?? '') : null;
      return `${from} is skipped for the rest of this run, ${SKIPPED[why]}${said}; ${to} continues${remedy === null ? '' : `; what to do: ${remedy}`}`;
    }
  }
}

const SKIPPED = {
  'agent-not-found': 'since it was not found',
  'not-logged-in': 'since it is not logged in',
  'no-credit': 'since it has no credit',
  'agent-error': 'since it fails at its start',
} as const;

type CheckEnded = Extract<RalphEvent, { event: 'check_ended' }>;

/** Returns the line about a check; null if another line says the same, or if nobody needs to know. */
function checkLine(event: CheckEnded): string | null {
  const { check, verdict, iteration, reused, on_claim } = event;
  const tests = event.tests === null ? '' : ` (${plural(event.tests, 'test')})`;
  const hasPassed = verdict === 'passed' || verdict === 'known-failures';
  if (reused) {
    return `${check} ${hasPassed ? 'passed' : 'failed'} on this very tree before${tests}, so it is not run again`;
  }
  if (verdict === 'failed-tests') {
    if (on_claim) return null;
    return `${check} ends with 0, although ${failedOf(event.failed ?? 0, event.tests)} failed: a pipe, or what follows the tests, gives the exit code`;
  }
  if (iteration === 0) {
    return hasPassed
      ? `${check} passes already${tests}, so only a new test can show the work`
      : `at the start ${check} fails: ${failedAtStart(event)}`;
  }
  if (verdict === 'known-failures') {
    return `${check} fails only with tests that failed before the first iteration (${event.failed}): accepted`;
  }
  return hasPassed || on_claim ? null : `${check} fails: ${howItFailed(event)}`;
}

/** Returns the line about a judgement; null if it is negative, since the line about the claim that was not accepted says so. */
function judgedLine({ agent, verdict, why, cost_usd }: Extract<RalphEvent, { event: 'judged' }>) {
  if (verdict === 'none') return `not judged: ${why ?? 'there is no verdict'}`;
  const cost = cost_usd > 0 ? `, ${formatCost(cost_usd)}` : '';
  return verdict === 'not-met' ? null : `${agent} has judged the claim: ${verdict}${cost}`;
}

/** Why a promise (the words by which the agent says that it is done) does not count. */
const MISSES: Readonly<Record<string, string>> = {
  'in-a-sentence': 'the promise is inside a sentence',
  decorated: 'the promise has a bullet, quotes or a question mark beside it',
  'not-at-the-end': 'the promise is not at the end',
  'before-an-open-box': 'an open box follows the promise',
  untagged: 'the promise is not in its tags',
  'not-ended-well': 'the agent did not end well',
};

/** Why the agent is asked whether it is done, by the place of its promise. */
const DOUBTS: Readonly<Record<string, string>> = {
  'earlier-line': 'the promise is not at the end',
  'closing-sentence': 'the promise is part of a sentence',
  'after-open-sentence': 'the sentence before the promise may be unfinished',
  'below-open-paragraph': 'the paragraph above the promise may be unfinished',
  'shared-line': 'the promise is not on a line of its own',
  veiled: 'the promise has invisible characters',
};

/** Says how many tests failed, or else how the check ended. Exit codes say less: many programs have only one for failures. */
function failedAtStart(event: CheckEnded): string {
  const { timed_out, tests, failed } = event;
  return timed_out || tests === null || !failed ? howItFailed(event) : failedOf(failed, tests);
}

function howItFailed({ exit_code, timed_out, tests, failed }: CheckEnded): string {
  const end = timed_out ? 'it ran out of time' : `it exited with ${exit_code ?? 'a signal'}`;
  return tests === null || failed === null ? end : `${end}, ${failedOf(failed, tests)} failed`;
}

/** Returns the number of failed tests. It can exceed the tests that ran, since test files and hooks may fail, too. */
function failedOf(failed: number, tests: number | null): string {
  return tests === null || failed > tests
    ? plural(failed, 'test')
    : `${failed} of ${plural(tests, 'test')}`;
}

function waitingLine(
  event: { readonly what: string; readonly file: string },
  { task = null }: MessageContext,
): string {
  const what = `waits for an approval: ${event.what}`;
  if (task === null) return `${what}; answer it with ralph approve or ralph reject`;
  return [
    `${what}; answer it with a command, or move Pending_Approval/${event.file} to Approved/ or Rejected/`,
    `to allow it: ${taskCommand('approve', task)}`,
    `to refuse it: ${taskCommand('reject', task)}`,
  ].join('\n');
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
    event.refused.length > 0 ? `, refused: ${counted(event.refused).join('; ')}` : '',
    adviceOn(event),
    event.output_preview === '' ? '' : ` — ${fitted(event.output_preview, 100)}`,
  ];
  return parts.join('');
}

/** Names the flag for a limit that nobody may have chosen: by default it is too short for most coding. */
function adviceOn({ outcome, detail }: Extract<RalphEvent, { event: 'task_iterated' }>): string {
  const isLimit = outcome === 'timed-out' && detail.includes('iteration limit');
  return isLimit ? '; --iteration-timeout raises the limit' : '';
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
    ...(event.refused.length > 0 ? [`refused: ${counted(event.refused).join('; ')}`] : []),
  ]
    // The line of a failed iteration needs room for the error.
    .slice(0, isGood ? undefined : 2)
    .join(', ');
  const words = isGood ? event.output_preview : `${event.detail}${adviceOn(event)}`;
  return words === '' ? facts : `${facts} — ${words}`;
}
