import type { AgentKind } from '../effects/agents/agent.ts';
import { commandAgent } from '../effects/agents/command-agent.ts';
import { claudeAgent } from '../effects/claude/claude-agent.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';

/** Returns the agent of a plan. A new kind of agent is added here. */
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

/** Returns how the agent would be started, and where ralph searched if the agent is missing. */
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

/** What is known about the agent that a run would start. */
export interface AgentSearch {
  /** The program of a command agent and its arguments; null for `claude`. */
  readonly words: readonly string[] | null;
  readonly claudeBin: string | null;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Returns the location of the agent's program, or the places that were searched. Starts nothing. */
export function findAgent(
  search: AgentSearch,
): { readonly file: string } | { readonly missing: string } {
  const { words, claudeBin, cwd, env } = search;
  const kind =
    words === null
      ? claudeAgent({
          bin: claudeBin,
          prefixArgs: [],
          model: null,
          permissionMode: null,
          allowedTools: [],
          skipPermissions: false,
          passthrough: [],
          cwd,
          env,
        })
      : commandAgent({ words, passthrough: [], cwd, env });
  return kind.locate({ resumeSession: null, budgetUsd: null });
}
