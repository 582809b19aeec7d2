import { execa } from 'execa';
import { forAgent } from './find-program.ts';
import { killGroup } from './kill-group.ts';

/** The line of the output of `--version` that names the version, or why there is none. */
export type VersionAnswer = { readonly version: string } | { readonly failed: string };

export interface VersionQuestion {
  readonly file: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** After this time the program and its process group are killed. */
  readonly timeoutMs: number;
  /** Kills the program and its process group when aborted. */
  readonly signal: AbortSignal;
}

const MOST_CHARS = 4_000;
/** Time to read the rest of the pipes after the program has exited. */
const LAST_WORDS_MS = 250;

/** Asks a program for its version, and then kills its process group. Never rejects. */
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
  // A process that the program has started may keep the pipes open after its exit.
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
  // Some programs print warnings first, mostly on standard error.
  const version = answer.stdout.split('\n').find((line) => VERSION.test(line));
  const line = version ?? answer.all.trim().split('\n')[0] ?? '';
  return read(line.trim(), answer.exitCode, answer.originalMessage);
}

const VERSION = /\d+\.\d+/;

function read(line: string, exitCode?: number, message?: string): VersionAnswer {
  if (exitCode === undefined && message !== undefined) return { failed: message };
  if (exitCode !== 0) return { failed: `it exited with code ${exitCode ?? null}: ${line}` };
  return VERSION.test(line) ? { version: line } : { failed: `it printed no version but: ${line}` };
}
