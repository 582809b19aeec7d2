import { StringDecoder } from 'node:string_decoder';
import type { CommandResult } from '../../core/completion/command-result.ts';
import { messageOf } from '../../errors.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { createEndsText } from '../files/bounded-text.ts';
import { endLeftovers, treeOfRun } from './end-process.ts';
import type { Confine, ConfinedCommand } from './find-program.ts';
import { MARKER_NAME } from './process-table.ts';
import { NO_AGENT, runAgentProcess } from './run-process.ts';

export interface ShellOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly stops: StopRequests;
  /** Receives the whole output as it arrives: the bytes of each chunk, and the text that they complete. */
  readonly onOutput?: (chunk: Buffer, text: string, stream: 'stdout' | 'stderr') => void;
  /** Puts the command into the sandbox; without it, the command runs as the user. */
  readonly confine?: Confine;
}

const HEAD_BYTES = 4 * 1024;
const TAIL_BYTES = 16 * 1024;

/** Runs one of the user's commands in a shell. Keeps only the beginning and the end of its output. Never rejects. */
export async function runShellCommand(
  command: string,
  input: string,
  options: ShellOptions,
): Promise<CommandResult> {
  const output = createEndsText(HEAD_BYTES, TAIL_BYTES);
  // One decoder per stream: bytes of the other stream must not complete a cut character.
  const gather = (stream: 'stdout' | 'stderr') => {
    const decoder = new StringDecoder();
    return (chunk: Buffer): void => {
      const text = decoder.write(chunk);
      output.append(text);
      options.onOutput?.(chunk, text, stream);
    };
  };
  const plain = {
    ...{ file: '/bin/sh', args: ['-c', command] },
    ...{ env: options.env, cwd: options.cwd },
  };
  const start = await (options.confine ?? unconfined)(plain).catch(messageOf);
  if (typeof start === 'string') return notRun(command, start);
  // A process in a new session may lose its parent before ralph first looks for processes, so the marker (the run's id
  // in its environment) identifies it. Background processes of the agent have the marker, too: they are exempt.
  const marker = options.env[MARKER_NAME] ?? '';
  const others = treeOfRun(marker).sweep().members;
  try {
    const { end, leftovers } = await runAgentProcess({
      ...NO_AGENT,
      command: start,
      inSandbox: options.confine !== undefined,
      cwd: options.cwd,
      env: start.env,
      prompt: new TextEncoder().encode(input),
      marker,
      limits: { iterationMs: options.timeoutMs, idleMs: null, taskMs: options.timeoutMs },
      stops: options.stops,
      exempt: () => others,
      onStdout: gather('stdout'),
      onStderr: gather('stderr'),
    });
    if (leftovers.length > 0) await endLeftovers(leftovers).done;
    start.ended?.();
    return {
      command,
      exitCode: end.kind === 'exited' ? agreedCode(end.exitCode, start) : null,
      timedOut: end.kind === 'cut' && end.cause !== 'stop-requested',
      output: end.kind === 'not-started' ? end.message : output.read(),
    };
  } finally {
    await start.discard?.();
  }
}

/** Returns the exit code; if it is 0 and the command ran in a sandbox, the code that the shell inside saw. */
function agreedCode(exitCode: number, { exitCodeInside }: ConfinedCommand): number | null {
  if (exitCodeInside === undefined) return exitCode;
  return exitCode === 0 ? exitCodeInside() : exitCode;
}

const unconfined: Confine = async (command) => command;

function notRun(command: string, why: string): CommandResult {
  return { command, exitCode: null, timedOut: false, output: `It was not started: ${why}.` };
}
