import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../../../errors.ts';
import type { Confine, ConfinedCommand, PlacedCommand } from '../../processes/find-program.ts';
import { killGroup } from '../../processes/kill-group.ts';
import { MARKER_NAME } from '../../processes/process-table.ts';
import {
  type GitSetting,
  gitEnvironment,
  gitProgram,
  SAFE_SETTINGS,
  SAFELY,
  userEnvironment,
} from './git-program.ts';
import { beginCall, type WaitsFor } from './watched-calls.ts';

/** What a call passes to git besides its arguments. */
export interface GitExtras {
  /** Standard input; a string is written as UTF-8. */
  readonly input?: string | Uint8Array;
  /** Settings that override all others. */
  readonly settings?: readonly GitSetting[];
}

/** One call of git. */
export interface GitCommand extends GitExtras {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The run's id, which git and the processes that it starts get as an environment variable. */
  readonly runId?: string | undefined;
  readonly timeoutMs: number;
  /** Aborting this signal kills git at once. */
  readonly signal?: AbortSignal | undefined;
  /** Variables that say where the repository, index and objects are; by default git searches upward from `cwd`. */
  readonly places?: Readonly<Record<`GIT_${string}`, string>> | undefined;
  /**
   * Runs git as the user would: with hooks, signing, and the user's own variables. Only for a repository in which the
   * agent has changed neither hooks nor settings. The answer then holds the end of standard error.
   */
  readonly asUser?: boolean;
  /** Puts git and what it runs into the sandbox. */
  readonly confine?: Confine;
  /** Receives standard output piece by piece, however long it is; the answer then has none. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
  readonly waitsFor?: WaitsFor | undefined;
}

/** The outcome of one call of git. */
export interface GitAnswer {
  /** Null if git was not started, was killed, or took too long. */
  readonly exitCode: number | null;
  /** Standard output as latin1, which keeps every byte of file names. */
  readonly output: string;
  /** The beginning of standard error, as latin1; with `asUser` its end. */
  readonly complaint: string;
  /** Whether git was killed because it took too long or seemed to hang. */
  readonly isUnanswered?: boolean;
}

const NO_ANSWER: GitAnswer = { exitCode: null, output: '', complaint: '' };

/** In bytes; enough for about 600,000 paths. */
const OUTPUT_AT_MOST = 64 * 1024 * 1024;

/** Returns all that git has printed; null if git failed in any way. */
export function outputOrNull({ exitCode, output }: GitAnswer): string | null {
  return exitCode === 0 ? output : null;
}

/** In bytes; enough for git's message about one unreadable file. */
const COMPLAINT_AT_MOST = 16 * 1024;

/**
 * Runs git, which never prompts, and is killed if this process exits. Without `asUser`, git runs no program that the
 * repository names, except for filters, which convert file contents. Processes that git leaves in its process group
 * are killed.
 */
export async function callGit(command: GitCommand): Promise<GitAnswer> {
  const { timeoutMs, signal, input, confine } = command;
  if (signal?.aborted) return NO_ANSWER;
  const plain = placed(command);
  // Without a sandbox nothing is awaited here: during an await, this process could exit before git is started.
  const confined: ConfinedCommand | string =
    confine === undefined ? plain : await confine(plain).catch(messageOf);
  if (typeof confined === 'string') return { ...NO_ANSWER, complaint: confined };
  if (signal?.aborted) return NO_ANSWER;
  const child = start({ ...confined, cwd: command.cwd }, input !== undefined);
  if (child === null) return NO_ANSWER;
  let output = '';
  let complaint = '';
  let failed = false;
  const giveUp = (): void => {
    failed = true;
    killGroup(child.pid);
    // If `git` is a script, a process that it started may keep the pipe open for longer.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  let isUnanswered = false;
  const tooLong = (): void => {
    isUnanswered = true;
    giveUp();
  };
  const timer = setTimeout(tooLong, timeoutMs);
  const { args, waitsFor = null } = command;
  const ended = beginCall({ pid: child.pid, args, waitsFor, giveUp: tooLong });
  signal?.addEventListener('abort', giveUp);
  const settled = giveUpAtExit(giveUp);
  child.stdout?.on('data', (chunk: Buffer) => {
    if (command.onOutput !== undefined) return command.onOutput(chunk);
    if (output.length + chunk.length > OUTPUT_AT_MOST) giveUp();
    else output += chunk.toString('latin1');
  });
  child.stdout?.on('error', () => {});
  child.stderr?.setEncoding('latin1');
  child.stderr?.on('data', (text: string) => {
    if (command.asUser === true) complaint = (complaint + text).slice(-COMPLAINT_AT_MOST);
    else if (complaint.length < COMPLAINT_AT_MOST) complaint += text;
  });
  child.stderr?.on('error', () => {});
  // Git may exit before it has read all input. That is no error: the exit code decides.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return new Promise((resolve) => {
    const settle = (exitCode: number | null): void => {
      clearTimeout(timer);
      ended(!failed);
      signal?.removeEventListener('abort', giveUp);
      settled();
      confined.ended?.();
      resolve({
        ...{ exitCode: failed ? null : exitCode, output, complaint },
        ...(isUnanswered ? { isUnanswered } : {}),
      });
    };
    child.once('error', () => settle(null));
    child.once('exit', () => killGroup(child.pid));
    child.once('close', settle);
  });
}

