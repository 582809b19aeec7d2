/*
 * The facts of one attempt, which is one start of the agent. The code in `effects/agents` collects them, and
 * `classify` derives the outcome from them.
 */

import type { SignFound } from './sign.ts';

/** Why ralph itself ended the agent. The first cause outweighs anything that the agent reports later. */
export type CutCause =
  /** The time limit of one iteration passed. */
  | 'iteration-timeout'
  /** The agent was silent for longer than the idle limit. */
  | 'idle-timeout'
  /** The time limit of the whole task passed while the agent ran. */
  | 'task-timeout'
  /** A signal, Ctrl-C or a request to stop. */
  | 'stop-requested'
  /** The agent kept retrying after a refusal (401, 403) that no retry can fix. */
  | 'hopeless-retries'
  /** The agent began the same answer again and again, was cut off each time, and would have gone on forever. */
  | 'endless-retries'
  /** The agent only repeated itself, or used more than it may: `AttemptFacts.cutBy` says how. */
  | 'supervisor';

/** How the agent's process ended. */
export type AttemptEnd =
  /** The agent exited by itself. Or it kept running after its result, so ralph ended it but kept the result. */
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** A signal that ralph did not send ended the agent. */
  | { readonly kind: 'signalled'; readonly signal: string }
  /** The operating system could not start the agent; `code` is the error code (`ENOENT`). */
  | { readonly kind: 'not-started'; readonly code: string; readonly message: string }
  /** ralph ended the agent. */
  | { readonly kind: 'cut'; readonly cause: CutCause; readonly exitCode: number | null };

export interface ResultFacts {
  readonly subtype: string;
  readonly isError: boolean;
  readonly apiErrorStatus: number | null;
  /** The error code that the agent reports beside its error message; null if there is none. */
  readonly errorCode: string | null;
  /** The `result` text; null for most error subtypes. */
  readonly text: string | null;
  readonly errors: readonly string[];
  readonly terminalReason: string | null;
  readonly numTurns: number | null;
  /** Whether the model itself refused to go on (`stop_reason: "refusal"`). */
  readonly isRefusal: boolean;
  /** Whether the text is not the end of the model's turn: a connection that was lost, or a pause. */
  readonly isBrokenOff: boolean;
  /** Whether the agent says that one of its own commands answered instead of the model. */
  readonly isLocal: boolean;
}

/** A retry that the agent made by itself and announced. */
export interface RetryFacts {
  /** HTTP status, or null if the agent reported none. */
  readonly status: number | null;
  readonly error: string;
  readonly attempt: number | null;
  readonly maxRetries: number | null;
  readonly delayMs: number | null;
}

/** The latest usage limit that the agent reported for its account. */
export interface RateLimitFacts {
  readonly status: string;
  /** Instant (ISO 8601) at which the limit resets; null if none was given. */
  readonly resetsAt: string | null;
  readonly type: string | null;
  /** The used part of the limit, from 0 to 1; null if none was given. */
  readonly utilization: number | null;
}

/** A tool call that was not allowed to run. */
export interface RefusedTool {
  readonly tool: string;
  /** The command, file, pattern or address of the call, on one line of at most 200 characters. */
  readonly target: string;
  /** The whole command line; null if the tool runs no commands, and empty if it was longer than 2,000 characters. */
  readonly command: string | null;
  /** Whether a later call of the same tool succeeded in the same attempt. */
  readonly laterSucceeded: boolean;
}

