import type { AgentSetting } from '../../core/agent/agent.ts';
import type { AttemptFacts } from '../../core/agent/attempt.ts';
import type { Finding } from '../../core/agent/finding.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { AgentListener } from '../../loop/ports.ts';
import { type AgentCommand, type AgentMissing, findProgram } from '../processes/find-program.ts';
import type { AgentSigns } from '../processes/run-process.ts';

/** What an agent is made from. */
export interface AgentOptions {
  readonly settings: Pick<Settings, AgentSetting>;
  /** The user's arguments after `--`. */
  readonly passthrough: readonly string[];
  /** Words between the program and ralph's own flags, for a program that is a script. */
  readonly prefixArgs?: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/**
 * One kind of agent: how it is started and how its standard output is read. What can be known without
 * starting it is in `core/agent/agents/`.
 */
export interface AgentKind {
  /** A path or a name. */
  readonly program: string;
  /** Where its installers put it; cron's bare PATH does not include these. */
  readonly folders: readonly string[];
  args(turn: AgentTurn): readonly string[];
  /** A reader for the output of one attempt. */
  read(listener: AgentListener, signs: AgentSigns): AgentReader;
  /** What would keep it from working, as far as can be seen without starting it. */
  examine(): readonly Finding[];
  /** Finds what would interfere with every attempt; each result is one sentence that says what to do. */
  interferences?(): readonly string[];
}

export interface AgentTurn {
  /** The agent's session to resume; null starts a new one. */
  readonly resumeSession: string | null;
  /** The most it may spend, in US dollars; null means no limit. */
  readonly budgetUsd: number | null;
}

/** Looks for the program on every call, because it may be updated while the loop runs. */
export function locate(
  { program, folders, args }: AgentKind,
  turn: AgentTurn,
  { env, cwd }: Pick<AgentOptions, 'env' | 'cwd'>,
): AgentCommand | AgentMissing {
  const found = findProgram({ name: program, env, cwd, further: folders });
  return 'missing' in found ? found : { file: found.file, args: args(turn) };
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
type ReaderFacts = Pick<
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
