import { UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { type FolderOptions, foldersOf, type TaskFolders } from '../tasks/named-folders.ts';
import { allowStop, askTask, type CheckedTask, taskToCheck } from '../tasks/stop-question.ts';
import { say, standardOutlet } from '../terminal/outlet.ts';

export interface CheckOptions extends FolderOptions {
  /** Whether to read and answer JSON, as a stop hook of Claude Code does. */
  readonly hook?: boolean;
  /** Whether to trust the named task although this user did not write it here. */
  readonly trust?: boolean;
}

/**
 * `ralph check [ID]`: exit code 0 lets an agent stop; with 1, the output tells it how to go on. With `--hook` the
 * answer is JSON and the exit code always 0: a failing hook must not keep an agent from stopping.
 */
export async function check(
  id: string | undefined,
  options: CheckOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  // Inside a loop of `ralph run`, the loop decides whether its agent is done, so this command never blocks the agent.
  if (env.RALPH_RUN_ID) return allowStop('inside a loop the loop itself decides');
  if (options.trust && id === undefined) {
    throw new UsageError(['ralph check expects the id of a task with --trust; none was given.']);
  }
  const named = { id, isTrusted: options.trust === true };
  if (!options.hook) return checkTask(named, foldersOf(options, env));
  const { checkInHook } = await import('../tasks/stop-hook.ts');
  return checkInHook(named, () => foldersOf(options, env));
}

async function checkTask(named: CheckedTask, place: TaskFolders): Promise<number> {
  const { id } = named;
  const subject = taskToCheck(named, place);
  if ('none' in subject) return allowStop(subject.none);
  const { task_id: taskId } = subject.found.state;
  const question = { message: null, remembers: false, isNamed: id !== undefined };
  const answer = await askTask(subject.found, place, question);
  if (answer.kind === 'lets-go') return allowStop(`${taskId} blocks no agent: ${answer.why}`);
  say(`${taskId} is not complete`);
  await standardOutlet().write(answer.prompt);
  return EXIT_FAILED;
}
