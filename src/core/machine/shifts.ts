import { type AgentName, DEFAULT_AGENT } from '../agent/agents/agents.ts';
import { addUsage, NO_USAGE, type Usage } from '../agent/attempt.ts';
import {
  type AgentStanding,
  type HELD_BECAUSE,
  NOT_HELD,
  SKIPPED_BECAUSE,
} from '../task/agent-standing.ts';
import { hasSeveralAgents, type Policy, withPolicy } from '../task/policy.ts';
import { msBetween, type TaskState } from '../task/task-state.ts';
import type { Announcement } from './action.ts';
import { type Decided, type Decision, type Moment, publish } from './decision.ts';
import { end } from './ending.ts';
import type { AgentChanged } from './events.ts';
import type { LoopState } from './loop-state.ts';

/*
 * Which agent of a list is on shift (is to work): the first one that is neither held (has to wait) nor skipped.
 *
 *   working ──┬─ plan limit, outage ──────────────────► held until its reset ──┐
 *      ▲      └─ not found, not logged in, no credit ─► skipped for this run ──┤
 *      │                                                                       │
 *      ├── one is free: the same iteration again, at once ◄────────────────────┤
 *      ├── all are held: one wait, until the earliest reset ◄──────────────────┤
 *      └── all are skipped: the end, by the cause of the first ◄───────────────┘
 *
 * An agent further up the list is on shift again from the next iteration on, once its reset has passed.
 * No session goes from one agent to another.
 */

type Held = (typeof HELD_BECAUSE)[number];
type Skipped = (typeof SKIPPED_BECAUSE)[number];

/** Why the shift of an agent ends. `until` is an ISO instant. */
export type LostShift =
  | {
      readonly why: Held;
      readonly until: string;
      readonly error: string;
      /** Whether `until` is only a guess. */
      readonly isGuess?: boolean;
    }
  | { readonly why: Skipped; readonly until: null; readonly error: string };

/** Returns the policy with the agent on shift, by which all steps decide. */
export function onShift(policy: Policy, task: TaskState): Policy {
  const agent = policy.agents.find((name) => name === task.agent);
  return agent === undefined || !hasSeveralAgents(policy) ? policy : withPolicy(policy, { agent });
}

/** Adds `usage` to the total of the agent on shift. Does nothing in a task that never had several agents. */
export function withUsageOfAgent(task: TaskState, policy: Policy, usage: Usage): TaskState {
  if (!hasSeveralAgents(policy) && Object.keys(task.agents).length === 0) return task;
  const used = addUsage(standingOf(task, policy.agent).usage, usage);
  return withStanding(task, policy.agent, { usage: used });
}

/** Notes that nothing is wrong any more with the agent on shift. */
export function withoutTrouble(task: TaskState, { agent }: Policy): TaskState {
  return task.agents[agent] === undefined ? task : withStanding(task, agent, NOT_HELD);
}

/** Returns the task with no agent skipped, for a new run: a person may have fixed what was wrong with an agent. */
export function withoutSkipped(task: TaskState): TaskState {
  const agents = Object.entries(task.agents).map(([name, standing]) => [
    name,
    isSkipped(standing) ? { ...standing, ...NOT_HELD } : standing,
  ]);
  return { ...task, agents: Object.fromEntries(agents) };
}

/** Whether the agent on shift was held because of an outage, and has not answered since. */
export function isStillOut(task: TaskState, { agent }: Policy): boolean {
  return standingOf(task, agent).why === 'outage';
}

/** Returns why a fatal cause takes an agent of a list out of the run, or null if it ends the task. */
export function skippedBecause(cause: string): Skipped | null {
  return SKIPPED_BECAUSE.find((each) => each === cause) ?? null;
}

/** Whether another agent of the list could still work in this run. */
export function hasOthers(task: TaskState, { agent, agents }: Policy): boolean {
  return agents.some((name) => name !== agent && !isSkipped(standingOf(task, name)));
}

/**
 * Ends the shift of an agent. The next free agent continues with the same iteration at once. If none is free, ralph
 * waits for the agent that will be free first, or the task ends. `hasWorked`: the lost attempt had done something, so
 * the time that counts against `maxWaitMs` starts again.
 */
export function loseShift(
  state: LoopState,
  { isGuess = false, why, until, error }: LostShift & { readonly isGuess?: boolean },
  moment: Moment,
  hasWorked: boolean,
): Decided {
  const { agent: from } = moment.policy;
  const guess = isGuess ? ({ is_guess: true } as const) : {};
  const task = withStanding(state.task, from, { held_until: until, why, error, ...guess });
  const { limitedSince } = state.trouble;
  const trouble = { ...state.trouble, limitedSince: hasWorked ? null : limitedSince };
  const lost: LoopState = { ...state, task, trouble };
  const next = firstFree(task, moment);
  if (next === null) return waitForFirst(lost, { why, until, error }, moment);
  return changed(lost, next, { why, until, error }, moment, { kind: 'start', prompt: 'same' });
}

/**
 * Chooses the agent to start: the first free one of the list, but a retry with the same prompt keeps its agent. If no
 * agent is free, waits or ends the task.
 */
