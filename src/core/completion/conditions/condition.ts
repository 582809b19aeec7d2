import type { Outcome } from '../../agent/outcome.ts';
import type { EvidenceKind } from '../../settings/rows/completion.ts';
import type { SettingName } from '../../settings/settings.ts';
import type { LoopSettings, Policy } from '../../task/policy.ts';
import type { PromiseVerdict } from '../promise.ts';
import type { Sightings } from '../sightings.ts';

/** What a completion condition knows about an iteration. */
export interface IterationView {
  readonly outcome: Outcome;
  readonly verdict: PromiseVerdict;
  readonly sightings: Sightings;
  /** Consecutive iterations, including this one, in which the agent stated a signal: a phrase that the user chose. */
  readonly signalsInARow: number;
  readonly policy: Policy;
}

/** The part of a run's policy (its settings and facts) that conditions read. */
export type ConditionPolicy = LoopSettings & Pick<Policy, 'watchGlobs' | 'doneFolder' | 'signals'>;

/**
 * One way in which an iteration can claim that the task is complete. Each condition has its own file in this folder
 * and a line in the list in `conditions.ts`, which all other code reads.
 */
export interface Condition {
  /** The name of the condition in the evidence in the state file. */
  readonly kind: EvidenceKind;
  /** The settings that concern only this condition. */
  readonly settings: readonly SettingName[];
  /** Whether the agent's words decide. If so, a claim needs an iteration that ended well, and no refused tools. */
  readonly byWords: boolean;
  /** Whether checking the condition searches the work tree. If so, the state is saved before that. */
  readonly isSlow?: true;
  /** Returns the shell command whose result decides, or null. Absent if no command does. */
  readonly command?: (policy: ConditionPolicy) => string | null;
  /** Whether the settings ask for the condition. */
  readonly isSet: (policy: ConditionPolicy) => boolean;
  /** Describes what has to hold, as a clause to follow "ensure". Only called if the condition is set. */
  readonly describe: (policy: ConditionPolicy) => string;
  /** Returns the evidence if the condition holds, otherwise null. */
  readonly check: (view: IterationView) => string | null;
}

/** Returns the evidence if the command of a condition exited with 0, otherwise null. */
export function commandSucceeded({ sightings }: IterationView, kind: string): string | null {
  const result = sightings.commands[kind];
  return result?.exitCode === 0 ? `${result.command} exited with 0` : null;
}

/** Quotes and joins phrases for a sentence: `'a' or 'b'`. */
export function quotedPhrases(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' or ');
}
