import { agentPrograms } from '../../compose/agent.ts';
import { legStops } from '../../compose/leg-ports.ts';
import { confinedTo } from '../../compose/sandbox/confined-to.ts';
import { sandboxOfRun } from '../../compose/sandbox/sandbox-of-run.ts';
import { runSetUp } from '../../compose/user-commands.ts';
import { GUARD_PROGRAM, keepGuard, leaseIsFresh } from '../../effects/agents/kept-guard.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { watchAbort } from '../../effects/processes/signals.ts';
import { LegFailed } from './leg-failed.ts';
import type { LegState } from './leg-state.ts';
import type { LegFolder } from './worker-home.ts';

/**
 * Runs the set-up command where the agent runs, since it may call programs of the repository. As for an agent, the last
 * heartbeat must be recent, and a guard process kills the command if this worker dies or its heartbeats fail. Rejects
 * with `LegFailed`, with `LegStopped` if a person stops the task, and with `RunDropped` if the claim is given up.
 */
export async function setUpLeg(
  command: string,
  plan: RunPlan,
  { runId }: LegFolder,
  { claim, world, lease, dropped, over, dropIfStale }: LegState,
): Promise<void> {
  const stops = legStops(watchAbort(over), { dropped });
  const warn = (sentence: string): void => world.say(`${claim.taskId}: ${sentence}`);
  const sandbox = await sandboxOfRun(plan, {
    ...{ programs: () => agentPrograms(plan), runId, warn: () => {} },
  });
  const guard = keepGuard({ runId, guardProgram: GUARD_PROGRAM, lease, warn });
  try {
    const inside = await sandbox.open();
    await leaseIsFresh(lease, over);
    const failed = await runSetUp(command, plan, { runId, stops, ...confinedTo(inside) });
    // The guard may have killed the command: then its failure says nothing about the task.
    dropIfStale();
    over.throwIfAborted();
    if (failed !== null) throw new LegFailed('failed:setup', failed);
  } finally {
    await sandbox.close();
    guard.dismiss();
    stops.close();
  }
}
