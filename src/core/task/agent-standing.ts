import { NO_USAGE, type Usage } from '../agent/attempt.ts';

/** The reasons why one of a task's several agents is not started for a while and the next agent takes over. */
export const HELD_BECAUSE = ['usage-limit', 'outage'] as const;

/** The reasons why one of a task's several agents is not started again in this run. */
export const SKIPPED_BECAUSE = [
  'agent-not-found',
  'not-logged-in',
  'no-credit',
  'agent-error',
] as const;

/** What is known about one of a task's several agents. */
export interface AgentStanding {
  /** The agent is not started before this ISO instant; null if it may be started. */
  readonly held_until: string | null;
  /** Why the agent is skipped, or why it was last held (not started for a while); null once it has answered again. */
  readonly why: (typeof HELD_BECAUSE | typeof SKIPPED_BECAUSE)[number] | null;
  /** What the agent reported when it was held or skipped, in one line. */
  readonly error: string | null;
  /** Set if `held_until` is a guess, because the reset time of the usage limit is unknown. */
  readonly is_guess?: true;
  readonly usage: Usage;
}

/** The values for an agent with which nothing is wrong. */
export const NOT_HELD = { held_until: null, why: null, error: null } as const;

/** The judge of a task (an agent that judges claims of completion): what it has used, and what it said last. */
export interface JudgeStanding {
  readonly agent: string;
  /** Null for the agent's own default. */
  readonly model: string | null;
  readonly calls: number;
  /** How many claims of completion the judge has rejected. */
  readonly held: number;
  readonly usage: Usage;
  /** The last verdict in one line: `judged by codex: 3 of 4 met, not met: c2`. */
  readonly says: string;
}

/** The counts of a judge that was not asked yet. */
export const NOT_ASKED = { calls: 0, held: 0, usage: NO_USAGE } as const;
