import type { RefusedHost, SandboxRules } from '../../core/sandbox/rules.ts';

/** What is started inside: a program with its arguments, environment and folder. */
export interface InnerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** What to start outside, so that a command runs inside. */
export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** An agent has its login and its hosts; a check has neither. */
export type SandboxRole = 'agent' | 'check';

/** An open sandbox: it wraps the commands of one run. */
export interface Sandbox {
  readonly rules: SandboxRules;
  /** Returns what to start so that this command runs inside. */
  wrap(command: InnerCommand, as: SandboxRole): Promise<WrappedCommand>;
  /** Returns the hosts that were refused since the last call. */
  takeRefused(): Promise<readonly RefusedHost[]>;
  /** Returns the dangerous paths that came to be since the last call. */
  takePlanted(): Promise<readonly string[]>;
  /** The processes that hold the proxies, one for each role that was needed so far. */
  readonly helperPids: readonly number[];
  /** PATH without the folders that the agent may write: for everything that ralph itself starts. */
  readonly outerPath: string;
  /** Ends the helpers, and removes what was made for the sandbox. Call this when nothing in it lives. */
  close(): Promise<void>;
}
