import path from 'node:path';
import { type CheckResult, failedChecks, judgeCheck } from '../../core/completion/check-result.ts';
import { storedPolicy } from '../../core/policy/policy-of.ts';
import { withoutFleet } from '../../core/settings/environment.ts';
import { type LandingRefusal, landingChecks } from '../../core/snapshots/landing.ts';
import { copyFiles } from '../../effects/branches/copy-files.ts';
import { isInside, realPath } from '../../effects/files/real-path.ts';
import type { Git } from '../../effects/git/git.ts';
import type { Repository } from '../../effects/git/repository.ts';
import { runShellCommand, type ShellOptions } from '../../effects/processes/shell-command.ts';
import type { SignalWatch } from '../../effects/processes/signals.ts';
import { provenFailures } from '../../effects/proof/proof-file.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';
import { runCheck } from '../proof/checks.ts';
import { confinedTo } from '../sandbox/confined-to.ts';
import type { LaterSandbox } from '../sandbox/run-sandbox.ts';
import { startFolderOf } from './task-repository.ts';
import type { TaskToLand } from './task-to-land.ts';

/** What checks need that run when a task's work lands on a branch. */
export interface CheckWorld {
  readonly sandbox: LaterSandbox;
  /** The value of `RALPH_RUN_ID` in the environment of the checks. */
  readonly runId: string;
  /** Makes sure that the checks are ended if ralph is killed. */
  readonly guard: () => void;
}

interface CheckTools extends CheckWorld {
  readonly repository: Repository;
  readonly git: Git;
  readonly stops: SignalWatch;
}

/** Runs the task's `--copy`, `--setup` and checks in the merged work tree; resolves to null if all checks pass. */
export async function checkIn(
  scratch: string,
  { state, stored, vault, paths, folder, seal, env }: TaskToLand,
  { repository: { root }, git, stops, sandbox, runId, guard }: CheckTools,
): Promise<LandingRefusal | null> {
  const { setup, copy } = stored.settings;
  const policy = storedPolicy(state, stored);
  const checks = landingChecks(state, policy);
  const from = startFolderOf(stored);
  const below = realPath(from);
  const tree = [root, state.git.work_tree?.path ?? root]
    .map(realPath)
    .find((each) => each === below || isInside(each, below));
  const cwd = tree === undefined ? scratch : path.join(scratch, path.relative(tree, below));
  const isOwn = ownFiles(vault, paths.stateDir);
  await copyFiles({ from, to: cwd, root: scratch, globs: copy, git, isOwn });
  const hasCommands = setup !== null || checks.length > 0;
  const inside = hasCommands ? await sandbox.open(cwd) : null;
  if (hasCommands) guard();
  const options = (): ShellOptions => ({
    cwd,
    env: { ...withoutFleet(env), RALPH_TASK_ID: state.task_id, RALPH_RUN_ID: runId },
    timeoutMs: policy.iterationTimeoutMs,
    stops,
    ...confinedTo(inside),
  });
  if (setup !== null) {
    const result = await runShellCommand(setup, '', options());
    if (result.exitCode !== 0) return { kind: 'setup-failed', result };
  }
  // A check that failed at the task's start may fail here, too, if the task was completed in spite of that.
  const known = provenFailures(folder, seal, state);
  const results: CheckResult[] = [];
  for (const check of checks) {
    results.push(judgeCheck(await runCheck(check, options()), known, policy));
  }
  const failed = failedChecks(results);
  return failed.length === 0 ? null : { kind: 'checks-failed', failed };
}
