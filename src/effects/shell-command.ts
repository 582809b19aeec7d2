import { randomUUID } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import type { CommandResult } from '../core/completion.ts';
import type { StopRequests } from '../loop/ports.ts';
import { runAgentProcess } from './agent-process.ts';
import { createTailText } from './bounded-text.ts';
import { endLeftovers } from './end-process.ts';

/** Where and how the user's own commands run. */
export interface ShellOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly stops: StopRequests;
}

const OUTPUT_BYTES = 16 * 1024;

/**
 * Runs a command of the user's through `/bin/sh -c`, in its own process group, within a time limit and
 * with its output in bounds (the end is kept). Never rejects: what went wrong is in the result.
 */
export async function runShellCommand(
  command: string,
  input: string,
  options: ShellOptions,
): Promise<CommandResult> {
  const output = createTailText(OUTPUT_BYTES, '');
  const decoder = new StringDecoder();
  const gather = (chunk: Buffer): void => output.append(decoder.write(chunk));
  const report = await runAgentProcess({
    command: { file: '/bin/sh', args: ['-c', command] },
    cwd: options.cwd,
    env: options.env,
    prompt: new TextEncoder().encode(input),
    // Known by descent alone: the run's own marker is carried by the agent's background work too.
    marker: randomUUID(),
    limits: { iterationMs: options.timeoutMs, idleMs: null, taskMs: options.timeoutMs },
    stops: options.stops,
    guardPid: null,
    spare: () => [],
    onMembers: () => {},
    onStdout: gather,
    onHeard: () => {},
    onStderr: gather,
    onStart: () => {},
  });
  if (report.leftovers.length > 0) await endLeftovers(report.leftovers).done;
  return {
    command,
    exitCode: report.end.kind === 'exited' ? report.end.exitCode : null,
    timedOut: report.end.kind === 'cut' && report.end.cause !== 'stop-requested',
    output: output.read(),
  };
}
