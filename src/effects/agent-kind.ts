import type { AttemptFacts, CutCause } from '../core/attempt.ts';
import type { AgentListener } from '../loop/ports.ts';

/**
 * One kind of agent: how it is started and how its standard output is read. A new kind is one more
 * file that makes one of these, and one line in `compose.ts`.
 */
export interface AgentKind {
  /** Whether it owes a closing report: then its absence is a failure. */
  readonly owesResult: boolean;
  /** Looks for the program afresh each time: it may be updated while the loop runs. */
  locate(turn: AgentTurn): AgentCommand | AgentMissing;
  /** The words it would be started with if it were there, for a plan. */
  wanted(turn: AgentTurn): readonly string[];
  /** A reader for the output of one attempt. */
  read(listener: AgentListener, signs: AgentSigns): AgentReader;
}

/** What is special about one start. */
export interface AgentTurn {
  /** The agent's own session to go on with; null begins afresh. */
  readonly resumeSession: string | null;
  /** What it may spend, in US dollars; null: no limit. */
  readonly budgetUsd: number | null;
}

export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
}

/** The program is not there; the sentence says where it was looked for. */
export interface AgentMissing {
  readonly missing: string;
}

/** What the output tells about the process while it runs. */
export interface AgentSigns {
  /** The closing report has come: the process has a moment to exit by itself. */
  resultGiven(): void;
  /** The agent waits in its own retries: no limit runs. */
  retrying(delayMs: number | null): void;
  /** It works again. */
  working(): void;
  /** Nothing good can come any more. */
  hopeless(cause: CutCause): void;
}

export interface AgentReader {
  /** Takes the next bytes of standard output; nothing of the chunk is kept after the call. */
  push(chunk: Buffer): void;
  end(): void;
  facts(): ReaderFacts;
}

/** The facts of an attempt that come from standard output. */
export type ReaderFacts = Pick<
  AttemptFacts,
  | 'result'
  | 'finalMessage'
  | 'partialOutput'
  | 'retries'
  | 'endedInRetry'
  | 'rateLimit'
  | 'usage'
  | 'turns'
  | 'tools'
  | 'refused'
  | 'stoppedSubAgents'
  | 'sessionId'
  | 'skippedLines'
  | 'brokenLines'
>;
