import type { FatalCause } from './outcome.ts';

/** The kinds of failure that an agent's messages or its exit code can mean. */
export type FailureKind =
  | Exclude<FatalCause, 'agent-not-found' | 'agent-error' | 'hook' | 'aborted'>
  /** A plan limit of the account. The message may name its reset. */
  | 'usage-limited'
  | 'session-gone'
  /** The prompt, with the session's history, is too long. */
  | 'too-long'
  | 'transient'
  /** A failure that waiting does not cure, and for which ralph has no better words than the agent. */
  | 'unknown'
  | 'max-turns';

/** A wording of an agent and its meaning. With the flag `m`, `^` also matches at the start of each line. */
export interface Wording {
  readonly pattern: RegExp;
  readonly means: FailureKind;
  /** Set if the wording counts only before the model has done anything. Later, the same words have another cause. */
  readonly atOnce?: true;
}

/** A failure that an agent's message names. */
export interface ToldFailure {
  readonly means: FailureKind;
  /** The line of the message that names the failure. */
  readonly words: string;
}

/** Returns the failure that a text names according to the first wording that matches, or null. */
export function failureIn(
  text: string,
  wordings: readonly Wording[],
  hasWorked: boolean,
): ToldFailure | null {
  for (const { pattern, means, atOnce } of wordings) {
    const match = atOnce && hasWorked ? null : pattern.exec(text);
    if (match !== null) return { means, words: lineAt(text, match.index) };
  }
  return null;
}

function lineAt(text: string, index: number): string {
  const end = text.indexOf('\n', index);
  return text.slice(text.lastIndexOf('\n', index - 1) + 1, end === -1 ? text.length : end);
}
