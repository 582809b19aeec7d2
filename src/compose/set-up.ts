import { maskSecrets } from '../core/secrets/secrets.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { type ChildOptions, childEnvironment } from '../effects/agents/agent-runner.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { runShellCommand, type ShellOptions } from '../effects/processes/shell-command.ts';
import { taskPaths } from '../effects/state/task-folder.ts';

interface SetUpOptions extends Pick<ShellOptions, 'stops' | 'confine'> {
  /** Marks its processes. */
  readonly runId: string;
}

/**
 * Runs the set-up of a new work tree, with the iteration limit as its bound. Resolves to why it failed, or to null;
 * to `stopped` if a request to stop has ended it.
 */
export async function runSetUp(
  command: string,
  plan: RunPlan,
  { runId, stops, ...options }: SetUpOptions,
): Promise<string | null> {
  const child: ChildOptions = {
    ...{ env: plan.env, runId, taskId: plan.taskId, maxIterations: plan.policy.maxIterations },
    stateFile: taskPaths(plan.stateDir, plan.taskId).stateFile,
  };
  const { exitCode, timedOut, output } = await runShellCommand(command, '', {
    ...{ cwd: plan.cwd, env: childEnvironment(child, 0), stops, ...options },
    timeoutMs: plan.policy.iterationTimeoutMs,
  });
  if (exitCode === 0) return null;
  // The next resume begins it again.
  if (stops.signal.aborted) return 'stopped';
  const how = timedOut ? 'took too long' : `ended with ${exitCode ?? 'a signal'}`;
  return oneLine(maskSecrets(`--setup '${command}' ${how}: ${output.trim().slice(-400)}`), 700);
}
