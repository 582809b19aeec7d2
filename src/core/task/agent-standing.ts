import { NO_USAGE, type Usage } from '../agent/attempt.ts';

/** Why an agent of a list is not started for a while: the next one takes over. */
export const HELD_BECAUSE = ['usage-limit', 'outage'] as const;

/** Why an agent of a list is not started any more in this run. */
export const SKIPPED_BECAUSE = [
  'agent-not-found',
  'not-logged-in',
  'no-credit',
  'agent-error',
] as const;

/** What is known of one agent of a list. */
export interface AgentStanding {
  /** It is not started before this ISO instant; null if it is not held. */
  readonly held_until: string | null;
  /** Why it was held last, and has not answered since, or why it is skipped; null for neither. */
  readonly why: (typeof HELD_BECAUSE | typeof SKIPPED_BECAUSE)[number] | null;
  /** What it reported then, in one line. */
  readonly error: string | null;
  /** Set if nobody knows when its usage limit is reset. */
  readonly is_guess?: true;
  readonly usage: Usage;
}

/** What is known of an agent with which nothing is wrong. */
export const NOT_HELD = { held_until: null, why: null, error: null } as const;

/** The judge of a task: what it has used of the task's money, and what it has said last. */
export interface JudgeStanding {
  readonly agent: string;
  /** Null for the agent's own default. */
  readonly model: string | null;
  /** How often it was asked. */
  readonly calls: number;
  /** How many claims it has held. */
  readonly held: number;
  readonly usage: Usage;
  /** In one line: `judged by codex: 3 of 4 met, not met: c2`. */
  readonly says: string;
}

/** A judge that was not asked yet. */
export const NOT_ASKED = { calls: 0, held: 0, usage: NO_USAGE } as const;
