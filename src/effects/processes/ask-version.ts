import { randomUUID } from 'node:crypto';
import { createEndsText } from '../files/bounded-text.ts';
import { endLeftovers } from './end-process.ts';
import { forAgent } from './find-program.ts';
import { MARKER_NAME } from './process-table.ts';
import { NO_AGENT, runAgentProcess } from './run-process.ts';

/** The line of the output of `--version` that names the version, or why there is none. */
export type VersionAnswer = { readonly version: string } | { readonly failed: string };

export interface VersionQuestion {
  readonly file: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** After this time the program and what it has started are ended. */
  readonly timeoutMs: number;
  /** Kills the program and what it has started when aborted. */
  readonly signal: AbortSignal;
}

const MOST_BYTES = 4_000;

/** Asks a program for its version, and ends what it leaves running. Never rejects. */
export async function askVersion(question: VersionQuestion): Promise<VersionAnswer> {
  const { file, cwd, env, timeoutMs, signal } = question;
  const stdout = createEndsText(MOST_BYTES, 0);
  const all = createEndsText(MOST_BYTES, 0);
  const marker = randomUUID();
  const { end, leftovers } = await runAgentProcess({
    ...NO_AGENT,
    command: { file, args: ['--version'] },
    cwd,
    env: { ...forAgent(env), [MARKER_NAME]: marker },
    prompt: new Uint8Array(),
    marker,
    limits: { iterationMs: timeoutMs, idleMs: null, taskMs: timeoutMs },
    stops: { signal, hurry: signal, cause: () => null },
    onStdout(chunk) {
      stdout.append(chunk.toString());
      all.append(chunk.toString());
    },
    onStderr: (chunk) => all.append(chunk.toString()),
  });
  if (leftovers.length > 0) await endLeftovers(leftovers).done;
  if (end.kind === 'not-started') return { failed: end.message };
  if (end.kind === 'cut') {
    return end.cause === 'stop-requested'
      ? { failed: 'it was stopped' }
      : { failed: `it did not answer within ${timeoutMs / 1_000} s and was stopped` };
  }
  // Some programs print warnings first, mostly on standard error.
  const version = stdout
    .read()
    .split('\n')
    .find((line) => VERSION.test(line));
  const line = (version ?? all.read().trim().split('\n')[0] ?? '').trim();
  const exitCode = end.kind === 'exited' ? end.exitCode : null;
  if (exitCode !== 0) return { failed: `it exited with code ${exitCode}: ${line}` };
  return VERSION.test(line) ? { version: line } : { failed: `it printed no version but: ${line}` };
}

const VERSION = /\d+\.\d+/;
