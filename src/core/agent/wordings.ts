import type { FatalCause } from './outcome.ts';

/** What an agent's words, or its exit code, say about a failure. */
export type FailureKind =
  | Exclude<FatalCause, 'agent-not-found' | 'agent-error' | 'hook' | 'aborted'>
  /** A plan limit of the account; the words may name its reset. */
  | 'usage-limited'
  | 'session-gone'
  /** The prompt, with the session's history, is too long. */
  | 'too-long'
  | 'transient'
  /** Nothing that ralph could wait for or name better than the agent does. */
  | 'unknown'
  | 'max-turns';

/** A wording of an agent and what it means. With the flag `m`, `^` also matches at lines of standard error. */
export interface Wording {
  readonly pattern: RegExp;
  readonly means: FailureKind;
  /** Counts only before the model has done anything: later, the same words have another cause. */
  readonly atOnce?: true;
}

/** A failure as an agent has worded it. */
export interface ToldFailure {
  readonly means: FailureKind;
  /** The line that names it. */
  readonly words: string;
}

/** Returns the failure that a text names, by the first wording that matches, or null. */
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
