import { execa } from 'execa';
import { forAgent } from './find-program.ts';

/** The first line a program prints for `--version`, or why there is none. */
export type VersionAnswer = { readonly version: string } | { readonly failed: string };

export interface VersionQuestion {
  readonly file: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** After this time the program is killed, with everything it started. */
  readonly timeoutMs: number;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

const MOST_CHARS = 4_000;
/** Time to drain the pipes of a program that has ended. */
const LAST_WORDS_MS = 250;

/** Asks a program for its version. Never rejects, and leaves no process behind. */
export async function askVersion(question: VersionQuestion): Promise<VersionAnswer> {
  const { file, cwd, timeoutMs, signal } = question;
  const asked = execa(file, ['--version'], {
    cwd,
    env: forAgent(question.env),
    extendEnv: false,
    all: true,
    stdin: 'ignore',
    maxBuffer: MOST_CHARS,
    reject: false,
    // It has its own group and is ended here, since a wrapper may stand in front of the program.
    detached: true,
    cleanup: false,
  });
  let failure: string | null = null;
  const giveUp = (why: string): void => {
    failure ??= why;
    killGroup(asked.pid);
    asked.stdout.destroy();
    asked.stderr.destroy();
  };
  const stop = (): void => giveUp('it was stopped');
  const timer = setTimeout(
    () => giveUp(`it did not answer within ${timeoutMs / 1_000} s and was stopped`),
    timeoutMs,
  );
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  // A process it started may hold the pipes open for longer.
  asked.once('exit', () => {
    setTimeout(() => {
      asked.stdout.destroy();
      asked.stderr.destroy();
    }, LAST_WORDS_MS).unref();
  });
  const answer = await asked;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  killGroup(asked.pid);
  if (failure !== null) return { failed: failure };
  return read(answer.all.trim().split('\n')[0] ?? '', answer.exitCode, answer.originalMessage);
}

function read(line: string, exitCode?: number, message?: string): VersionAnswer {
  if (exitCode === undefined && message !== undefined) return { failed: message };
  if (exitCode !== 0) return { failed: `it exited with code ${exitCode ?? null}: ${line}` };
  return /\d+\.\d+/.test(line)
    ? { version: line }
    : { failed: `it printed no version but: ${line}` };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is already empty.
  }
}
