import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../errors.ts';

/** What a program says to `--version`: its first line, or why there is none. */
export type VersionAnswer = { readonly version: string } | { readonly failed: string };

export interface VersionQuestion {
  readonly file: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** After that it is killed, with what it started. */
  readonly timeoutMs: number;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

/** Names that make a `claude` believe it runs inside another one. */
const NOT_FOR_THE_CHILD = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT'];
const MOST_CHARS = 4_000;
/** For what still stands in the pipe of a program that has ended. */
const LAST_WORDS_MS = 250;

/** Asks a program for its version. Never rejects, and leaves nothing of it behind. */
export function askVersion(question: VersionQuestion): Promise<VersionAnswer> {
  const { timeoutMs, signal } = question;
  return new Promise((resolve) => {
    let said = '';
    let failure: string | null = null;
    let child: ChildProcess;
    try {
      child = start(question);
    } catch (error) {
      resolve({ failed: messageOf(error) });
      return;
    }
    const giveUp = (why: string): void => {
      failure ??= why;
      killGroup(child);
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const stop = (): void => giveUp('it was stopped');
    const timer = setTimeout(
      () => giveUp(`it said nothing within ${timeoutMs / 1_000} s and was ended`),
      timeoutMs,
    );
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        if (said.length < MOST_CHARS) said += text;
      });
    }
    const settle = (exitCode: number | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      killGroup(child);
      const [line = ''] = said.trim().split('\n');
      if (failure !== null) resolve({ failed: failure });
      else if (exitCode !== 0) resolve({ failed: `it ended with exit code ${exitCode}: ${line}` });
      else if (!/\d+\.\d+/.test(line)) resolve({ failed: `it told no version, but: ${line}` });
      else resolve({ version: line });
    };
    child.once('error', (error) => {
      failure ??= error.message;
      settle(null);
    });
    child.once('close', settle);
    // What it started may hold the pipes open for longer than it lives.
    child.once('exit', () => {
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, LAST_WORDS_MS).unref();
    });
  });
}

function start({ file, cwd, env }: VersionQuestion): ChildProcess {
  const own = { ...env, DISABLE_AUTOUPDATER: '1' };
  for (const name of NOT_FOR_THE_CHILD) Reflect.deleteProperty(own, name);
  // A group of its own, since a shim may stand before the program.
  return spawn(file, ['--version'], {
    cwd,
    env: own,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}
