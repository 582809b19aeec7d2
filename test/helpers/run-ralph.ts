import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PATIENCE_MS } from './patience.ts';
import { carryOut, needsOwnProcess } from './shared-process.ts';
import { STATE_HOME } from './state-home.ts';

/** The installation whose ralph is tested with `--sandbox` on; undefined for this checkout, without a sandbox. */
const { RALPH_TEST_SANDBOXED: installation } = process.env;

/** The program that the tests run. */
export const RALPH =
  installation === undefined
    ? fileURLToPath(new URL('../../bin/ralph.js', import.meta.url))
    : join(installation, 'node_modules', 'ralph-headless', 'bin', 'ralph.js');

/** Turns the sandbox on, where that is tested. A scripted agent notes its calls in its own folder on PATH. */
export function sandboxVariables(path: readonly string[]): Readonly<Record<string, string>> {
  if (installation === undefined) return {};
  const bin = path.find((folder) => existsSync(join(folder, 'claude')));
  return { RALPH_SANDBOX: '1', ...(bin === undefined ? {} : { RALPH_ALLOW_WRITE: bin }) };
}

/** What one run of the built command showed. */
export interface RalphEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly durationMs: number;
}

/** A started command. */
interface RalphRun {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  /** What has come so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves once standard error shows `pattern`; rejects if the command ends without it. */
  untilStderr(pattern: RegExp): Promise<void>;
  /** Rejects, with what came so far, if it is not over after `timeoutMs`. */
  readonly ended: Promise<RalphEnd>;
}

/** How to start it. Nothing of the test's own environment goes along. */
export interface RunRalphOptions {
  /** The path of another installation's ralph. */
  readonly program?: string;
  /** Folders that come first on PATH, such as the one with a `claude`. */
  readonly path?: readonly string[];
  /** Added to PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  /** An empty folder of its own if not given. */
  readonly cwd?: string;
  /** An empty folder of its own if not given. */
  readonly home?: string;
  /** Standard input, closed after it; empty if not given. */
  readonly input?: string | Buffer;
  /** A program, with its arguments, that runs the command that stands behind them. */
  readonly under?: readonly string[];
  /** After that it is killed; `PATIENCE_MS` if not given. */
  readonly timeoutMs?: number;
}

/** Runs the built command to its end, in the process that such lines share if nothing speaks against that. */
export async function runRalph(
  args: readonly string[],
  options: RunRalphOptions = {},
): Promise<RalphEnd> {
  const { program, under, input = '', cwd, home, path, env, timeoutMs } = options;
  const mayShare = program === undefined && under === undefined && input.length === 0;
  if (!mayShare || process.env.RALPH_TEST_PROCESSES !== 'shared')
    return await runAlone(args, options);
  const started = performance.now();
  const own = await mkdtemp(join(await realpath(tmpdir()), 'ralph-run-'));
  try {
    const folder = cwd ?? (await mkdtemp(join(own, 'work-')));
    const place = home ?? (await mkdtemp(join(own, 'home-')));
    const line = { args, cwd: folder, env: environment(place, path, env) };
    if (needsOwnProcess(line)) return await runAlone(args, options);
    const end = await carryOut(line, timeoutMs);
    return { ...end, durationMs: performance.now() - started };
  } finally {
    await rm(own, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runAlone(args: readonly string[], options: RunRalphOptions): Promise<RalphEnd> {
  const { ended } = await startRalph(args, options);
  return await ended;
}

/** All that a started ralph finds in its environment. */
function environment(
  home: string,
  path: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return {
    PATH: [...path, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: home,
    XDG_STATE_HOME: STATE_HOME,
    ...sandboxVariables(path),
    ...env,
  };
}

/** Starts the built command, for tests that send it signals while it runs. */
export async function startRalph(
  args: readonly string[],
  {
    program: ralph = RALPH,
    path = [],
    env = {},
    cwd,
    home,
    input = '',
    under = [],
    timeoutMs = PATIENCE_MS,
  }: RunRalphOptions = {},
): Promise<RalphRun> {
  const own = await mkdtemp(join(await realpath(tmpdir()), 'ralph-run-'));
  const started = performance.now();
  const [program = process.execPath, ...words] = [...under, process.execPath, ralph, ...args];
  const child = spawn(program, words, {
    cwd: cwd ?? (await mkdtemp(join(own, 'work-'))),
    env: environment(home ?? (await mkdtemp(join(own, 'home-'))), path, env),
  });
  const shown = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (words: string) => {
    shown.stdout += words;
  });
  child.stderr.setEncoding('utf8').on('data', (words: string) => {
    shown.stderr += words;
  });
  // A usage error ends it before it has read anything.
  child.stdin.on('error', () => {});
  child.stdin.end(input);

  const ended = new Promise<RalphEnd>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      // What it left behind may hold its output open: do not wait for that.
      child.stdout.destroy();
      child.stderr.destroy();
      const said = `stdout: ${shown.stdout}\nstderr: ${shown.stderr}`;
      reject(new Error(`\`ralph ${args.join(' ')}\` was not over after ${timeoutMs} ms.\n${said}`));
    }, timeoutMs);
    child.once('error', reject);
    child.once('close', (exitCode, signal) => {
      clearTimeout(timer);
      resolve({ ...shown, exitCode, signal, durationMs: performance.now() - started });
    });
  }).finally(() => rm(own, { recursive: true, force: true, maxRetries: 5 }));
  // Whoever only sends signals need not look at the end.
  ended.catch(() => {});

  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => shown.stdout,
    stderr: () => shown.stderr,
    ended,
    untilStderr: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(shown.stderr)) return;
          child.stderr.off('data', look);
          resolve();
        };
        child.stderr.on('data', look);
        look();
        ended.then(
          () => reject(new Error(`It ended without ${pattern}:\n${shown.stderr}`)),
          reject,
        );
      }),
  };
}
