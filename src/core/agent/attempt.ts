/**
 * What one start of the agent showed, as plain facts. The agents in `effects/` produce it,
 * `classify` reads it; nothing in here says yet whether that was good or bad.
 */

/** Why ralph itself ended the agent. The first cause wins over whatever the agent reports afterwards. */
export type CutCause =
  /** The limit on one iteration passed. */
  | 'iteration-timeout'
  /** The agent was silent for longer than the idle limit. */
  | 'idle-timeout'
  /** The limit on the whole task passed while the agent ran. */
  | 'task-timeout'
  /** A signal, Ctrl-C or a request to stop. */
  | 'stop-requested'
  /** The agent kept retrying a refusal (401, 403) that no retry can mend. */
  | 'hopeless-retries';

/** How the agent's process came to its end. */
export type AttemptEnd =
  /** It exited by itself, or lingered after its result and was ended with the result kept. */
  | { readonly kind: 'exited'; readonly exitCode: number }
  /** A signal that ralph did not send ended it. */
  | { readonly kind: 'signalled'; readonly signal: string }
  /** The operating system did not start it; `code` is the system's name for why (`ENOENT`). */
  | { readonly kind: 'not-started'; readonly code: string; readonly message: string }
  /** ralph ended it. */
  | { readonly kind: 'cut'; readonly cause: CutCause; readonly exitCode: number | null };

/** The parts of the agent's own closing report that ralph judges by. */
export interface ResultFacts {
  readonly subtype: string;
  readonly isError: boolean;
  readonly apiErrorStatus: number | null;
  /** The `result` text; null on most error subtypes. */
  readonly text: string | null;
  readonly errors: readonly string[];
  readonly terminalReason: string | null;
  readonly numTurns: number | null;
}

/** One wait inside the agent's own retries, as it announced it. */
export interface RetryFacts {
  /** HTTP status, or null where the agent reported none. */
  readonly status: number | null;
  readonly error: string;
  readonly attempt: number | null;
  readonly maxRetries: number | null;
  readonly delayMs: number | null;
}

/** The newest limit the agent reported about the account it works under. */
export interface RateLimitFacts {
  readonly status: string;
  /** Instant (ISO 8601) at which the limit resets; null where none was given. */
  readonly resetsAt: string | null;
  readonly type: string | null;
  /** 0 to 1; null where none was given. */
  readonly utilization: number | null;
}

/** A tool call that was not allowed to run. */
export interface RefusedTool {
  readonly tool: string;
  /** What it was to act on: the command, file, pattern or address, one line, at most 200 characters. */
  readonly target: string;
  /**
   * The whole command line, where it was one; empty where it was longer than 2,000 characters, too
   * long to be held against a pattern. Null for all other tools.
   */
  readonly command: string | null;
  /** Whether a later call of the same tool succeeded in the same attempt. */
  readonly laterSucceeded: boolean;
}

/** What a stretch of work cost. Cost in US dollars. */
export interface Usage {
  readonly cost_usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** A process the attempt started and left behind. */
export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** Everything one attempt showed. */
export interface AttemptFacts {
  readonly end: AttemptEnd;
  readonly durationMs: number;
  /** Null when the agent gave no closing report (always so for a plain command). */
  readonly result: ResultFacts | null;
  /** Whether an agent of this kind owes a closing report: then its absence is a failure. */
  readonly owesResult: boolean;
  /** The message the promise is judged on; null when there was none. */
  readonly finalMessage: string | null;
  /** For an attempt that was cut: the text so far and the last tool calls. */
  readonly partialOutput: string;
  /** The last 4,000 characters of standard error. */
  readonly stderrTail: string;
  readonly retries: readonly RetryFacts[];
  /** Time the agent spent waiting in its own retries: no limit counts it. */
  readonly retryWaitMs: number;
  /** Time in which ralph itself was stopped, by Ctrl-Z or in a frozen container: no limit counts it. */
  readonly heldUpMs: number;
  /** Whether the last structured event was one of the agent's own retries. */
  readonly endedInRetry: boolean;
  readonly rateLimit: RateLimitFacts | null;
  readonly usage: Usage;
  readonly turns: number;
  /** Number of tool calls. */
  readonly tools: number;
  readonly refused: readonly RefusedTool[];
  /** Sub-agents that the system stopped before they had finished. */
  readonly stoppedSubAgents: number;
  readonly sessionId: string | null;
  /** Lines skipped because they were over the size bound. */
  readonly skippedLines: number;
  /** Lines that could not be read: nested too deeply, or in a form that nobody had expected. */
  readonly brokenLines: number;
  readonly leftovers: readonly Leftover[];
}

/** No cost, no tokens. */
export const NO_USAGE: Usage = { cost_usd: 0, input_tokens: 0, output_tokens: 0 };

/** Adds up two stretches of work. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    cost_usd: a.cost_usd + b.cost_usd,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
  };
}

/** The words an attempt leaves behind: its final message, or what there was of it when it was cut. */
export function outputOf(facts: AttemptFacts): string {
  if (facts.end.kind === 'cut' || facts.finalMessage === null) return facts.partialOutput;
  return facts.finalMessage;
}
