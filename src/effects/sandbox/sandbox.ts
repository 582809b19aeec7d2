import type { MetInSandbox } from '../../core/agent/attempt.ts';
import type { SandboxRules } from '../../core/sandbox/rules.ts';
import type { ConfinedCommand, PlacedCommand } from '../processes/find-program.ts';

/** Which kind of command runs inside: an agent has its login and its network hosts, a check has neither. */
export type SandboxRole = 'agent' | 'check';

/** Folders that only one command has in addition to the rules. */
export interface OwnPlace {
  /** Existing folders that the command may write to. */
  readonly writable: readonly string[];
  /** Paths in these folders that the command must not write to; a missing path is not protected. */
  readonly fixed: readonly string[];
  /** An existing folder for its temporary files and caches, which is writable as well. */
  readonly temporary: string;
}

/** An open sandbox: it wraps the commands of one run. */
export interface Sandbox {
  readonly rules: SandboxRules;
  /** Returns the command to start so that this one runs inside the sandbox. */
  wrap(command: PlacedCommand, as: SandboxRole, place?: OwnPlace): Promise<ConfinedCommand>;
  /**
   * Returns the hosts that were refused and the dangerous paths that appeared since the last call; null if no command
   * has run inside since. Also removes new links by which git would write elsewhere.
   */
  takeMet(): Promise<MetInSandbox | null>;
  /** Returns the pids of the living helpers, which hold the proxies: at most one for each role. */
  helperPids(): readonly number[];
  /** PATH without the folders that the agent may write to: for everything that ralph itself starts. */
  readonly outerPath: string;
  /** Ends the helpers and removes all files made for the sandbox. Call this when no process in it is alive. */
  close(): Promise<void>;
}
