import type { MetInSandbox } from '../../core/agent/attempt.ts';
import type { SandboxRules } from '../../core/sandbox/rules.ts';
import type { ConfinedCommand, PlacedCommand } from '../processes/find-program.ts';

/** An agent has its login and its hosts; a check has neither. */
export type SandboxRole = 'agent' | 'check';

/** A place beyond the rules that only one command has. */
export interface OwnPlace {
  /** Existing folders that it may write. */
  readonly writable: readonly string[];
  /** What it may not write in there; a path that does not exist is not held. */
  readonly fixed: readonly string[];
  /** An existing folder for its temporary files and caches, which is writable as well. */
  readonly temporary: string;
}

/** An open sandbox: it wraps the commands of one run. */
export interface Sandbox {
  readonly rules: SandboxRules;
  /** Returns what to start so that this command runs inside. */
  wrap(command: PlacedCommand, as: SandboxRole, place?: OwnPlace): Promise<ConfinedCommand>;
  /**
   * Returns what was refused and what came to be since the last call; null if nothing has run inside since. Removes
   * links by which git would write elsewhere.
   */
  takeMet(): Promise<MetInSandbox | null>;
  /** Returns the processes that hold the proxies, one for each role that was needed so far. */
  helperPids(): readonly number[];
  /** PATH without the folders that the agent may write: for everything that ralph itself starts. */
  readonly outerPath: string;
  /** Ends the helpers, and removes what was made for the sandbox. Call this when nothing in it lives. */
  close(): Promise<void>;
}
