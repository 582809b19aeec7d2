import { hasSeveralAgents } from '../core/task/policy.ts';
import {
  type ChildOptions,
  createAgentRunner,
  type GuardedRunner,
  type RunnerOptions,
} from '../effects/agents/agent-runner.ts';
import { GUARD_PROGRAM } from '../effects/agents/kept-guard.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import { leftoverLine } from '../report/notices.ts';
import { hasOwnEvents } from './agent.ts';
import type { ClaimedRun } from './held-run.ts';

/** Creates what starts the agents of a run. */
export function agentRunner(
  run: ClaimedRun,
  kindOf: RunnerOptions['kindOf'],
  child: ChildOptions,
  sandbox: Sandbox | null,
): GuardedRunner {
  const { plan, paths, warn } = run;
  return createAgentRunner({
    kindOf,
    cwd: plan.cwd,
    sandbox,
    ...child,
    notesAgents: hasSeveralAgents(plan.policy) || hasOwnEvents(plan.policy.agent),
    logDir: paths.folder,
    iterationTimeoutMs: plan.policy.iterationTimeoutMs,
    idleTimeoutMs: plan.policy.idleTimeoutMs,
    guardProgram: GUARD_PROGRAM,
    keepBackground: plan.settings.keepBackground,
    logLimitBytes: plan.settings.logLimit,
    onLeftovers: (what, processes) => warn(leftoverLine(what, processes)),
    onOutput: run.onOutput,
    lease: run.leg?.lease,
    warn,
  });
}
