import { asCheckResult, type RawCheckResult } from '../../core/completion/check-result.ts';
import type { MeasuredResult } from '../../core/completion/command-result.ts';
import type { Check } from '../../core/settings/checks.ts';
import type { ShellOptions } from '../../effects/processes/shell-command.ts';
import type { TreeKeeper } from '../../effects/snapshots/keeper/tree-keeper.ts';

/** Runs a check of `--verify`. */
export async function runCheck(check: Check, options: ShellOptions): Promise<RawCheckResult> {
  return asCheckResult(check, await runMeasured(check.command, options));
}

/** Runs a command that decides whether a task is done. The first call loads the code that judges the output. */
export async function runMeasured(command: string, options: ShellOptions): Promise<MeasuredResult> {
  const { runMeasuredCommand } = await import('../../effects/processes/measured-command.ts');
  return runMeasuredCommand(command, options);
}

type RunOne = (check: Check) => Promise<RawCheckResult>;

/**
 * Returns a function that runs a check, or reuses its result on the same files (git tree). With `forClaim` (the agent
 * says that it is done) the check always runs: built files, `.env` and services are in no tree. A pass says in which
 * iteration the check first failed on the same tree, if it did.
 */
export function rememberingChecks(
  keeper: Pick<TreeKeeper, 'knownTree'> | null,
  run: RunOne,
  iteration: () => number,
): (check: Check, forClaim: boolean) => Promise<RawCheckResult> {
  const known = new Map<string, RawCheckResult>();
  const failedIn = new Map<string, number>();
  return async (check, forClaim) => {
    const tree = keeper?.knownTree() ?? null;
    const key = JSON.stringify([tree, check.name, check.command]);
    const earlier = tree === null || forClaim ? undefined : known.get(key);
    if (earlier !== undefined) return { ...earlier, isReused: true };
    const result = await run(check);
    // A check that was cut off by a stop has no result to remember.
    if (tree === null || (result.exitCode === null && !result.timedOut)) return result;
    known.set(key, result);
    const failed = failedIn.get(key);
    if (result.exitCode === 0)
      return failed === undefined ? result : { ...result, failedIn: failed };
    if (failed === undefined) failedIn.set(key, iteration());
    return result;
  };
}
