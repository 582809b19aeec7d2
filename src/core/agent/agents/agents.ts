import type { Agent } from '../agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { command } from './command.ts';
import { copilot } from './copilot.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { qwen } from './qwen.ts';

/** All agents, in the order in which the help lists them. */
const LIST = { claude, codex, gemini, opencode, qwen, copilot, command };

export type AgentName = keyof typeof LIST;

export const AGENTS: Readonly<Record<AgentName, Agent>> = LIST;

export const DEFAULT_AGENT: AgentName = 'claude';

export const AGENT_NAMES: readonly AgentName[] = Object.keys(LIST).filter(isAgentName);

/** Returns how text must be quoted for a prompt that any of these agents may read. */
export function rulesForAll(agents: readonly AgentName[]): Pick<Agent, 'expandsAtPaths'> {
  return { expandsAtPaths: agents.some((name) => AGENTS[name].expandsAtPaths) };
}

export function isAgentName(name: unknown): name is AgentName {
  return typeof name === 'string' && Object.hasOwn(LIST, name);
}
