import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../../errors.ts';
import type { Confine, ConfinedCommand, PlacedCommand } from '../processes/find-program.ts';
import { MARKER_NAME } from '../processes/process-table.ts';
import { gitProgram } from './git-program.ts';

/** A git setting, passed to git in environment variables because its name can contain any character. */
export interface GitSetting {
  readonly name: string;
  readonly value: string;
}

interface GitExtras {
  /** Standard input; a string is written as UTF-8. */
  readonly input?: string | Uint8Array;
  /** Settings that override all others. */
  readonly settings?: readonly GitSetting[];
}

/** Runs git in a folder. Resolves to its standard output as latin1; null if git fails. */
export type RunGit = (
  cwd: string,
  args: readonly string[],
  extras?: GitExtras,
) => Promise<string | null>;

/** One call of git. */
export interface GitCommand extends GitExtras {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Marks git and the processes it starts as part of this run; without it they carry no mark. */
  readonly runId?: string | undefined;
  readonly timeoutMs: number;
  /** Kills git at once. */
  readonly signal?: AbortSignal | undefined;
  /** Where git finds its repository, index and objects; by default it searches upward from `cwd`. */
  readonly places?: Readonly<Record<`GIT_${string}`, string>> | undefined;
  /**
   * Runs git as the user would at home: with hooks, signing, and the user's own variables. Only for a
   * repository in which the agent has changed none of these. Keeps the end of standard error.
   */
  readonly asUser?: boolean;
  /** Puts git and what it runs into the sandbox. */
  readonly confine?: Confine;
  /** Takes standard output piece by piece, however long it is; the answer then has none. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
}

/** What a call of git came to. */
export interface GitAnswer {
  /** Null if it was not started, was killed, or took too long. */
  readonly exitCode: number | null;
  /** Standard output as latin1, which keeps every byte of file names. */
  readonly output: string;
  /** The beginning of standard error, as latin1; with `asUser` its end. */
  readonly complaint: string;
}

const NO_ANSWER: GitAnswer = { exitCode: null, output: '', complaint: '' };

/** Enough for about 600,000 paths. */
const OUTPUT_AT_MOST = 64 * 1024 * 1024;

/** Decodes what git printed, for people and for paths of the system. */
export function asText(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString();
}

/** Returns paths, one character for each byte, as git reads them with `-z`. */
export function asInput(names: Iterable<string>): Uint8Array {
  return Buffer.from([...names].map((name) => `${name}\0`).join(''), 'latin1');
}

/** Runs git as `callGit` does; resolves to its output, or to null if it failed in any way. */
export async function runGit(command: GitCommand): Promise<string | null> {
  const { exitCode, output } = await callGit(command);
  return exitCode === 0 ? output : null;
}

/** Enough for what git says of one file that it cannot read. */
const COMPLAINT_AT_MOST = 16 * 1024;

/**
 * Runs git. It never prompts, and ends with this process. Of the programs that the repository names it
 * runs only filters (see `withoutOwnFilters`). Processes that it leaves in its process group are killed.
 */
export async function callGit(command: GitCommand): Promise<GitAnswer> {
  const { timeoutMs, signal, input, confine } = command;
  if (signal?.aborted) return NO_ANSWER;
  const plain = placed(command);
  // Without an await, an exit of this process cannot come in between.
  const confined: ConfinedCommand | string =
    confine === undefined ? plain : await confine(plain).catch(messageOf);
  if (typeof confined === 'string') return { ...NO_ANSWER, complaint: confined };
  if (signal?.aborted) return NO_ANSWER;
  const child = start({ ...confined, cwd: command.cwd }, input !== undefined);
  if (child === null) return NO_ANSWER;
  const chunks: Buffer[] = [];
  let length = 0;
  let complaint = '';
  let failed = false;
  const giveUp = (): void => {
    failed = true;
    endGroup(child);
    // If `git` is a script, a process it started may hold the pipe for longer.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp);
  const settled = giveUpAtExit(giveUp);
  child.stdout?.on('data', (chunk: Buffer) => {
    if (command.onOutput !== undefined) return command.onOutput(chunk);
    length += chunk.length;
    if (length > OUTPUT_AT_MOST) giveUp();
    else chunks.push(chunk);
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
      signal?.removeEventListener('abort', giveUp);
      settled();
      confined.ended?.();
      const output = Buffer.concat(chunks).toString('latin1');
      resolve({ exitCode: failed ? null : exitCode, output, complaint });
    };
    child.once('error', () => settle(null));
    child.once('exit', () => endGroup(child));
    child.once('close', settle);
  });
}

/**
 * Runs git on the terminal, or the standard output, of this process, with the user's colours and pager.
 * Resolves to its exit code, and to 127 if it cannot be started.
 */
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
      // Git dies quietly if its reader has gone.
      resolve(signal === 'SIGPIPE' ? 0 : (exitCode ?? 1));
    });
  }).finally(() => process.off('SIGINT', ignore));
}

