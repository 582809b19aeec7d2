import { rowOfState } from '../core/task/endings.ts';

/** Where a command finds a task. */
export interface TaskPlace {
  readonly taskId: string;
  readonly vault: string;
  readonly stateDir: string;
  /** Absolute path of the key that the command has to name, or null if ralph finds it by itself. */
  readonly keyFlag: string | null;
  /** For a task of a fleet: the words that name the fleet, in place of the folders. */
  readonly fleetWords?: readonly string[];
}

/** The facts from which the command that resumes a task is built. */
export interface ResumeFacts extends TaskPlace {
  /** Whether the task lacks this user's signature, so that a person has to vouch for it. */
  readonly needsTrust: boolean;
}

/**
 * Returns the shell command that resumes a task from any folder. It raises a limit that is used up, and accepts what
 * ended the task, by these flags.
 */
export function resumeCommand(
  facts: ResumeFacts,
  state: string,
  exitReason: string | null = null,
  accepting: readonly string[] = [],
): string {
  const trust = facts.needsTrust ? ['--trust'] : [];
  const { more = [] } = rowOfState(state, exitReason) ?? {};
  return taskCommand('resume', facts, [...trust, more, accepting].flat());
}

/** Returns the shell command that does something with a task from any folder. */
export function taskCommand(
  command: string,
  { taskId, vault, stateDir, keyFlag, fleetWords }: TaskPlace,
  words: readonly string[] = [],
): string {
  const place = fleetWords ?? [
    '--vault',
    shellQuote(vault),
    ...(stateDir === `${vault}/.ralph_state` ? [] : ['--state-dir', shellQuote(stateDir)]),
    ...(keyFlag === null ? [] : ['--key-file', shellQuote(keyFlag)]),
  ];
  return ['ralph', command, shellQuote(taskId), ...words, ...place].join(' ');
}

/** Quotes a word for a POSIX shell. */
export function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
