import { asCheckResult, type RawCheckResult } from '../../core/completion/check-result.ts';
import type { MeasuredResult } from '../../core/completion/command-result.ts';
import type { Check } from '../../core/settings/checks.ts';
import type { ShellOptions } from '../../effects/processes/shell-command.ts';
import type { TreeKeeper } from '../../effects/snapshots/tree-keeper.ts';

/** Runs a check of `--verify`. */
export async function runCheck(check: Check, options: ShellOptions): Promise<RawCheckResult> {
  return asCheckResult(check, await runMeasured(check.command, options));
}

/** Runs a command that decides. What it reads to judge the output is loaded with the first one. */
export async function runMeasured(command: string, options: ShellOptions): Promise<MeasuredResult> {
  const { runMeasuredCommand } = await import('../../effects/processes/measured-command.ts');
  return runMeasuredCommand(command, options);
}

/** Runs one check and does not look for an earlier result. */
type RunOne = (check: Check) => Promise<RawCheckResult>;

/**
 * Returns a function that runs a check, unless the same tree has been checked before by this process: a check
 * that passed on it is not run again, and one that failed only if `again` is true. What was wrong may lie
 * outside the tree.
 */
export function reusingChecks(
  keeper: Pick<TreeKeeper, 'knownTree'> | null,
  run: RunOne,
): (check: Check, again: boolean) => Promise<RawCheckResult> {
  const known = new Map<string, RawCheckResult>();
  return async (check, again) => {
    const tree = keeper?.knownTree() ?? null;
    const key = JSON.stringify([tree, check.name, check.command]);
    const earlier = tree === null ? undefined : known.get(key);
    if (earlier !== undefined && (earlier.exitCode === 0 || !again)) {
      return { ...earlier, isReused: true };
    }
    const result = await run(check);
    // A check that a stop cut off has said nothing.
    if (tree !== null && (result.exitCode !== null || result.timedOut)) known.set(key, result);
    return result;
  };
}
