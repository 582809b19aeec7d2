import type { AttemptFacts } from '../../core/agent/attempt.ts';
import type { AgentListener } from '../../loop/ports.ts';
import type { AgentCommand, AgentMissing } from '../processes/find-program.ts';
import type { AgentSigns } from '../processes/run-process.ts';

/**
 * One kind of agent: how it is started and how its standard output is read. A new kind is a new
 * file that creates one of these, and one line in `compose/agent.ts`.
 */
export interface AgentKind {
  /** If true, an attempt without a closing report has failed. */
  readonly owesResult: boolean;
  /** Looks for the program on every call, because it may be updated while the loop runs. */
  locate(turn: AgentTurn): AgentCommand | AgentMissing;
  /** The command line it would have if the program were installed; shown in a plan. */
  wanted(turn: AgentTurn): readonly string[];
  /** A reader for the output of one attempt. */
  read(listener: AgentListener, signs: AgentSigns): AgentReader;
}

export interface AgentTurn {
  /** The agent's session to resume; null starts a new one. */
  readonly resumeSession: string | null;
  /** The most it may spend, in US dollars; null means no limit. */
  readonly budgetUsd: number | null;
}

export interface AgentReader {
  /** Reads the next bytes of standard output; keeps no reference to the chunk. */
  push(chunk: Buffer): void;
  end(): void;
  facts(): ReaderFacts;
}

/** A reader that nobody listens to and that steers no process: only its facts count. */
export function silentReader(kind: AgentKind): AgentReader {
  const listener = { activity() {}, retry() {}, text() {} };
  const signs = { resultGiven() {}, retrying() {}, working() {}, hopeless() {} };
  return kind.read(listener, signs);
}

/** The facts about an attempt that come from standard output. */
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
