import type { AgentKind } from '../effects/agent-kind.ts';
import { claudeAgent } from '../effects/claude-agent.ts';
import { commandAgent } from '../effects/command-agent.ts';
import type { RunPlan } from '../effects/run-plan.ts';

/** The agent of a plan. A new kind of agent is one more line here. */
export function agentKind(plan: RunPlan, prefixArgs: readonly string[]): AgentKind {
  const { settings, env, cwd, passthrough } = plan;
  if (plan.policy.agent === 'command') {
    return commandAgent({ words: plan.agentWords, passthrough, env, cwd });
  }
  return claudeAgent({
    bin: settings.claudeBin,
    prefixArgs,
    model: settings.model,
    permissionMode: settings.permissionMode,
    allowedTools: settings.allowedTools,
    skipPermissions: settings.dangerouslySkipPermissions,
    passthrough,
    env,
    cwd,
  });
}

/** How the agent would be started, and where it was looked for if it is not there. */
export function locateAgent(plan: RunPlan): {
  readonly argv: readonly string[];
  readonly missing: string | null;
} {
  const kind = agentKind(plan, []);
  const first = { resumeSession: null, budgetUsd: plan.policy.maxCostUsd };
  const found = kind.locate(first);
  if ('missing' in found) return { argv: kind.wanted(first), missing: found.missing };
  return { argv: [found.file, ...found.args], missing: null };
}
