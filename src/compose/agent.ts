import type { AgentName } from '../core/agent/agents/agents.ts';
import { type AgentKind, type AgentOptions, locate } from '../effects/agents/agent.ts';
import { codexAgent } from '../effects/agents/codex.ts';
import { commandAgent } from '../effects/agents/command-agent.ts';
import { copilotAgent } from '../effects/agents/copilot.ts';
import { geminiAgent } from '../effects/agents/gemini.ts';
import { opencodeAgent } from '../effects/agents/opencode.ts';
import { qwenAgent } from '../effects/agents/qwen.ts';
import { createReadableEvents } from '../effects/agents/readable-events.ts';
import { claudeAgent } from '../effects/claude/claude-agent.ts';
import { createReadableLog, type ReadableLog } from '../effects/claude/readable-log.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import type { AgentFacts } from '../report/screens/doctor.ts';

/** Creates the `AgentKind` of each agent, by the agent's name. */
const KINDS: Readonly<Record<AgentName, (options: AgentOptions) => AgentKind>> = {
  claude: claudeAgent,
  codex: codexAgent,
  gemini: geminiAgent,
  opencode: opencodeAgent,
  qwen: qwenAgent,
  copilot: copilotAgent,
  command: commandAgent,
};

/** Returns how ralph starts an agent and reads its output. */
export function agentKind(name: AgentName, options: AgentOptions): AgentKind {
  return KINDS[name](options);
}

/**
 * Returns what turns the log of an agent's output into text. `claude` writes more than its reader keeps, and
 * the output of a command is text already.
 */
export function readableLog(name: AgentName, options: AgentOptions): ReadableLog {
  return name === 'claude' || name === 'command'
    ? createReadableLog()
    : createReadableEvents(agentKind(name, options));
}

const FIRST_TURN = { resumeSession: null, budgetUsd: null };

/** Returns the command that would start the agent. `missing` says where ralph looked for a missing program. */
export function locateAgent(plan: RunPlan): {
  readonly argv: readonly string[];
  readonly missing: string | null;
} {
  const kind = agentKind(plan.policy.agent, plan);
  const first = { ...FIRST_TURN, budgetUsd: plan.policy.maxCostUsd };
  const found = locate(kind, first, plan);
  if ('missing' in found) {
    return { argv: [kind.program, ...kind.args(first)], missing: found.missing };
  }
  return { argv: [found.file, ...found.args], missing: null };
}

/** Returns what ralph can find out about an agent without starting it. */
export function examineAgent(
  name: AgentName,
  options: AgentOptions,
): Pick<AgentFacts, 'program' | 'findings' | 'interferences'> {
  const kind = agentKind(name, options);
  return {
    program:
      kind.program === ''
        ? { missing: '--agent-command is not a valid command' }
        : locate(kind, FIRST_TURN, options),
    findings: kind.examine(),
    interferences: kind.interferences?.() ?? null,
  };
}
