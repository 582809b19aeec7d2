import type { CommandResult } from '../core/completion/sightings.ts';
import { type ChildOptions, childEnvironment } from '../effects/agents/agent-runner.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { runShellCommand, type ShellOptions } from '../effects/processes/shell-command.ts';
import type { StopRequests } from '../loop/ports.ts';

/** Runs one of the user's shell commands with the text `input` on its standard input. */
type RunCommand = (command: string, input: string) => Promise<CommandResult>;

/** Runs the user's commands of a plan while its loop runs. */
export function userCommands(
  plan: RunPlan,
  child: ChildOptions,
  stops: StopRequests,
  iteration: () => number,
): RunCommand {
  return (command, input) =>
    runShellCommand(command, input, shellOptions(plan, child, stops, iteration()));
}

/** Returns a function that runs `--on-end`, even after a stop, or null if there is no such command. */
export function endCommand(
  plan: RunPlan,
  child: ChildOptions,
  stops: StopRequests,
  iteration: () => number,
): ((input: string) => Promise<CommandResult>) | null {
  const command = plan.settings.onEnd;
  if (command === null) return null;
  return (input) => {
    // The request that stopped the loop has been served, so only a second one ends this command, too.
    const signal = stops.signal.aborted ? stops.hurry : stops.signal;
    const last: StopRequests = { signal, hurry: stops.hurry, cause: () => null };
    return runShellCommand(command, input, shellOptions(plan, child, last, iteration()));
  };
}

function shellOptions(
  plan: RunPlan,
  child: ChildOptions,
  stops: StopRequests,
  iteration: number,
): ShellOptions {
  return {
    cwd: plan.cwd,
    env: childEnvironment(child, iteration),
    timeoutMs: plan.policy.iterationTimeoutMs,
    stops,
  };
}
