import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../../errors.ts';
import { isInside } from '../files/real-path.ts';
import { gitAt } from '../git/git.ts';
import { gitWith } from '../git/open-repository.ts';
import { isIgnored } from '../git/questions/index-files.ts';
import { objectType } from '../git/questions/objects.ts';
import { filesThatMatch } from '../workspace/file-marks.ts';
import type { RunPlan } from './run-plan.ts';

/**
 * Returns why the task's own work tree lacks the plan file that exists where the task is started, as a sentence; null
 * if the plan is there or will be copied. Null also if the plan exists nowhere: then the agent is to write it.
 */
export async function planLeftBehind(plan: RunPlan): Promise<string | null> {
  const { workTree: tree, cwd, settings, sources, gitEnv } = plan;
  const { planFile } = plan.policy;
  if (tree === null || planFile === null) return null;
  const target = path.resolve(cwd, planFile);
  if (!isInside(tree.path, target) || existsSync(target)) return null;
  const original = path.join(tree.origin, path.relative(tree.path, target));
  if (!existsSync(original)) return null;
  const git = gitAt(gitWith(gitEnv), tree.origin);
  const expected = `${sources.planFile.where} expects a plan that is in the new work tree`;
  for (const step of stepsTo(tree.origin, original)) {
    const name = path.relative(tree.origin, step);
    if ((await objectType(git, `${tree.base}:${name}`)) !== '') continue;
    if (!(await isIgnored(git, name))) {
      const base = settings.base ?? 'HEAD';
      return `${expected}; ${name} is not committed in ${base}, and --worktree brings nothing else along: commit it.`;
    }
    const from = path.join(tree.origin, path.relative(tree.path, cwd));
    const look = { cwd: from, isOwn: () => false, dot: true };
    const copied = await filesThatMatch(settings.copy, look);
    if (copied.includes(step)) continue;
    const glob = path.relative(from, step);
    return `${expected}; git ignores ${name}, so --worktree leaves it behind: --copy "${glob}" brings it along.`;
  }
  return null;
}

/** Returns each symbolic link on the way to a file in a folder, and the file unless a link leads out of the folder. */
function stepsTo(folder: string, file: string): readonly string[] {
  const links: string[] = [];
  let at = folder;
  const rest = path.relative(folder, file).split(path.sep);
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    at = path.join(at, name);
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    links.push(at);
    const target = readlinkSync(at);
    const next = path.resolve(path.dirname(at), target);
    // Such a link does not lead into the new work tree, so only the link itself is needed there.
    if (path.isAbsolute(target) || !isInside(folder, next)) return links;
    rest.unshift(...path.relative(folder, next).split(path.sep));
    at = folder;
  }
  return [...links, at];
}

/** Rejects with a `UsageError` if `--setup` has not created a missing plan. A run without `--setup` is checked earlier. */
export async function requirePlanAfterSetup(plan: RunPlan): Promise<void> {
  const why = plan.settings.setup === null ? null : await planLeftBehind(plan);
  if (why !== null) throw new UsageError([why]);
}