export interface Usage {
  readonly cost_usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** A process that the attempt started and left running. */
export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** A host to which the sandbox refused connections, and how often. */
export interface RefusedHost {
  readonly host: string;
  readonly port: number;
  readonly count: number;
}

/** Merges entries with the same host and port and adds up their counts. Keeps the order of first appearance. */
export function sumRefused(refused: readonly RefusedHost[]): readonly RefusedHost[] {
  const sums = new Map<string, RefusedHost>();
  for (const each of refused) {
    const key = `${each.host}:${each.port}`;
    sums.set(key, { ...each, count: each.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()];
}

/** What the sandbox noticed while an attempt, a check or another command ran in it. */
export interface MetInSandbox {
  readonly refused: readonly RefusedHost[];
  /** New files that other programs may run or obey. The sandbox could not protect them before they existed. */
  readonly planted: readonly string[];
  /** How many hosts and files the lists leave out; absent for none. */
  readonly more?: LeftOutCounts;
}

export interface LeftOutCounts {
  readonly refused: number;
  readonly planted: number;
}

/**
 * What a hook of the user did to an attempt: it `blocked` the prompt, or it `held` the agent (kept it from ending after
 * its last message). `said` is the hook's own message.
 */
export interface HookFacts {
  readonly did: 'blocked' | 'held';
  readonly said: string;
}

/** An MCP server that the agent could not start, or that requires a login. */
export interface LostServer {
  readonly server: string;
  readonly status: 'failed' | 'needs-auth';
}

export interface ProcessFacts {
  readonly end: AttemptEnd;
  readonly durationMs: number;
  /** The last 16,000 bytes of standard error. */
  readonly stderrTail: string;
  /** Time that the agent spent waiting between its own retries. It counts against no limit. */
  readonly retryWaitMs: number;
  /** Time for which this process was suspended (Ctrl-Z, a frozen container). It counts against no limit. */
  readonly heldUpMs: number;
}

/** Facts from the agent's output in an attempt. */
export interface ReaderFacts {
  /** Null if the agent gave no result report (always for a plain command). */
  readonly result: ResultFacts | null;
  /** The message that is searched for the promise (the text for "done"); null if there was no message. */
  readonly finalMessage: string | null;
  /** The object that the agent reports beside its text if it was given a schema; absent if it reports none. */
  readonly structuredOutput?: unknown;
  /** The text and the last tool calls of the attempt, used if there is no final message that counts. */
  readonly partialOutput: string;
  readonly retries: readonly RetryFacts[];
  /** Whether the last structured event was one of the agent's own retries. */
  readonly endedInRetry: boolean;
  readonly rateLimit: RateLimitFacts | null;
  readonly usage: Usage;
  /** The total of the session with its earlier attempts, if the agent reports no usage per attempt; otherwise null. */
  readonly sessionUsage: Usage | null;
  readonly turns: number;
  /**
   * Whether the model said something or called a tool; for a command, whether it printed more than white space.
   * Messages of the agent's own program do not count. Nor do tokens and cost, since even a refused request has both.
   */
  readonly worked: boolean;
  readonly tools: number;
  readonly refused: readonly RefusedTool[];
  /** Number of sub-agents that the system stopped before they finished. */
  readonly stoppedSubAgents: number;
  readonly sessionId: string | null;
  /** What a hook did to the attempt; absent if no hook blocked the prompt or kept the agent from ending. */
  readonly hook?: HookFacts;
  /** Absent if all MCP servers started. */
  readonly lostServers?: readonly LostServer[];
  /** Number of lines skipped because they were too long. */
  readonly skippedLines: number;
  /** Number of unreadable lines: nested too deeply, or in an unexpected form. */
  readonly brokenLines: number;
}

/** Everything that ralph knows of one attempt of the agent. */
export interface AttemptFacts extends ProcessFacts, ReaderFacts {
  /** The warning sign because of which ralph ended the agent; absent for any other end. */
  readonly cutBy?: SignFound;
  readonly leftovers: readonly Leftover[];
}

const ROUNDING_USD = 1e-9;

/** Whether a budget in US dollars is used up. */
export function isSpent(spentUsd: number, budgetUsd: number): boolean {
  return spentUsd >= budgetUsd - ROUNDING_USD;
}

export const NO_USAGE: Usage = { cost_usd: 0, input_tokens: 0, output_tokens: 0 };

/** Adds the cost and the tokens of two pieces of work. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    cost_usd: a.cost_usd + b.cost_usd,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
  };
}

/** The latest total of a session, from an agent that reports totals. */
export interface SessionUsage extends Usage {
  readonly session_id: string;
}

type Told = Pick<AttemptFacts, 'usage' | 'sessionUsage' | 'sessionId'>;

/**
 * Returns what one attempt used. If the agent reports the total of a resumed session, subtracts `told`, the total
 * before the attempt. If the new total is lower, the agent has started a new count, so all of it is the attempt's.
 */
export function usageOfAttempt(facts: Told, told: SessionUsage | null): Usage {
  const total = facts.sessionUsage ?? null;
  if (total === null) return facts.usage;
  if (told === null || told.session_id !== facts.sessionId) return total;
  const own = addUsage(total, scaled(told, -1));
  return own.input_tokens < 0 || own.output_tokens < 0 ? total : own;
}

/** Returns the latest total of the agent's session after an attempt; null if the agent has reported none. */
export function sessionUsageAfter(facts: Told, told: SessionUsage | null): SessionUsage | null {
  const { sessionUsage, sessionId } = facts;
  return sessionUsage == null || sessionId === null
    ? told
    : { ...sessionUsage, session_id: sessionId };
}

function scaled(usage: Usage, by: number): Usage {
  return {
    cost_usd: usage.cost_usd * by,
    input_tokens: usage.input_tokens * by,
    output_tokens: usage.output_tokens * by,
  };
}

/**
 * Returns the text of an attempt: its final message, or the partial output if there is none or ralph ended the
 * agent. The text of an error report does not count as a final message if there is partial output.
 */
export function attemptOutput({ end, result, finalMessage, partialOutput }: AttemptFacts): string {
  const isError = result?.isError === true && result.text === finalMessage && partialOutput !== '';
  return end.kind === 'cut' || finalMessage === null || isError ? partialOutput : finalMessage;
}
