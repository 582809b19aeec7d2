import type { CommandResult } from '../core/completion/command-result.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import type { Check } from '../core/settings/checks.ts';
import { safeJson } from '../core/text/safe-json.ts';
import { oneLine, tailOf } from '../core/text/untrusted-text.ts';
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

/** Returns what runs the user's commands. A failure of `--after` or `--on-end` is only warned of. */
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

interface CommandsOfRun {
  readonly plan: RunPlan;
  readonly child: ChildOptions;
  readonly stops: StopRequests;
  readonly sandbox: Sandbox | null;
  readonly iteration: () => number;
}

/**
 * Returns functions that run the user's commands of a plan. `check` and `measure` run the commands that decide about
 * the task: in the sandbox if checks run there. `run` and `runEnd` run `--after` and `--on-end` outside the sandbox,
 * because these commands may push. `runEnd` runs even after a stop request; it is null if there is no `--on-end`.
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
    // A first request to stop has already stopped the loop, so only a second one ends this command.
    const signal = stops.signal.aborted ? stops.hurry : stops.signal;
    return run(command, input, { signal, hurry: stops.hurry, cause: () => null });
  };
  return { run, measure, check, runEnd: onEnd === null ? null : runEnd(onEnd) };
}

interface SetUpOptions extends Pick<ShellOptions, 'stops' | 'confine'> {
  /** The value of `RALPH_RUN_ID`, which marks the processes of the command. */
  readonly runId: string;
}

/** Runs the `--on-end` command after a run has ended. Resolves to its exit code; 0 if there is no such command. */
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

/** Runs `--setup` in a new work tree. Resolves to why it failed, to `stopped` after a request to stop, or to null. */
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
  // After a stop, the next resume runs the command again.
  if (stops.signal.aborted) return 'stopped';
  const how = timedOut ? 'took too long' : `ended with ${exitCode ?? 'a signal'}`;
  const said = tailOf(maskSecrets(output.trim()), 400);
  return oneLine(`${maskSecrets(`--setup '${command}' ${how}`)}: ${said}`, 700);
}

/** Returns the options from which the environment of a run's processes is made. */
export function childOf(plan: RunPlan, runId: string): ChildOptions {
  return {
    ...{ env: plan.env, runId, taskId: plan.taskId, maxIterations: plan.policy.maxIterations },
    stateFile: taskPaths(plan.stateDir, plan.taskId).stateFile,
  };
}
