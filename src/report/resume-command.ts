import { rowOfState } from '../core/task/endings.ts';

/** The facts from which the command that resumes a task is built. */
export interface ResumeFacts {
  readonly taskId: string;
  readonly vault: string;
  readonly stateDir: string;
  /** Absolute path of the key that the command has to name, or null if ralph finds it by itself. */
  readonly keyFlag: string | null;
  /** Whether the task lacks this user's signature, so that a person has to vouch for it. */
  readonly needsTrust: boolean;
}

/** Returns the shell command that resumes a task from any folder. It raises a limit that is used up. */
export function resumeCommand(
  { taskId, vault, stateDir, keyFlag, needsTrust }: ResumeFacts,
  state: string,
): string {
  return [
    'ralph resume',
    shellQuote(taskId),
    ...(needsTrust ? ['--trust'] : []),
    rowOfState(state, null)?.more ?? [],
    '--vault',
    shellQuote(vault),
    ...(stateDir === `${vault}/.ralph_state` ? [] : ['--state-dir', shellQuote(stateDir)]),
    ...(keyFlag === null ? [] : ['--key-file', shellQuote(keyFlag)]),
  ]
    .flat()
    .join(' ');
}

/** Quotes a word for a POSIX shell. */
export function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
