import type { CommandResult } from '../core/completion/command-result.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import type { Check } from '../core/settings/checks.ts';
import { safeJson } from '../core/text/safe-json.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { type ChildOptions, childEnvironment } from '../effects/agents/agent-runner.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { runShellCommand, type ShellOptions } from '../effects/processes/shell-command.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import { taskPaths } from '../effects/state/task-folder.ts';
import type { RunCommand } from '../effects/workspace/observer.ts';
import type { Commands, StopRequests } from '../loop/ports.ts';
import { commandFailed } from '../report/notices.ts';
import { runCheck, runMeasured } from './proof/checks.ts';
import { confinedTo } from './sandbox/confined-to.ts';

/**
 * Creates the port that runs the user's own commands. `runEnd` is null if there is no `--on-end`. Failures
 * of `--after` and `--on-end` decide nothing, so they are only passed to `warn`.
 */
export function userCommands(
  verify: Commands['verify'],
  run: RunCommand,
  runEnd: ((input: string) => Promise<CommandResult>) | null,
  warn: (sentence: string) => void,
): Commands {
  const report = (flag: string, { exitCode }: CommandResult): void => {
    if (exitCode !== 0) warn(commandFailed(flag, exitCode));
  };
  return {
    verify,
    async after(command, event) {
      report('--after', await run(command, line(event)));
    },
    async ended(event) {
      if (runEnd !== null) report('--on-end', await runEnd(line(event)));
    },
  };
}

function line(event: RalphEvent): string {
  return `${safeJson(event)}\n`;
}

/** A run whose commands are started. */
interface CommandsOfRun {
  readonly plan: RunPlan;
  readonly child: ChildOptions;
  readonly stops: StopRequests;
  readonly sandbox: Sandbox | null;
  readonly iteration: () => number;
}

/**
 * Returns functions that run the user's commands of a plan. `check` and `measure` run those that decide, in the
 * sandbox if there is one. `run` and `runEnd` run `--after` and `--on-end` as the user: they are the ones that
 * push. `runEnd` runs even after a stop request; it is null if there is no `--on-end`.
 */
export function commandRunners({ plan, child, stops, sandbox, iteration }: CommandsOfRun) {
  const { cwd, policy, settings } = plan;
  const optionsNow = (stopsThen = stops): ShellOptions => ({
    cwd,
    env: childEnvironment(child, iteration()),
    timeoutMs: policy.iterationTimeoutMs,
    stops: stopsThen,
  });
  const run = (command: string, input: string, stopsThen = stops) =>
    runShellCommand(command, input, optionsNow(stopsThen));
  const inside = () => ({ ...optionsNow(), ...confinedTo(sandbox) });
  const check = (each: Check) => runCheck(each, inside());
  const measure = (command: string) => runMeasured(command, inside());
  const { onEnd } = settings;
  const runEnd = (command: string) => (input: string) => {
    // The first request has already stopped the loop, so only a second request ends this command.
    const signal = stops.signal.aborted ? stops.hurry : stops.signal;
    return run(command, input, { signal, hurry: stops.hurry, cause: () => null });
  };
  return { run, measure, check, runEnd: onEnd === null ? null : runEnd(onEnd) };
}

interface SetUpOptions extends Pick<ShellOptions, 'stops' | 'confine'> {
  /** Marks its processes. */
  readonly runId: string;
}

/** Runs `--on-end` of a run that has ended. Resolves to its exit code; 0 without such a command. */
export async function runEndCommand(
  plan: RunPlan,
  runId: string,
  stops: ShellOptions['stops'],
  ended: RalphEvent,
): Promise<number | null> {
  const { onEnd } = plan.settings;
  if (onEnd === null) return 0;
  const iteration = 'iterations_used' in ended ? ended.iterations_used : 0;
  const { exitCode } = await runShellCommand(onEnd, line(ended), {
    ...{ cwd: plan.cwd, env: childEnvironment(childOf(plan, runId), iteration), stops },
    timeoutMs: plan.policy.iterationTimeoutMs,
  });
  return exitCode;
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
  const { exitCode, timedOut, output } = await runShellCommand(command, '', {
    ...{ cwd: plan.cwd, env: childEnvironment(childOf(plan, runId), 0), stops, ...options },
    timeoutMs: plan.policy.iterationTimeoutMs,
  });
  if (exitCode === 0) return null;
  // The next resume begins it again.
  if (stops.signal.aborted) return 'stopped';
  const how = timedOut ? 'took too long' : `ended with ${exitCode ?? 'a signal'}`;
  return oneLine(maskSecrets(`--setup '${command}' ${how}: ${output.trim().slice(-400)}`), 700);
}

/** Returns what the processes of a run find in their environment. */
export function childOf(plan: RunPlan, runId: string): ChildOptions {
  return {
    ...{ env: plan.env, runId, taskId: plan.taskId, maxIterations: plan.policy.maxIterations },
    stateFile: taskPaths(plan.stateDir, plan.taskId).stateFile,
  };
}
