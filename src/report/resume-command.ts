import type { EndedStatus } from '../core/task/task-state.ts';

/** What the command that resumes a task depends on. */
export interface ResumeFacts {
  readonly taskId: string;
  readonly vault: string;
  readonly stateDir: string;
  /** Absolute path of the key that the command has to name, or null if ralph finds it by itself. */
  readonly keyFlag: string | null;
  /** Whether the task lacks this user's signature, so that a person has to vouch for it. */
  readonly needsTrust: boolean;
}

/** For each status that a used-up limit causes, the flag that raises this limit. */
const MORE: Readonly<Record<string, string>> = {
  max_iterations_reached: '--max-iterations +5',
  timeout: '--timeout +30m',
  budget_spent: '--max-cost +2',
} satisfies Partial<Record<EndedStatus, string>>;

/** Returns the flag that raises the limit that a task of this status used up, or null if it used up none. */
export function moreFor(status: string): string | null {
  return Object.hasOwn(MORE, status) ? (MORE[status] ?? null) : null;
}

/** Returns the shell command that resumes a task from any folder. With a `status`, it raises a used-up limit. */
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
