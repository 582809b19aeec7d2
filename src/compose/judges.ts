import { commandsToCheck } from '../core/completion/conditions/conditions.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import type { JudgesAtStart } from '../effects/proof/judges-at-start.ts';
import { ownFiles } from '../effects/vault/vault-folders.ts';

/**
 * Names the files that decide what the checks of a run say; empty without checks. `atStart` saves a second look
 * at them.
 */
export async function judgesOfPlan(
  { policy, cwd, vault, stateDir, gitEnv }: RunPlan,
  atStart: JudgesAtStart | null = null,
): Promise<readonly string[]> {
  const checks = commandsToCheck(policy);
  if (checks.length === 0) return [];
  const { judgeFilesHere } = await import('../effects/proof/judges-here.ts');
  return judgeFilesHere(
    { cwd, checks, isOwn: ownFiles(vault, stateDir) },
    gitEnv,
    atStart?.folder ?? null,
  );
}
