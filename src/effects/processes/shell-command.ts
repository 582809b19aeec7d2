import { StringDecoder } from 'node:string_decoder';
import type { CommandResult } from '../../core/completion/sightings.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { createTailText } from '../files/bounded-text.ts';
import { endLeftovers } from './end-process.ts';
import { listMarked, listProcesses, MARKER_NAME, type ProcessIdentity } from './process-table.ts';
import { runAgentProcess } from './run-process.ts';

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
  // Two streams, a decoder each: a character that is cut in one may not be ended by the other.
  const gather = () => {
    const decoder = new StringDecoder();
    return (chunk: Buffer): void => output.append(decoder.write(chunk));
  };
  // A session of its own may lose its parent before anybody looked, so the run's marker counts; but
  // what the agent's background work starts meanwhile carries it too, and is not the command's.
  const marker = options.env[MARKER_NAME] ?? '';
  const others = markedProcesses(marker);
  const report = await runAgentProcess({
    command: { file: '/bin/sh', args: ['-c', command] },
    cwd: options.cwd,
    env: options.env,
    prompt: new TextEncoder().encode(input),
    marker,
    limits: { iterationMs: options.timeoutMs, idleMs: null, taskMs: options.timeoutMs },
    stops: options.stops,
    guardPid: null,
    spare: () => others,
    onMembers: () => {},
    onStdout: gather(),
    onHeard: () => {},
    onStderr: gather(),
    onStart: () => {},
  });
  if (report.leftovers.length > 0) await endLeftovers(report.leftovers).done;
  return {
    command,
    exitCode: report.end.kind === 'exited' ? report.end.exitCode : null,
    timedOut: report.end.kind === 'cut' && report.end.cause !== 'stop-requested',
    output: report.end.kind === 'not-started' ? report.end.message : output.read(),
  };
}

/** What carries the marker now. */
function markedProcesses(marker: string): readonly ProcessIdentity[] {
  try {
    const all = listProcesses();
    const marked = new Set(
      listMarked(
        all.map(({ pid }) => pid),
        marker,
      ),
    );
    return all.filter(({ pid }) => marked.has(pid));
  } catch {
    // Out of file descriptors: nobody can be told apart.
    return [];
  }
}
