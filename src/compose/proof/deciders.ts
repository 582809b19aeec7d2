import { commandsToCheck } from '../../core/completion/conditions/conditions.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { DecidersAtStart } from '../../effects/proof/deciders-at-start.ts';
import type { DecidersNow } from '../../effects/proof/deciders-here.ts';
import type { TaskPaths } from '../../effects/state/task-folder.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';

/** Returns the names of the files that decide the results of a run's checks, such as a test configuration. */
export async function decidersOfPlan(
  { policy, settings, cwd, vault, stateDir, gitEnv }: RunPlan,
  atStart: DecidersAtStart | null = null,
): Promise<DecidersNow> {
  const checks = commandsToCheck(policy);
  if (checks.length === 0) return { watched: [], unwatched: [] };
  const { decidersHere } = await import('../../effects/proof/deciders-here.ts');
  const found = await decidersHere(
    { cwd, checks, isOwn: ownFiles(vault, stateDir) },
    gitEnv,
    atStart?.folder ?? null,
  );
  // Without snapshots, the hashes of all these files are compared, wherever they are.
  if (settings.snapshots === false)
    return { watched: [...found.watched, ...found.unwatched].toSorted(), unwatched: [] };
  return settings.protect.length === 0 ? found : { ...found, unwatched: [] };
}

/** Returns what decided the checks' results at the start. For checks that a resume adds, that resume is the start. */
export async function decidersOf(
  { plan, paths }: { readonly plan: RunPlan; readonly paths: TaskPaths },
  isBeginning: boolean,
): Promise<DecidersAtStart | null> {
  const checks = commandsToCheck(plan.policy);
  if (checks.length === 0) return null;
  const { placedHere, storedDeciders, takeDeciders, withNewChecks } = await import(
    '../../effects/proof/deciders-at-start.ts'
  );
  const stored = isBeginning ? null : storedDeciders(paths.folder);
  const isSame = stored !== null && checks.every((check) => stored.checks.includes(check));
  const isFromElsewhere = stored?.path === '';
  if (isSame && !isFromElsewhere) return stored;
  const isOwn = ownFiles(plan.vault, plan.stateDir);
  const now = await takeDeciders({ cwd: plan.cwd, checks, isOwn }, plan.env, plan.gitEnv);
  if (stored === null) return now;
  const placed = isFromElsewhere ? placedHere(stored, now) : stored;
  return isSame ? placed : withNewChecks(placed, now);
}

/** Returns the record of what decides the checks' results, as the JSON text that the task stores; null without one. */
export async function storedForm(deciders: DecidersAtStart | null): Promise<string | null> {
  if (deciders === null) return null;
  const { decidersJson } = await import('../../effects/proof/deciders-at-start.ts');
  return decidersJson(deciders);
}
