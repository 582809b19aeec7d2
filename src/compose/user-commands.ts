import type { CommandResult } from '../core/completion/sightings.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import { safeJson } from '../core/text/safe-json.ts';
import { type ChildOptions, childEnvironment } from '../effects/agents/agent-runner.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { runShellCommand } from '../effects/processes/shell-command.ts';
import type { RunCommand } from '../effects/workspace/observer.ts';
import type { Commands, StopRequests } from '../loop/ports.ts';
import { commandFailed } from '../report/messages.ts';

/**
 * The user's own commands. `runEnd` is null if there is no `--on-end`. Only the result of a check decides
 * anything, so other failures are passed to `warn`.
 */
export function userCommands(
  run: RunCommand,
  runEnd: ((input: string) => Promise<CommandResult>) | null,
  warn: (sentence: string) => void,
): Commands {
  const report = (flag: string, { exitCode }: CommandResult): void => {
    if (exitCode !== 0) warn(commandFailed(flag, exitCode));
  };
  return {
    verify: (command) => run(command, ''),
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

/**
 * Returns what runs the user's commands of a plan: `run` while its loop runs; `runEnd` even after a stop,
 * null if there is no `--on-end`.
 */
export function commandRunners(
  plan: RunPlan,
  child: ChildOptions,
  stops: StopRequests,
  iteration: () => number,
) {
  const { cwd, policy, settings } = plan;
  const runWith = (stopsThen: StopRequests, command: string, input: string) =>
    runShellCommand(command, input, {
      cwd,
      env: childEnvironment(child, iteration()),
      timeoutMs: policy.iterationTimeoutMs,
      stops: stopsThen,
    });
  const run: RunCommand = (command, input) => runWith(stops, command, input);
  const { onEnd } = settings;
  if (onEnd === null) return { run, runEnd: null };
  const runEnd = (input: string): Promise<CommandResult> => {
    // The request that stopped the loop has been served, so only a second one ends this command, too.
    const signal = stops.signal.aborted ? stops.hurry : stops.signal;
    return runWith({ signal, hurry: stops.hurry, cause: () => null }, onEnd, input);
  };
  return { run, runEnd };
}
