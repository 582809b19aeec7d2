import { storedPolicy } from '../../core/policy/policy-of.ts';
import { checkStop, releasedBy, stopHandover } from '../../core/policy/stop-check.ts';
import { buildAddition } from '../../core/prompt/prompt.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { readStoredPrompt, readStoredRun } from '../../effects/plan/stored-settings.ts';
import { foreignFiles } from '../../effects/state/foreign-files.ts';
import { tryReadStateFile } from '../../effects/state/state-file.ts';
import { openTaskIds, taskPaths } from '../../effects/state/task-folder.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { messageOf } from '../../errors.ts';
import { commandHere } from '../../printed-command.ts';
import { say } from '../terminal/outlet.ts';
import { type FoundTask, findTask, standingOf } from './find-task.ts';
import type { TaskFolders } from './named-folders.ts';

export interface CheckedTask {
  /** The id of the task; undefined means the only open task. */
  readonly id: string | undefined;
  /** Whether to trust the task although this user did not write it here. */
  readonly isTrusted: boolean;
}

/** Lets the agent stop: prints the reason on standard error only and returns exit code 0. */
export function allowStop(why: string): number {
  say(why);
  return 0;
}

/** Returns the open task to check, or says in `none` why there is no such task. */
export function taskToCheck(
  { id, isTrusted }: CheckedTask,
  place: TaskFolders,
): { readonly found: FoundTask } | { readonly none: string } {
  const taskId = id ?? onlyOpenTask(place);
  if (typeof taskId !== 'string') return taskId;
  try {
    const found = findTask(taskId, place);
    if (found === null) return { none: `there is no task '${taskId}' in ${place.stateDir}` };
    if (!isTrusted && !isBelieved(found, place)) {
      return {
        none: `${taskId} blocks no agent: it was not written by you here; to ask it all the same, if it is yours: ${commandHere('check', taskId, ['--trust'])}`,
      };
    }
    const why = releasedBy(found.state, found.standing, new Date().toISOString());
    return why === null ? { found } : { none: `${taskId} blocks no agent: ${why}` };
  } catch (error) {
    // An unreadable state must not block an agent.
    return { none: messageOf(error) };
  }
}

/** Whether this user's ralph wrote every file of the task that the check uses. */
function isBelieved({ isOwn, state, paths }: FoundTask, place: TaskFolders): boolean {
  return isOwn && foreignFiles(paths.folder, state, sealAt(place)).length === 0;
}

function onlyOpenTask(place: TaskFolders): string | { readonly none: string } {
  const { stateDir } = place;
  const seal = sealAt(place);
  const at = new Date().toISOString();
  const ids = openTaskIds(stateDir).filter((taskId) => {
    const file = tryReadStateFile(taskPaths(stateDir, taskId).stateFile, seal);
    if (file.kind !== 'task' || !file.isOwn) return false;
    return releasedBy(file.state, standingOf(file.state), at) === null;
  });
  const [only, ...others] = ids;
  if (only === undefined) return { none: `no task is open in ${stateDir}` };
  if (others.length === 0) return only;
  return { none: `several tasks are open (${ids.join(', ')}): name the one that is meant` };
}

interface StopQuestion {
  /** The agent's last message, or null if unknown. */
  readonly message: string | null;
  /** Whether the agent remembers what it has done. */
  readonly remembers: boolean;
  /** Whether the user named the task. If not, ralph found it in a folder. */
  readonly isNamed: boolean;
}

type TaskAnswer =
  | { readonly kind: 'lets-go'; readonly why: string }
  | { readonly kind: 'holds'; readonly prompt: Uint8Array };

/** Decides whether an agent may stop. Runs commands only for a task that the user named: others may be anybody's. */
export async function askTask(
  { state: task, paths: { folder } }: FoundTask,
  { vault, stateDir, keyFile }: TaskFolders,
  { message, remembers, isNamed }: StopQuestion,
): Promise<TaskAnswer> {
  const { inStopScene, keptContext, observeTask, runTaskChecks } = await import(
    '../../compose/stop-check.ts'
  );
  const stored = readStoredRun(folder);
  const policy = storedPolicy(task, stored ?? resolveSettings([]));
  const scene = { task, policy, stored, folder, vault, stateDir, keyFile, warn: say };
  const answer = await inStopScene(scene, async (open) => {
    const sightings = await observeTask(open, isNamed);
    const view = { task, policy, message, sightings, verified: null };
    const first = checkStop(view);
    if (first.kind !== 'ask-verify' || !isNamed) return first;
    return checkStop({ ...view, verified: await runTaskChecks(open) });
  });
  if (answer.kind === 'lets-go') return answer;
  const missing = answer.kind === 'holds' ? answer.missing : [];
  const carry = stopHandover(remembers ? null : keptContext(scene), missing);
  const addition = Buffer.from(buildAddition(policy, carry, 2));
  return { kind: 'holds', prompt: Buffer.concat([promptOf(task, folder), addition]) };
}

/** Returns the prompt. If its file is lost, or the agent has changed it, returns its beginning from the state file. */
function promptOf(task: TaskState, folder: string): Uint8Array {
  try {
    return readStoredPrompt(folder, task);
  } catch (error) {
    const { task_prompt: beginning } = task;
    return Buffer.from(
      `${beginning}\n\n(This is only how the prompt begins: ${messageOf(error)}.)`,
    );
  }
}
