import type { AttemptFacts, ResultFacts } from './attempt.ts';
import type { FatalCause, Outcome } from './outcome.ts';

/** The settings that not every agent takes. */
export type AgentSetting =
  | 'agentCommand'
  | 'claudeBin'
  | 'model'
  | 'permissionMode'
  | 'allowedTools'
  | 'dangerouslySkipPermissions'
  | 'maxCost'
  | 'maxUsage'
  | 'session'
  | 'acceptRefused'
  | 'askBack';

/** The machine that ralph runs on. Read `timeZone` only when needed: this getter takes a while. */
export interface HostMachine {
  readonly timeZone: string;
}

/**
 * What is known of an agent without starting it. Each agent has a file in `agents/` and a line in the list
 * there. The folder `effects` has the code that starts it and reads its output.
 */
export interface Agent {
  /** What the agent is, for the help of `--agent`. */
  readonly help: string;
  /** The settings that it takes, besides those that every agent takes. */
  readonly takes: readonly AgentSetting[];
  /** Flags that ralph itself passes to the agent, so they are refused after `--`. */
  readonly ownFlags: readonly string[];
  /** The flag that limits what an attempt spends, or null. Older versions of the agent may not know it. */
  readonly budgetFlag: string | null;
  /** Whether the agent replaces `@path` in a prompt by the contents of that file. */
  readonly expandsAtPaths: boolean;
  /** Whether it tells which tools it calls. */
  readonly reportsTools: boolean;
  /** Whether an attempt without a closing report has failed. */
  readonly requiresReport: boolean;
  /** Variables by which the agent recognises that the same program has started it. */
  readonly nestingVariables: readonly string[];
  /** Variables for asking it for its `--version`; null if it may not know this flag, so nobody asks. */
  readonly versionVariables: Readonly<Record<string, string>> | null;
  /** The notice at the start of a run whose settings permit nothing; null for none. */
  readonly permissionsNotice: string | null;
  /** What to do if `ralph doctor` does not find the agent. */
  readonly installRemedy: string;
  /** What to do about each fatal cause that can end a task. */
  readonly remedies: { readonly [Cause in FatalCause]?: string };

  /** Returns the failure in its closing report, or null if the agent answered. `at`: when the attempt ended. */
  readReport(
    report: ResultFacts,
    facts: AttemptFacts,
    at: string,
    machine: HostMachine,
  ): Outcome | null;
  /** Whether the report says that the prompt, with the session's history, was too long. */
  isTooLong(report: ResultFacts): boolean;
  /**
   * Returns the outcome that the agent's last words name, or null if they name none. For an attempt that
   * failed without a report and before a session began.
   */
  readLastWords(facts: AttemptFacts, at: string, machine: HostMachine): Outcome | null;
}
