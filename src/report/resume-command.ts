import type { EndedStatus } from '../core/task/task-state.ts';

/** What a command that resumes a task has to name. */
export interface ResumeFacts {
  readonly taskId: string;
  readonly vault: string;
  readonly stateDir: string;
  /** Absolute path of the key that the command has to name, or null if ralph finds it by itself. */
  readonly keyFlag: string | null;
  /** Whether the task lacks this user's signature, so that a person has to vouch for it. */
  readonly needsTrust: boolean;
}

/** The flag that raises a used-up limit, for each ending. */
const MORE: Readonly<Record<string, string>> = {
  max_iterations_reached: '--max-iterations +5',
  timeout: '--timeout +30m',
  budget_spent: '--max-cost +2',
} satisfies Partial<Record<EndedStatus, string>>;

/** Returns the flag that raises the limit a task of this status has used up, or null. */
export function moreFor(status: string): string | null {
  return Object.hasOwn(MORE, status) ? (MORE[status] ?? null) : null;
}

/** The command that resumes a task, from any folder. */
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

/** Quotes a word for a POSIX shell. */
export function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
