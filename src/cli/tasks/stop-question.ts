import { buildAddition } from '../../core/machine/prompt.ts';
import {
  checkStop,
  heldCarry,
  releasedBy,
  type StopAnswer,
} from '../../core/machine/stop-check.ts';
import { keptPolicy } from '../../core/machine/stored-policy.ts';
import { readSavedSettings } from '../../effects/plan/stored-settings.ts';
import { foreignFiles } from '../../effects/state/foreign-files.ts';
import { readStateFile } from '../../effects/state/state-file.ts';
import { openTaskIds, taskPaths } from '../../effects/state/task-folder.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { messageOf } from '../../errors.ts';
import { say } from '../terminal/outlet.ts';
import { type FoundTask, findTask, standingOf } from './find-task.ts';
import type { Place } from './place.ts';

/** The task to check. */
export interface CheckedTask {
  /** Undefined means the only open task. */
  readonly id: string | undefined;
  /** Trust the task although this user did not write it here. */
  readonly isTrusted: boolean;
}

/** Prints the reason on standard error and nothing on standard output. */
export function letGo(why: string): number {
  say(why);
  return 0;
}

/** Returns the open task to check, or why there is none. */
export function subjectOf(
  { id, isTrusted }: CheckedTask,
  place: Place,
): { readonly found: FoundTask } | { readonly none: string } {
  const taskId = id ?? onlyOpenTask(place);
  if (typeof taskId !== 'string') return taskId;
  try {
    const found = findTask(taskId, place);
    if (found === null) return { none: `there is no task '${taskId}' in ${place.stateDir}` };
    if (!isTrusted && !isBelieved(found, place)) {
      return {
        none: `${taskId} holds nobody: it was not written by you here; if it is yours, ralph check ${taskId} --trust asks it all the same`,
      };
    }
    const why = releasedBy(found.state, found.standing, new Date().toISOString());
    return why === null ? { found } : { none: `${taskId} holds nobody: ${why}` };
  } catch (error) {
    // An unreadable state must not block an agent.
    return { none: messageOf(error) };
  }
}

/** Whether this user's ralph wrote every file of the task that is used here. */
function isBelieved({ isOwn, state, paths }: FoundTask, place: Place): boolean {
  return isOwn && foreignFiles(paths.folder, state, sealAt(place)).length === 0;
}

function onlyOpenTask(place: Place): string | { readonly none: string } {
  const { stateDir } = place;
  const seal = sealAt(place);
  const at = new Date().toISOString();
  const ids = openTaskIds(stateDir).filter((taskId) => {
    try {
      const file = readStateFile(taskPaths(stateDir, taskId).stateFile, seal);
      if (file.kind !== 'task' || !file.isOwn) return false;
      return releasedBy(file.state, standingOf(file.state), at) === null;
    } catch {
      return false;
    }
  });
  const [only, ...others] = ids;
  if (only === undefined) return { none: `no task is open in ${stateDir}` };
  if (others.length === 0) return only;
  return { none: `several tasks are open (${ids.join(', ')}): name the one that is meant` };
}

/** What is known about the agent that wants to stop. */
interface StopQuestion {
  /** Its last message, or null if unknown. */
  readonly message: string | null;
  /** The agent remembers what it has done. */
  readonly remembers: boolean;
  /** The user named the task; it was not just found in a folder. */
  readonly isNamed: boolean;
}

/** The answer, and the prompt for an agent that may not stop. */
interface TaskAnswer {
  readonly answer: Exclude<StopAnswer, { kind: 'ask-verify' }>;
  readonly prompt: () => Uint8Array;
}

/**
 * Decides whether an agent of an open task may stop. Runs the task's commands only if the task was named:
 * a state that happens to be in a folder must not make a hook run anything.
 */
export async function askTask(
  { state: task, paths }: FoundTask,
  { vault, stateDir }: Place,
  { message, remembers, isNamed }: StopQuestion,
): Promise<TaskAnswer> {
  const { keptContext, keptPrompt, lookAtTask, runTaskCommand } = await import(
    '../../compose/stop-check.ts'
  );
  const settings = readSavedSettings(paths.folder);
  const policy = keptPolicy(task, settings);
  const scene = { task, policy, settings, folder: paths.folder, vault, stateDir };
  const sightings = await lookAtTask(scene, isNamed);
  const view = { task, policy, message, sightings, verified: null };
  let answer = checkStop(view);
  if (answer.kind === 'ask-verify' && policy.verify !== null && isNamed) {
    answer = checkStop({ ...view, verified: await runTaskCommand(scene, policy.verify) });
  }
  const final = answer.kind === 'ask-verify' ? { kind: 'holds' as const, missing: [] } : answer;
  return {
    answer: final,
    prompt() {
      const missing = final.kind === 'holds' ? final.missing : [];
      const carry = heldCarry(remembers ? null : keptContext(scene), missing);
      return Buffer.concat([keptPrompt(scene), Buffer.from(buildAddition(policy, carry, 2))]);
    },
  };
}
