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

/** Read `timeZone` only when needed: it is a getter, and finding the zone takes a while. */
export interface Machine {
  readonly timeZone: string;
}

/**
 * What is known of an agent without starting it. Each agent is a file in `agents/` and a line in their
 * list; how it is started and how its output is read is in `effects`.
 */
export interface Agent {
  /** What it is, for the help of `--agent`. */
  readonly help: string;
  /** Its settings, besides those that every agent takes. */
  readonly takes: readonly AgentSetting[];
  /** Flags by which ralph talks to it; they are refused after `--`. */
  readonly ownFlags: readonly string[];
  /** The flag that limits what an attempt may spend, if it has one; older versions may not know it. */
  readonly budgetFlag: string | null;
  /** Whether it replaces `@path` in a prompt by the contents of that file. */
  readonly expandsAtPaths: boolean;
  /** If true, an attempt without a closing report has failed. */
  readonly owesResult: boolean;
  /** Variables by which it recognises that another one of its kind has started it. */
  readonly nestingVariables: readonly string[];
  /** Set when it is asked for its `--version`; null if it may not know that flag. */
  readonly versionVariables: Readonly<Record<string, string>> | null;
  /** Printed at the start if no setting permits anything; null prints nothing. */
  readonly permissionsNotice: string | null;
  /** What to do if `ralph doctor` does not find it. */
  readonly installRemedy: string;
  /** What to do about a cause that ended a task. */
  readonly remedies: { readonly [Cause in FatalCause]?: string };

  /** Returns what its closing report says went wrong; null if it answered. */
  readReport(
    report: ResultFacts,
    facts: AttemptFacts,
    at: string,
    machine: Machine,
  ): Outcome | null;
  /** Whether its report says that the prompt, with the session's history, was too long. */
  isTooLong(report: ResultFacts): boolean;
  /**
   * For an attempt that failed without a report and before a session began: returns what its last words
   * say, or null if they say nothing.
   */
  readLastWords(facts: AttemptFacts, at: string, machine: Machine): Outcome | null;
}
