import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import type { AttemptEnd } from '../../core/agent/attempt.ts';
import { messageOf } from '../../errors.ts';
import { errorCode } from '../files/write-file.ts';
import type { AgentCommand } from './find-program.ts';

interface SpawnRequest {
  readonly command: AgentCommand;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

type NotStarted = Extract<AttemptEnd, { kind: 'not-started' }>;
type Spawned = {
  readonly kind: 'started';
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
};

/** Starts a program with pipes on all three streams, or returns why that failed. Never rejects. */
export async function spawnAgent({
  command,
  cwd,
  env,
}: SpawnRequest): Promise<Spawned | NotStarted> {
  // For a missing folder, the system would report a missing program.
  if (!existsSync(cwd)) return notStarted('ENOTDIR', `the folder ${cwd} is gone`);
  let child: ChildProcessWithoutNullStreams;
  try {
    // The agent leads its own process group, so an interrupt also reaches a wrapper in front of it.
    child = spawn(command.file, [...command.args], { cwd, env, detached: true, stdio: 'pipe' });
  } catch (error) {
    // For example, a NUL in an argument, or too many arguments.
    return notStarted(errorCode(error) || 'EINVAL', messageOf(error));
  }
  const { pid } = child;
  if (pid !== undefined) {
    // A failed signal also emits `error`; the caller of `kill` handles it.
    child.on('error', () => {});
    return { kind: 'started', child, pid };
  }
  const error = await new Promise<Error>((resolve) => {
    child.once('error', resolve);
  });
  const code = errorCode(error) || 'UNKNOWN';
  // If a script's interpreter is missing, the system reports a missing program.
  return code === 'ENOENT' && existsSync(command.file)
    ? notStarted('ENOEXEC', `${command.file} is there, but what its first line names is not`)
    : notStarted(code, error.message);
}

function notStarted(code: string, message: string): NotStarted {
  return { kind: 'not-started', code, message };
}

/**
 * Starts a small program that serves ralph and reads a pipe whose other end only ralph holds. The
 * program has its own session, so no signal from the terminal reaches it, and does not keep ralph
 * from exiting. If it cannot be started, calls `onError` and returns null, or calls `onError` later.
 */
export function spawnHelper(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  onError: (message: string) => void,
) {
  try {
    const child = spawn(file, args, {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env,
    });
    // `spawn` reports most failures through this event; there is no pid then.
    child.on('error', ({ message }) => onError(message));
    // A broken pipe means that the program has ended; its `exit` event reports that.
    child.stdin.on('error', () => {});
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    return child;
  } catch (error) {
    onError(messageOf(error));
    return null;
  }
}
