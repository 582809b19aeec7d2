import type { TaskState } from '../../core/task/task-state.ts';
import { gitIn } from '../../effects/git/git.ts';
import { resolveCommit } from '../../effects/git/questions/refs.ts';
import { refOf } from '../../effects/git/repository.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';

const TIMEOUT_MS = 30_000;

/** Resolves to the newest commit on the branch of a task; null if ralph has committed nothing for the task. */
export async function commitOfTask(
  { git: { branches } }: TaskState,
  { cwd, gitEnv: env }: RunPlan,
): Promise<string | null> {
  const branch = branches?.at(-1);
  if (branch === undefined) return null;
  return resolveCommit(gitIn(cwd, { env, timeoutMs: TIMEOUT_MS }), refOf(branch));
}
