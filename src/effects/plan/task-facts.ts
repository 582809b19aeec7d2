import { maskSecrets } from '../../core/secrets/secrets.ts';
import { remedyForRefused } from '../../core/settings/edit-permissions.ts';
import type { TaskFacts } from '../../core/task/new-task.ts';
import { withoutControls } from '../../core/text/untrusted-text.ts';
import { sha256Of } from '../files/file-hash.ts';
import { nameInside } from '../files/real-path.ts';
import type { RunPlan } from './run-plan.ts';

/** Returns the part of a plan that the task's state contains. */
export function taskFacts(plan: RunPlan): TaskFacts {
  return {
    task_id: plan.taskId,
    task_prompt: promptPreview(plan),
    prompt_sha256: sha256Of(plan.prompt),
    ...changingFacts(plan),
    max_iterations: plan.policy.maxIterations,
  };
}

/** Returns the part of a task's state that comes from settings and that a resume may change at once. */
export function changingFacts({ policy, taskType, vault }: RunPlan) {
  return {
    task_type: taskType,
    completion_promise: policy.promise,
    match: policy.match,
    watch_glob: policy.watchGlobs,
    watch_file: policy.watchFile,
    done_folder: nameInside(vault, policy.doneFolder),
  };
}

/** Returns the beginning of a plan's prompt, to be shown to people. */
export function promptPreview(plan: RunPlan): string {
  return maskSecrets(withoutControls(promptText(plan))).slice(0, 1_000);
}

/** Returns the whole prompt of a plan as text. */
export function promptText(plan: RunPlan): string {
  return new TextDecoder().decode(plan.prompt);
}

/** Returns a function that names the flags of a resume that allow the refused tools. */
export function allowing({ settings, policy }: Pick<RunPlan, 'settings' | 'policy'>) {
  return (refused: readonly string[]) => remedyForRefused(refused, settings, policy.agent);
}
