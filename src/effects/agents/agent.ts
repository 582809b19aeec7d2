import type { AgentSetting } from '../../core/agent/agent.ts';
import type { ReaderFacts } from '../../core/agent/attempt.ts';
import type { DoctorFinding } from '../../core/agent/finding.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { AgentDeed } from '../../core/supervisor/supervisor.ts';
import type { AgentListener } from '../../loop/ports.ts';
import { type AgentCommand, type AgentMissing, findProgram } from '../processes/find-program.ts';
import type { AgentSigns } from '../processes/run-process.ts';

/** The settings for one agent. `model` and `agentBin`, which can differ from agent to agent, are those of this one. */
export type OwnSettings = Omit<Pick<Settings, AgentSetting>, 'model' | 'agentBin'> & {
  readonly model: string | null;
  readonly agentBin: string | null;
};

export interface AgentOptions {
  readonly settings: OwnSettings;
  /** The user's arguments after `--`. */
  readonly passthrough: readonly string[];
  /** Arguments before ralph's own flags: the script, if the program is an interpreter. */
  readonly prefixArgs?: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Whether the agent runs in ralph's sandbox: then it needs no sandbox of its own. */
  readonly inSandbox?: boolean;
}

export interface AgentKind {
  /** A path, or a name to look for in PATH and `folders`. */
  readonly program: string;
  /** Further folders to search, those of installers, because cron's short PATH does not include them. */
  readonly folders: readonly string[];
  args(turn: AgentTurn): readonly string[];
  /** Returns a reader for the output of one attempt. */
  read(listener: ReaderListener, signs: AgentSigns): AgentReader;
  /** Returns environment variables for an attempt that may last `limitMs` milliseconds; absent if it needs none. */
  variables?(limitMs: number): NodeJS.ProcessEnv;
  /** Checks, without starting the agent, whether it can work here. */
  examine(): readonly DoctorFinding[];
  /** Returns the problems that would disturb every attempt, each as a sentence that says what to do. */
  interferences?(): readonly string[];
}

/** The calls by which a reader reports while the agent works. */
export interface ReaderListener extends Pick<AgentListener, 'activity' | 'retry' | 'text'> {
  /** Called with each step of the agent, such as a tool call, that ralph counts to find signs of trouble. */
  did(deed: AgentDeed): void;
}

export interface AgentTurn {
  /** The agent's session to resume; null starts a new one. */
  readonly resumeSession: string | null;
  /** The most that the agent may spend in this attempt, in US dollars; null means no limit. */
  readonly budgetUsd: number | null;
}

/** Returns the program's path and arguments. Searches on every call: an update can move the program. */
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
  /** Reads the next bytes of standard error; absent for an agent that reports nothing there. */
  pushStderr?(chunk: Buffer): void;
  end(): void;
  facts(): ReaderFacts;
}

/** Returns a reader that only collects facts: it calls no listener and affects no process. */
export function silentReader(kind: AgentKind): AgentReader {
  return kind.read(QUIET_LISTENER, QUIET_SIGNS);
}

/** The listener for a reader of which only the facts are needed. */
export const QUIET_LISTENER: ReaderListener = { activity() {}, retry() {}, text() {}, did() {} };

/** Callbacks without effect, for a reader of output whose process has ended. */
export const QUIET_SIGNS: AgentSigns = {
  resultGiven() {},
  retrying() {},
  working() {},
  hopeless: () => false,
};
