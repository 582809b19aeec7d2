import type { TaskState } from '../../core/task/task-state.ts';
import { runGit } from '../../effects/git/call/git-command.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';

const TIMEOUT_MS = 30_000;

/** Resolves to the newest commit on the branch of a task; null if ralph has committed nothing of it. */
export async function commitOfTask(
  { git: { branches } }: TaskState,
  { cwd, gitEnv: env }: RunPlan,
): Promise<string | null> {
  const branch = branches?.at(-1);
  if (branch === undefined) return null;
  const args = ['rev-parse', '-q', '--verify', `refs/heads/${branch}^{commit}`];
  return (await runGit({ cwd, args, env, timeoutMs: TIMEOUT_MS }))?.trim() ?? null;
}
