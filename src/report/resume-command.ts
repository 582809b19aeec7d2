import type { EndedStatus } from '../core/task-state.ts';

/** What a command that goes on with a task has to name. */
export interface ResumeFacts {
  readonly taskId: string;
  readonly vault: string;
  readonly stateDir: string;
  /** The key that the command has to name, absolute; null where it is found without. */
  readonly keyFlag: string | null;
  /** Whether this user's key has not signed the task, so that a person has to vouch for it. */
  readonly needsTrust: boolean;
}

/** What a task that used up a limit needs more of to go on. */
const MORE: Readonly<Record<string, string>> = {
  max_iterations_reached: '--max-iterations +5',
  timeout: '--timeout +30m',
  budget_spent: '--max-cost +2',
} satisfies Partial<Record<EndedStatus, string>>;

/** The flag that gives a task of this status more of what ran out; null where nothing did. */
export function moreFor(status: string): string | null {
  return Object.hasOwn(MORE, status) ? (MORE[status] ?? null) : null;
}

/** The command that goes on with a task, fit to be pasted into a shell in any folder. */
export function resumeCommand(
  { taskId, vault, stateDir, keyFlag, needsTrust }: ResumeFacts,
  status: EndedStatus | null = null,
): string {
  const more = status === null ? null : moreFor(status);
  return [
    'ralph resume',
    shellQuote(taskId),
    ...(needsTrust ? ['--trust'] : []),
    ...(more === null ? [] : [more]),
    '--vault',
    shellQuote(vault),
    ...(stateDir === `${vault}/.ralph_state` ? [] : ['--state-dir', shellQuote(stateDir)]),
    ...(keyFlag === null ? [] : ['--key-file', shellQuote(keyFlag)]),
  ].join(' ');
}

/** A word as a POSIX shell reads it back. */
export function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
