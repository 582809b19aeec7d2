import type { AttemptFacts, ResultFacts } from './attempt.ts';
import type { FatalCause, Outcome } from './outcome.ts';
import type { FailureKind, ToldFailure, Wording } from './wordings.ts';

/** The settings that only some agents support. */
export type AgentSetting =
  | 'agentCommand'
  | 'agentBin'
  | 'model'
  | 'permissionMode'
  | 'allowedTools'
  | 'edit'
  | 'dangerouslySkipPermissions'
  | 'maxCost'
  | 'maxCostPerDay'
  | 'maxUsage'
  | 'session'
  | 'acceptRefused'
  | 'askBack';

/** What an agent may report while it works. Some agents report some of this only at their end, or not at all. */
export type Told = 'calls' | 'refusals' | 'tokens' | 'sub-agents' | 'cost';

/** The machine that ralph runs on. Read `timeZone` only when needed: the getter is slow. */
export interface HostMachine {
  readonly timeZone: string;
}

/** What ralph knows about an agent without starting it. `agents/agents.ts` has the list of all agents. */
export interface Agent {
  /** The settings that the agent supports, besides those that every agent supports. */
  readonly takes: readonly AgentSetting[];
  /** Flags that ralph itself passes to the agent. ralph rejects them if the user gives them after `--`. */
  readonly ownFlags: readonly string[];
  /** The flag that limits what an attempt spends, or null. Older versions of the agent may not know it. */
  readonly budgetFlag: string | null;
  /** Whether the agent replaces `@path` in a prompt by the contents of that file. */
  readonly expandsAtPaths: boolean;
  /** What the agent reports while it works, so that ralph can end an iteration because of it. */
  readonly tells: readonly Told[];
  /** Whether an attempt without a closing report has failed. */
  readonly requiresReport: boolean;
  /** Environment variables (names or patterns) that tell the agent that it runs inside another instance of itself. */
  readonly nestingVariables: readonly (string | RegExp)[];
  /** Environment variables for a call with `--version`; null if the agent must not be called with this flag. */
  readonly versionVariables: Readonly<Record<string, string>> | null;
  /** The notice printed at the start of a run if the settings let the agent change nothing; null for no notice. */
  readonly permissionsNotice: string | null;
  /** The values of `--permission-mode` that let the agent change nothing. They cause the notice, too. */
  readonly readOnlyModes: readonly string[];
  /**
   * Returns the agent's rule that allows a command, also with further words if it consists of several words. Returns
   * null if no rule can express that. Absent if the agent has no rules for single commands.
   */
  readonly commandRule?: (words: readonly string[]) => string | null;
  /** What `--edit` allows for commands if there is no `commandRule`, as the end of a sentence. */
  readonly editsAnd?: string;
  /** Returns what is wrong with a value of `--permission-mode`, as a sentence without a subject; null if nothing is. */
  readonly permissionModeProblem?: (mode: string) => string | null;
  /** The longest prompt that the agent accepts, including what ralph adds to it; null if unknown. */
  readonly promptLimit: PromptLimit | null;
  /** How ralph keeps the agent from writing when the agent is used as a judge; null if no way has been tested. */
  readonly judging: AgentJudging | null;
  readonly sandbox: AgentSandbox;
  readonly installRemedy: string;
  readonly remedies: { readonly [Cause in FatalCause]?: string };

  /** The meanings of the agent's error messages. The first pattern that matches decides. */
  readonly wordings: readonly Wording[];
  readonly errorCodes?: Readonly<Record<string, FailureKind>>;
  /** The meanings of the agent's exit codes, which count if its messages say nothing more specific. */
  readonly exitCodes: Readonly<Record<number, FailureKind>>;

  /** Returns the failure that a report of success hides, or null. `prompt` is what the user asked for. */
  readonly readAnswer?: (
    report: ResultFacts,
    facts: AttemptFacts,
    prompt: string,
  ) => Outcome | null;
  /** Returns the failure that the last output of an attempt without a report names, or null. */
  readonly readLastWords?: (facts: AttemptFacts) => ToldFailure | null;
}

/** How long a prompt may be, in UTF-16 code units or in bytes of UTF-8. */
export interface PromptLimit {
  readonly most: number;
  readonly unit: 'characters' | 'bytes';
}

/** How an agent is started as a judge: it may only read, and has to answer with a JSON object. */
interface AgentJudging {
  /** Names of the files and folders from which the agent takes instructions, wherever they are in a tree. */
  readonly instructedBy: readonly string[];
  /** The arguments for judging, besides those of every attempt. */
  readonly args: readonly string[];
  /** The flag that takes the schema of the answer, as JSON text or as a file; null if the agent has no such flag. */
  readonly schema: { readonly flag: string; readonly as: 'text' | 'file' } | null;
  /** Returns environment variables to add to those of the user; absent for none. */
  readonly variables?: (
    env: Readonly<Record<string, string | undefined>>,
  ) => Readonly<Record<string, string>>;
}

/** What an agent needs to work in a sandbox, and which of its own files it must not change there. */
interface AgentSandbox {
  /** The hosts of the agent's API and login. */
  readonly hosts: readonly string[];
  /** Environment variables that can set another address for the agent's API. */
  readonly addressVariables: readonly string[];
  readonly loginVariables: readonly string[];
  /** Folders that the agent writes to. */
  readonly folders: readonly AgentFolder[];
  /** Names in `folders` that the agent executes or trusts at its next start, so it may not write them. */
  readonly fixed: readonly string[];
  /** Names in a work tree that the agent executes or trusts when it is started there. */
  readonly inTree: readonly string[];
  /** The only names that the agent may write in `folders`; null if it may write all except for those in `fixed`. */
  readonly state: AgentState | null;
  /** Files in the home folder with data about the agent's login. The agent may only read them. */
  readonly loginFiles: readonly string[];
}

/**
 * The files and folders that an agent writes in its own folders while it works. All else there is protected, since
 * the user's settings can make any file there a program to run.
 */
interface AgentState {
  readonly names: readonly string[];
  /** The names of folders in which each session has files that it executes. Files of other sessions are protected. */
  readonly ofSessions: readonly string[];
}

/** A folder of an agent: it is in the home folder unless an environment variable moves it. */
export interface AgentFolder {
  readonly inHome: string;
  readonly variable: string;
  /** The folder's name inside the folder that the variable names; empty if the variable names the folder itself. */
  readonly inVariable: string;
}