/** What the user sets for a person's eyes. */
const SHOWN_WITH = new Set(['LC_ALL', 'GIT_PAGER', 'GIT_PAGER_IN_USE']);

/** Functions that kill the running git processes, for when this process exits. */
const running = new Set<() => void>();
const giveUpAll = (): void => {
  for (const giveUp of running) giveUp();
};

/** Returns a function that undoes this. There is one listener for all calls: node warns of many. */
function giveUpAtExit(giveUp: () => void): () => void {
  if (running.size === 0) process.on('exit', giveUpAll);
  running.add(giveUp);
  return () => {
    running.delete(giveUp);
    if (running.size === 0) process.off('exit', giveUpAll);
  };
}

/** Returns what starts git, outside of the sandbox. */
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

/** Returns null for the few errors that `spawn` throws; it reports most errors by an event. */
function start({ file, args, cwd, env }: PlacedCommand, hasInput: boolean): ChildProcess | null {
  try {
    return spawn(file, [...args], {
      cwd,
      env,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      // Its own process group, so that it can be ended as a whole.
      detached: true,
    });
  } catch {
    return null;
  }
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is already empty.
  }
}

/**
 * Options that keep git from starting programs that the repository chooses: a file watcher (which can
 * also stay as a daemon), hooks, and a program that checks signatures.
 */
const SAFE_SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

const SAFELY = ['--no-pager', ...SAFE_SETTINGS];

/**
 * Matches the GIT_ variables that are passed on: those that configure git or limit how far up it
 * searches. Others would do harm: GIT_DIR and GIT_INDEX_FILE, which hooks set, point to another
 * repository, and GIT_LITERAL_PATHSPECS would turn ralph's exclusions into file names.
 */
const KEPT =
  /^GIT_(?:EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+))$/;

function gitEnvironment(
  env: NodeJS.ProcessEnv,
  settings: readonly GitSetting[],
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    ...settingVariables(env, settings),
    LC_ALL: 'C',
    // The agent may lock the index at any moment, and must never find it locked by ralph.
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // For older versions, which do not know GIT_NO_LAZY_FETCH. A setting would not work: the
    // repository's own setting for a single protocol, such as a program, overrides the one for all.
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** Variables that bind git to one repository, index or way to read paths; a hook around ralph sets some. */
const BOUND =
  /^GIT_(?:DIR|WORK_TREE|IMPLICIT_WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|QUARANTINE_PATH|SHALLOW_FILE|GRAFT_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|CONFIG|CONFIG_PARAMETERS|REFLOG_ACTION|EDITOR|(?:LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS)$/;

/** The variables of a loop around this one, and the terminal that nobody sits at. */
const OF_THE_LOOP =
  /^(?:RALPH_(?:RUN_ID|TASK_ID|ITERATION|MAX_ITERATIONS|STATE_FILE)|GPG_TTY|SSH_ASKPASS)$/;

/** What an outer git gives its hooks about its own commit. */
const OF_OUTER_COMMIT = /^GIT_(?:AUTHOR|COMMITTER)_/;

function userEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // Where no git has started this, a user has set an author on purpose.
  const isInHook = env.GIT_DIR !== undefined || env.GIT_INDEX_FILE !== undefined;
  const kept = Object.entries(env).filter(
    ([name]) =>
      !BOUND.test(name) && !OF_THE_LOOP.test(name) && !(isInHook && OF_OUTER_COMMIT.test(name)),
  );
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: '0', SSH_ASKPASS_REQUIRE: 'never' };
}

/** Appends `settings` to those that `env` already contains: of several with one name, git uses the last. */
function settingVariables(
  env: NodeJS.ProcessEnv,
  settings: readonly GitSetting[],
): NodeJS.ProcessEnv {
  if (settings.length === 0) return {};
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const variables = settings.flatMap(({ name, value }, index) => [
    [`GIT_CONFIG_KEY_${first + index}`, name],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return {
    ...Object.fromEntries(variables),
    GIT_CONFIG_COUNT: String(first + settings.length),
  };
}
