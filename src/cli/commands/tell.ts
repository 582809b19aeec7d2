import path from 'node:path';
import { leaveHint, taskStatus } from '../../compose.ts';
import { isTaskId } from '../../core/task-id.ts';
import { InvalidStateError, TaskNotFoundError, UsageError } from '../../errors.ts';

export interface TellOptions {
  readonly vault?: string;
  readonly stateDir?: string;
}

/** `ralph tell ID "…"`: leaves a hint that goes into the task's next prompt. */
export async function tell(taskId: string, text: string, options: TellOptions): Promise<number> {
  if (text.trim() === '') throw new UsageError(['ralph tell expects a hint; found an empty text.']);
  const vault = path.resolve(options.vault ?? process.env.RALPH_VAULT ?? '.');
  const stateDir = path.resolve(
    options.stateDir ?? process.env.RALPH_STATE_DIR ?? path.join(vault, '.ralph_state'),
  );
  const status = isTaskId(taskId) ? await taskStatus(stateDir, taskId) : null;
  if (status === null) throw new TaskNotFoundError(taskId, stateDir);
  if (status !== 'running') throw new InvalidStateError(taskId, status);
  await leaveHint(path.join(stateDir, taskId), text, new Date().toISOString());
  process.stderr.write(`ralph: the next iteration of ${taskId} is told\n`);
  return 0;
}
