import { existsSync } from 'node:fs';
import { execa } from 'execa';
import type { AttemptEnd } from '../core/attempt.ts';
import { messageOf } from '../errors.ts';
import type { AgentCommand } from './agent-kind.ts';
import { errorCode } from './write-file.ts';

interface SpawnRequest {
  readonly command: AgentCommand;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

type NotStarted = Extract<AttemptEnd, { kind: 'not-started' }>;
type Child = ReturnType<typeof spawnWithPipes>;
type Spawned = { readonly kind: 'started'; readonly child: Child; readonly pid: number };

/** Starts a program with pipes on all three streams, or says why the system did not. Never rejects. */
export async function spawnAgent(request: SpawnRequest): Promise<Spawned | NotStarted> {
  // A missing folder looks like a missing program to the system.
  if (!existsSync(request.cwd)) {
    return notStarted('ENOTDIR', `the folder ${request.cwd} is gone`);
  }
  let child: Child;
  try {
    child = spawnWithPipes(request);
  } catch (error) {
    // A NUL in an argument, for one.
    return notStarted('EINVAL', messageOf(error));
  }
  // Nobody else waits for execa's own promise, and it must not end as an unhandled rejection.
  const ended = child.then((result) => result);
  if (child.pid !== undefined) return { kind: 'started', child, pid: child.pid };
  const { cause, originalMessage } = await ended;
  return notStarted(errorCode(cause) || 'UNKNOWN', originalMessage ?? 'it could not be started');
}

function spawnWithPipes({ command, cwd, env }: SpawnRequest) {
  return execa(command.file, [...command.args], {
    cwd,
    env,
    extendEnv: false,
    // The agent leads its own process group, so that an interrupt reaches shims in front of it.
    detached: true,
    cleanup: false,
    buffer: false,
    reject: false,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

function notStarted(code: string, message: string): NotStarted {
  return { kind: 'not-started', code, message };
}
