import { type ChildProcess, spawn } from 'node:child_process';
import { MARKER_NAME } from './process-table.ts';

/** A setting as git takes it from variables, where its name may hold anything. */
export interface GitSetting {
  readonly name: string;
  readonly value: string;
}

/** What a call of git is given beyond its arguments. */
interface GitExtras {
  readonly input?: string;
  /** In force over all others. */
  readonly settings?: readonly GitSetting[];
}

/** Runs git in a folder; null where it fails. */
export type RunGit = (
  cwd: string,
  args: readonly string[],
  extras?: GitExtras,
) => Promise<string | null>;

/** One call of git that only reads. */
interface GitCommand extends GitExtras {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** By which what it starts is known as the run's; without one it is known by nothing. */
  readonly runId?: string | undefined;
  readonly timeoutMs: number;
  /** Ends it at once. */
  readonly signal?: AbortSignal | undefined;
}

/** Some 600,000 paths. */
const OUTPUT_AT_MOST = 64 * 1024 * 1024;

/**
 * Runs git and resolves to its standard output as latin1, so that file names come through byte by
 * byte; null where it failed in any way: no git, no repository, another's repository, out of time.
 * It never asks, never writes to the repository, and ends with this process. It runs none of the
 * repository's own programs but its filters (see `withoutOwnFilters`), and what has been started all
 * the same, and stayed in its process group, is ended with it.
 */
export function runGit(command: GitCommand): Promise<string | null> {
  const { timeoutMs, signal, input } = command;
  if (signal?.aborted) return Promise.resolve(null);
  const child = start(command);
  if (child === null) return Promise.resolve(null);
  const chunks: Buffer[] = [];
  let length = 0;
  let failed = false;
  const giveUp = (): void => {
    failed = true;
    endGroup(child);
    // Where git is a script, what it started may hold the pipe for longer than it lives.
    child.stdout?.destroy();
  };
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp);
  const settled = giveUpAtExit(giveUp);
  child.stdout?.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > OUTPUT_AT_MOST) giveUp();
    else chunks.push(chunk);
  });
  child.stdout?.on('error', () => {});
  // It may end before it has read all; its exit code tells.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return new Promise((resolve) => {
    const settle = (exitCode: number | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      settled();
      resolve(exitCode === 0 && !failed ? Buffer.concat(chunks).toString('latin1') : null);
    };
    child.once('error', () => settle(null));
    child.once('exit', () => endGroup(child));
    child.once('close', settle);
  });
}

/** What is to be given up when this process exits. */
const running = new Set<() => void>();
const giveUpAll = (): void => {
  for (const giveUp of running) giveUp();
};

/** One listener for all: node warns of a leak where a program that runs many tasks has one for each. */
function giveUpAtExit(giveUp: () => void): () => void {
  if (running.size === 0) process.on('exit', giveUpAll);
  running.add(giveUp);
  return () => {
    running.delete(giveUp);
    if (running.size === 0) process.off('exit', giveUpAll);
  };
}

/** Most of what can go wrong is told by an event, but a few errors are thrown. */
function start({ args, cwd, env, runId, settings, input }: GitCommand): ChildProcess | null {
  try {
    return spawn('git', [...SAFELY, ...args], {
      cwd,
      env: {
        ...gitEnvironment(env, settings ?? []),
        ...(runId === undefined ? {} : { [MARKER_NAME]: runId }),
      },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
      // A process group of its own, to be ended as a whole.
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
    // Nobody of it is left.
  }
}

/**
 * A watcher would be a program of the repository's choice, or a daemon that stays; so would hooks, and a
 * program that checks signatures.
 */
const SAFELY = [
  '--no-pager',
  ...[
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'commit.gpgSign=false',
    'log.showSignature=false',
    'submodule.recurse=false',
  ].flatMap((setting) => ['-c', setting]),
];

/**
 * Variables by which git's own configuration comes in, and which say how far up it may look. All
 * others are dropped: GIT_DIR or GIT_INDEX_FILE, as a hook has them, would point elsewhere, and
 * GIT_LITERAL_PATHSPECS would make file names of our exclusions.
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
    // The agent may hold the index at this moment, and must never find it held by us.
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // Older versions do not know that one. A setting would not do: the repository's own, which allows a
    // single protocol, such as a program, comes before the one for all.
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** Behind those that the caller has set the same way: the last one of a name is in force. */
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
