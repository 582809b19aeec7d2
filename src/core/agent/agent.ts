import type { AttemptFacts, ResultFacts } from './attempt.ts';
import type { FatalCause, Outcome } from './outcome.ts';
import type { FailureKind, ToldFailure, Wording } from './wordings.ts';

/** The settings that not every agent takes. */
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

/** What an agent tells while it works; some tell it only at their end, or not at all. */
export type Told = 'calls' | 'refusals' | 'tokens' | 'sub-agents' | 'cost';

/** The machine that ralph runs on. Read `timeZone` only when needed: this getter takes a while. */
export interface HostMachine {
  readonly timeZone: string;
}

/**
 * What is known of an agent without starting it. Each agent has a file in `agents/` and a line in the list
 * there. The folder `effects` has the code that starts it and reads its output.
 */
export interface Agent {
  /** The settings that it takes, besides those that every agent takes. */
  readonly takes: readonly AgentSetting[];
  /** Flags that ralph itself passes to the agent, so they are refused after `--`. */
  readonly ownFlags: readonly string[];
  /** The flag that limits what an attempt spends, or null. Older versions of the agent may not know it. */
  readonly budgetFlag: string | null;
  /** Whether the agent replaces `@path` in a prompt by the contents of that file. */
  readonly expandsAtPaths: boolean;
  /** What it tells while it works, so that an iteration can be ended by it. */
  readonly tells: readonly Told[];
  /** Whether an attempt without a closing report has failed. */
  readonly requiresReport: boolean;
  /** Variables by which the agent recognises that the same program has started it: names or patterns. */
  readonly nestingVariables: readonly (string | RegExp)[];
  /** Variables for asking it for its `--version`; null if it may not know this flag, so nobody asks. */
  readonly versionVariables: Readonly<Record<string, string>> | null;
  /** The notice at the start of a run whose settings permit nothing; null for none. */
  readonly permissionsNotice: string | null;
  /** The values of `--permission-mode` with which the agent can change nothing: the notice appears then, too. */
  readonly readOnlyModes: readonly string[];
  /**
   * Returns its rule that allows a command of plain words, with further words only if there is more than one; null if
   * no rule of it says just that. Absent if it cannot be allowed single commands.
   */
  readonly commandRule?: (words: readonly string[]) => string | null;
  /** What `--edit` means for commands where there are no such rules, as the end of a sentence. */
  readonly editsAnd?: string;
  /** Returns what is wrong with a value of `--permission-mode`, as a sentence without its subject, or null. */
  readonly permissionModeProblem?: (mode: string) => string | null;
  /** The longest prompt that the agent reads, ralph's own words included; null if it cannot be told. */
  readonly promptLimit: PromptLimit | null;
  /** How it is kept from writing when it judges a claim; null if nobody has tried that. */
  readonly judging: AgentJudging | null;
  /** What it needs in a sandbox. */
  readonly sandbox: AgentSandbox;
  /** What to do if `ralph doctor` does not find the agent. */
  readonly installRemedy: string;
  /** What to do about each fatal cause that can end a task. */
  readonly remedies: { readonly [Cause in FatalCause]?: string };

  /** What its words about a failure mean; the first pattern that matches decides. */
  readonly wordings: readonly Wording[];
  /** What the codes mean that it puts beside its own words about a failure, where it does. */
  readonly errorCodes?: Readonly<Record<string, FailureKind>>;
  /** What its exit codes mean, where its words do not say more. */
  readonly exitCodes: Readonly<Record<number, FailureKind>>;

  /** Returns the failure that a report of success hides, or null. `prompt` is what the user asked for. */
  readonly readAnswer?: (
    report: ResultFacts,
    facts: AttemptFacts,
    prompt: string,
  ) => Outcome | null;
  /** Returns the failure that the last words of an attempt without any report name, or null. */
  readonly readLastWords?: (facts: AttemptFacts) => ToldFailure | null;
}

/** How long a prompt may be, in UTF-16 code units or in bytes of UTF-8. */
export interface PromptLimit {
  readonly most: number;
  readonly unit: 'characters' | 'bytes';
}

/** How an agent is started so that it only reads, and answers with an object. */
interface AgentJudging {
  /** Names of the files and folders that it reads as instructions, wherever they lie in a tree. */
  readonly instructedBy: readonly string[];
  /** Its arguments, besides those that every attempt has. */
  readonly args: readonly string[];
  /** The flag that takes the schema of the answer, as JSON or in a file; null if it takes none. */
  readonly schema: { readonly flag: string; readonly as: 'text' | 'file' } | null;
  /** Returns its variables beside those of the user's environment; absent for none. */
  readonly variables?: (
    env: Readonly<Record<string, string | undefined>>,
  ) => Readonly<Record<string, string>>;
}

/** What an agent needs to work in a sandbox, and what of its own it must not change there. */
interface AgentSandbox {
  /** The hosts of its API and of its login. */
  readonly hosts: readonly string[];
  /** Variables with another address of its API. */
  readonly addressVariables: readonly string[];
  /** Variables with its login. */
  readonly loginVariables: readonly string[];
  /** Folders that it writes. */
  readonly folders: readonly AgentFolder[];
  /** Names in these folders that it runs or believes at its next start, so that it may not write them. */
  readonly fixed: readonly string[];
  /** Names in a tree that it runs or believes when it is started there. */
  readonly inTree: readonly string[];
  /** What else of these folders is fixed; null for nothing. */
  readonly state: AgentState | null;
  /** Files in the home folder that tell its login and that it may only read. */
  readonly loginFiles: readonly string[];
}

/**
 * What an agent writes in its folders while it works. Whatever else is there stays as it is: the user's settings
 * can name any of it as a program.
 */
interface AgentState {
  readonly names: readonly string[];
  /** Those with files that each session runs of its own: what other sessions have there stays as it is. */
  readonly ofSessions: readonly string[];
}

/** A folder in the home folder, or another one if a variable moves it. */
export interface AgentFolder {
  readonly inHome: string;
  readonly variable: string;
  /** The name of the folder in the one that the variable names; empty if that is the folder itself. */
  readonly inVariable: string;
}
