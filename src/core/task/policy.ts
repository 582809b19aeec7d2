import type { AgentName } from '../agent/agents/agents.ts';
import type { SandboxRules } from '../sandbox/rules.ts';
import type { Judge } from '../settings/judge-setting.ts';
import type { Settings } from '../settings/settings.ts';

/** The settings that the loop reads as they were given. `Policy` has the omitted ones in another form. */
export type LoopSettings = Omit<
  Settings,
  | 'agent'
  | 'judge'
  | 'watchGlob'
  | 'doneFolder'
  | 'signal'
  | 'maxCost'
  | 'maxUsage'
  | 'approvalTimeout'
  | 'iterationTimeout'
  | 'idleTimeout'
  | 'delay'
  | 'maxWait'
>;

/** The settings and facts by which the loop decides. All durations are in milliseconds. */
export interface Policy extends LoopSettings {
  /** The agent whose turn it is; before the first iteration, the first of the list. */
  readonly agent: AgentName;
  /** All agents, in the order in which they take over; mostly there is one. */
  readonly agents: readonly AgentName[];
  /** The agent that judges claims of completion; null if none does. */
  readonly judge: Judge | null;
  readonly watchGlobs: readonly string[];
  readonly doneFolder: string;
  readonly signals: readonly string[];
  /** US dollars for the whole task; null: no limit. */
  readonly maxCostUsd: number | null;
  /** Percent of the account's usage limit; null: no limit. */
  readonly maxUsagePercent: number | null;
  /** What a person has to approve before the first iteration; null: nothing. */
  readonly approvalRequired: string | null;
  readonly approvalTimeoutMs: number;
  readonly iterationTimeoutMs: number;
  /** How long the agent may be silent; null: no limit. */
  readonly idleTimeoutMs: number | null;
  readonly delayMs: number;
  /** How long ralph waits for the end of a usage limit or an outage before it gives up. */
  readonly maxWaitMs: number;
  /** The machine's time zone, used if the reset time of a usage limit names no zone. */
  readonly timeZone: string;
  /** Absolute path of the list to which this task belongs; absent if it belongs to none. */
  readonly list?: string;
  /** The sandbox of the run, once it is open; null if it has none. */
  readonly inSandbox: OpenSandbox | null;
}

/** A sandbox that was tested and found to work. */
export interface OpenSandbox {
  readonly rules: SandboxRules;
  /** The version of the sandbox component in use, such as `0.0.78`. */
  readonly version: string;
}

/**
 * Returns the policy with some changes. Copies the getter of the time zone, and does not call it, since a call takes
 * a while.
 */
export function withPolicy(policy: Policy, changes: Partial<Policy>): Policy {
  const changed: Policy = Object.create(Object.prototype, {
    ...Object.getOwnPropertyDescriptors(policy),
    ...Object.getOwnPropertyDescriptors(changes),
  });
  return changed;
}

export function hasSeveralAgents({ agents }: Policy): boolean {
  return agents.length > 1;
}

/** Returns the agent whose turn it is as a field of records and events; no field if the task has only one agent. */
export function agentNamed(policy: Policy): { readonly agent?: AgentName } {
  return hasSeveralAgents(policy) ? { agent: policy.agent } : {};
}

/** The longest interval between retries during an outage. */
export const SLOWEST_RETRY_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1_000;

/**
 * Returns how many milliseconds to wait before the next attempt: 1 s, doubled with each failure up to 5 min,
 * then lowered at random by up to half, so that many tasks do not retry at the same instant. `failures`
 * counts from 1; `random` lies in [0, 1).
 */
export function backOffMs(failures: number, random: number): number {
  const full = Math.min(SLOWEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30));
  return Math.round(full / 2 + (full / 2) * random);
}

/** `statement`: the promise (text for "done") is stated, tagged or bare. `tag`: tagged only. `contains`: anywhere. */
export type MatchRule = Settings['match'];