/** Runs git on this terminal, with the user's colours and pager. Resolves to its exit code, or to 127 without git. */
export function showGit({
  args,
  cwd,
  env,
  places,
}: Pick<GitCommand, 'args' | 'cwd' | 'env' | 'places'>): Promise<number> {
  const { LC_ALL, ...safe } = gitEnvironment(env, []);
  const own = Object.entries(env).filter(([name]) => SHOWN_WITH.has(name));
  const git = gitProgram(cwd, env);
  const child = spawn(git.file, [...SAFE_SETTINGS, ...args], {
    cwd,
    env: { ...safe, ...Object.fromEntries(own), ...places, PATH: git.path },
    stdio: 'inherit',
  });
  // Ctrl-C is for the pager, which decides what it means.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  return new Promise<number>((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (exitCode, signal) => {
      // A signal SIGPIPE means only that the reader of git's output has gone.
      resolve(signal === 'SIGPIPE' ? 0 : (exitCode ?? 1));
    });
  }).finally(() => process.off('SIGINT', ignore));
}

/** Variables by which the user chooses git's language and pager. */
const SHOWN_WITH = new Set(['LC_ALL', 'GIT_PAGER', 'GIT_PAGER_IN_USE']);

/** Functions that kill the running git processes, for when this process exits. */
const running = new Set<() => void>();
const giveUpAll = (): void => {
  for (const giveUp of running) giveUp();
};

/** Calls `giveUp` if this process exits; returns a function that cancels this. All calls share one `exit` listener. */
function giveUpAtExit(giveUp: () => void): () => void {
  if (running.size === 0) process.on('exit', giveUpAll);
  running.add(giveUp);
  return () => {
    running.delete(giveUp);
    if (running.size === 0) process.off('exit', giveUpAll);
  };
}

/** Returns the command that starts git outside the sandbox. */
function placed({ args, cwd, env, runId, settings, places, asUser }: GitCommand): PlacedCommand {
  const git = gitProgram(cwd, env);
  return {
    file: git.file,
    args: [...(asUser === true ? ['--no-pager'] : SAFELY), ...args],
    cwd,
    env: {
      ...(asUser === true
        ? userEnvironment(env)
        : { ...gitEnvironment(env, settings ?? []), PATH: git.path }),
      ...places,
      ...(runId === undefined ? {} : { [MARKER_NAME]: runId }),
    },
  };
}

/** Starts a process. Returns null for the few errors that `spawn` throws; it reports most errors by an event. */
function start({ file, args, cwd, env }: PlacedCommand, hasInput: boolean): ChildProcess | null {
  try {
    return spawn(file, [...args], {
      cwd,
      env,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      // With its own process group, git can be killed together with all that it starts.
      detached: true,
    });
  } catch {
    return null;
  }
}
