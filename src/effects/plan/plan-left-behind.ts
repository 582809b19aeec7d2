import { existsSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../../errors.ts';
import { gitAsker } from '../branches/open-repository.ts';
import { isInside, realPath } from '../files/real-path.ts';
import { filesThatMatch } from '../workspace/file-marks.ts';
import type { RunPlan } from './run-plan.ts';

/**
 * Returns why the task's own work tree does not have the plan file that lies where the task is started, as a
 * sentence; null if it has it, or will have it. A plan that is nowhere yet is the agent's to write.
 */
export async function planLeftBehind(plan: RunPlan): Promise<string | null> {
  const { workTree: tree, cwd, settings, sources, gitEnv } = plan;
  const { planFile } = plan.policy;
  if (tree === null || planFile === null) return null;
  const target = path.resolve(cwd, planFile);
  if (!isInside(tree.path, target) || existsSync(target)) return null;
  const original = path.join(tree.origin, path.relative(tree.path, target));
  // A link that is committed leads to the same place.
  const real = realPath(original);
  if (!existsSync(original) || !isInside(tree.origin, real)) return null;
  const ask = gitAsker(gitEnv);
  const name = path.relative(tree.origin, real);
  const committed = await ask(tree.origin, ['cat-file', '-e', `${tree.base}:${name}`]);
  if (committed.exitCode === 0) return null;
  const ignored = await ask(tree.origin, ['check-ignore', '-q', '--', name]);
  const expected = `${sources.planFile.where} expects a plan that is in the new work tree`;
  if (ignored.exitCode !== 0) {
    const base = settings.base ?? 'HEAD';
    return `${expected}; ${name} is not committed in ${base}, and --worktree brings nothing else along: commit it.`;
  }
  const from = path.join(tree.origin, path.relative(tree.path, cwd));
  const copied = await filesThatMatch(settings.copy, { cwd: from, isOwn: () => false, dot: true });
  if (copied.includes(original)) return null;
  const glob = path.relative(from, original);
  return `${expected}; git ignores ${name}, so --worktree leaves it behind: --copy "${glob}" brings it along.`;
}

/** Rejects with a `UsageError` if `--setup` has not brought the plan along. Without it, that is known before. */
export async function requirePlanAfterSetup(plan: RunPlan): Promise<void> {
  const why = plan.settings.setup === null ? null : await planLeftBehind(plan);
  if (why !== null) throw new UsageError([why]);
}