export function takeShift(
  state: LoopState,
  decision: Extract<Decision, { kind: 'start' }>,
  moment: Moment,
): Decided {
  const { policy } = moment;
  const { task } = state;
  const isOurs = policy.agents.some((name) => name === task.agent);
  if (decision.prompt === 'same' && isOurs && hasSeveralAgents(policy)) return { state, decision };
  const next = hasSeveralAgents(policy) ? firstFree(task, moment) : policy.agent;
  return next === null
    ? waitForFirst(state, NOTHING_WRONG, moment)
    : changed(state, next, NOTHING_WRONG, moment, decision);
}

const NOTHING_WRONG = { why: 'free-again', until: null, error: null } as const;

type Change = Pick<AgentChanged, 'why' | 'until' | 'error'>;

/** Puts another agent on shift, which begins a new session. */
function changed(
  state: LoopState,
  to: AgentName,
  because: Change,
  { policy }: Moment,
  decision: Decision,
): Decided {
  const { agent: from, current_iteration: iteration } = state.task;
  if (from === to) return { state, decision };
  const next: LoopState = {
    ...state,
    task: { ...state.task, agent: to, session_id: from === null ? state.task.session_id : null },
    // The failures of the previous agent say nothing about this one.
    trouble: { ...state.trouble, transientAttempts: 0, failedStarts: 0, fatalRetries: 0 },
    hasAnswered: from === null && state.hasAnswered,
  };
  if (from === null || !hasSeveralAgents(policy)) return { state: next, decision };
  const told = publish({ event: 'agent_changed', iteration, from, to, ...because });
  return { state: next, announced: [told], decision };
}

/** Waits for the agent that will be free first, or ends the task if that takes too long or all agents are skipped. */
function waitForFirst(state: LoopState, because: Change, moment: Moment): Decided {
  const { at, policy } = moment;
  const [first] = policy.agents
    .flatMap((name) => {
      const { held_until: until, why, ...standing } = standingOf(state.task, name);
      const isGuess = standing.is_guess === true;
      return until === null ? [] : [{ name, until, isOut: why === 'outage', isGuess }];
    })
    .sort((one, other) => msBetween(other.until, one.until));
  const error = allErrors(state.task, policy);
  if (first === undefined) return endSkipped(state, error, policy);
  const { name, until, isOut, isGuess } = first;
  const limitedSince = state.trouble.limitedSince ?? at;
  if (msBetween(limitedSince, until) > policy.maxWaitMs) {
    const reason = isOut ? 'outage' : 'usage_limit';
    return { state, decision: end('usage_limited', reason, { error, until }) };
  }
  const { current_iteration: iteration, attempt } = state.task;
  const delay_ms = msBetween(at, until);
  const waiting: Announcement = isOut
    ? publish({
        ...{ event: 'agent_retry', iteration, attempt, by: 'ralph' },
        ...{ status: null, delay_ms, error },
      })
    : publish({ event: 'usage_limit_wait', iteration, until });
  const decision: Decision = {
    kind: 'wait',
    wait: {
      kind: isOut ? 'outage' : 'usage-limit',
      until,
      ...(isGuess && !isOut ? { is_guess: true } : {}),
    },
  };
  const turned = changed(state, name, because, moment, decision);
  return {
    state: { ...turned.state, trouble: { ...turned.state.trouble, limitedSince } },
    announced: [...(turned.announced ?? []), waiting],
    decision,
  };
}

/** Ends the task: every agent is skipped. The first of the list decides how it ended. */
function endSkipped(state: LoopState, error: string, { agents }: Policy): Decided {
  const [agent = DEFAULT_AGENT] = agents;
  const cause = skippedBecause(standingOf(state.task, agent).why ?? '') ?? 'agent-not-found';
  return {
    state: { ...state, task: { ...state.task, agent } },
    decision: end('failed', `failed:${cause}`, { error }),
  };
}

/** Returns a text that says for each agent why it cannot work. */
function allErrors(task: TaskState, { agents }: Policy): string {
  return agents
    .map((name) => {
      const { held_until: until, why, error } = standingOf(task, name);
      const what = until === null ? (why?.replaceAll('-', ' ') ?? '') : `held until ${until}`;
      return `${name}: ${[what, error ?? ''].filter((part) => part !== '').join(', ')}`;
    })
    .join('; ');
}

function firstFree(task: TaskState, { at, policy }: Moment): AgentName | null {
  const isFree = ({ held_until: until, ...standing }: AgentStanding): boolean =>
    !isSkipped(standing) && (until === null || msBetween(at, until) <= 0);
  return policy.agents.find((name) => isFree(standingOf(task, name))) ?? null;
}

function isSkipped({ why }: Pick<AgentStanding, 'why'>): boolean {
  return why !== null && skippedBecause(why) !== null;
}

function standingOf({ agents }: TaskState, name: AgentName): AgentStanding {
  return agents[name] ?? { ...NOT_HELD, usage: NO_USAGE };
}

function withStanding(
  task: TaskState,
  name: AgentName,
  changes: Partial<AgentStanding>,
): TaskState {
  // `is_guess` is dropped, since it says only whether the end of an earlier wait was guessed.
  const { is_guess: _, ...known } = standingOf(task, name);
  const standing = { ...known, ...changes };
  return { ...task, agents: { ...task.agents, [name]: standing } };
}
