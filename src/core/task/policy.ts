/** The settings by which the loop decides. All durations are in milliseconds. */
export interface Policy {
  readonly agent: 'claude' | 'command';
  readonly promise: string | null;
  readonly match: MatchRule;
  readonly watchGlobs: readonly string[];
  readonly watchFile: string | null;
  readonly doneFolder: string;
  /** Shell command that completes the task when it exits 0; null: none. */
  readonly until: string | null;
  readonly signals: readonly string[];
  readonly planFile: string | null;
  readonly verify: string | null;
  /** In how many consecutive iterations a claim must hold. */
  readonly confirm: number;
  readonly minIterations: number;
  readonly protect: readonly string[];
  readonly acceptRefused: readonly string[];
  readonly abortPromise: string | null;
  /** Whether the agent is asked if it is doubtful that it stated the promise. */
  readonly askBack: boolean;
  /** US dollars for the whole task; null: no limit. */
  readonly maxCostUsd: number | null;
  /** Percent of the account's usage limit; null: no limit. */
  readonly maxUsagePercent: number | null;
  /** 0 turns it off. */
  readonly noProgressLimit: number;
  /** 0 turns it off. */
  readonly sameErrorLimit: number;
  readonly session: 'fresh' | 'continue';
  readonly after: string | null;
  /** What a person has to approve before the first iteration; null: nothing. */
  readonly approvalRequired: string | null;
  readonly approvalTimeoutMs: number;
  /** Request approvals, but do not wait for them. */
  readonly noWait: boolean;
  readonly maxIterations: number;
  readonly iterationTimeoutMs: number;
  /** How long the agent may be silent; null: no limit. */
  readonly idleTimeoutMs: number | null;
  readonly delayMs: number;
  /** Number of quick retries after a temporary failure, before the slow ones begin. */
  readonly retries: number;
  /** How long slow retries continue. */
  readonly maxWaitMs: number;
  /** The machine's time zone, used for a reset time without a zone. */
  readonly timeZone: string;
  readonly context: 'last' | 'none';
  /** How much of the previous output goes into the next prompt, in UTF-16 code units. */
  readonly contextChars: number;
}

/** The longest interval between retries during an outage. */
export const SLOWEST_RETRY_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1_000;

/**
 * How long to wait before the next attempt: 1 s doubling to 5 min, spread over its upper half so
 * that many drivers do not return at the same instant.
 * `failures` counts from 1; `random` lies in [0, 1).
 */
export function backOffMs(failures: number, random: number): number {
  const full = Math.min(SLOWEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30));
  return Math.round(full / 2 + (full / 2) * random);
}

/** `statement`: the promise is stated, tagged or bare. `tag`: tagged only. `contains`: anywhere. */
export type MatchRule = 'statement' | 'tag' | 'contains';

/** Used where no completion condition is given at all. */
export const DEFAULT_PROMISE = 'TASK_COMPLETE';
