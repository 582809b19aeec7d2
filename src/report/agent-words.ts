import { AGENTS, isAgentName } from '../core/agent/agents/agents.ts';
import type { AgentStanding, JudgeStanding } from '../core/task/agent-standing.ts';
import type { IterationRecord, TaskState } from '../core/task/task-state.ts';
import { formatCost, plural, toldCost } from './format.ts';

/** Says what each agent of a task has used, and which are skipped, for a time or altogether; null for a task with one agent. */
export function agentsText({ agents }: Pick<TaskState, 'agents'>): string | null {
  const words = Object.entries(agents).map(
    ([name, standing]) =>
      `${name} ${[usedText(name, standing), ...stoodText(standing)].join(', ')}`,
  );
  return words.length === 0 ? null : words.join('; ');
}

/** Returns the cost of an iteration in US dollars; `–` if its agent told none. */
export function costText({ agent, cost_usd }: Pick<IterationRecord, 'agent' | 'cost_usd'>): string {
  return agent !== undefined && !tellsCost(agent) ? '–' : toldCost(cost_usd);
}

/** Returns a text to add to the total cost: the agents that worked but report no cost; empty if there are none. */
export function untoldText({ agents }: Pick<TaskState, 'agents'>): string {
  const untold = Object.entries(agents).filter(
    ([name, { usage }]) => !tellsCost(name) && usage.output_tokens > 0,
  );
  return untold.length === 0 ? '' : ` without ${untold.map(([name]) => name).join(', ')}`;
}

/** Whether an agent tells what it costs: only such an agent takes `--max-cost`. */
function tellsCost(name: string): boolean {
  return !isAgentName(name) || AGENTS[name].takes.includes('maxCost');
}

function usedText(name: string, { usage }: AgentStanding): string {
  if (tellsCost(name)) return toldCost(usage.cost_usd);
  const tokens = usage.input_tokens + usage.output_tokens;
  return tokens === 0 ? '–' : `– (${tokens} tokens)`;
}

function stoodText({ held_until, why }: AgentStanding): readonly string[] {
  if (why === null) return [];
  const because = why.replaceAll('-', ' ');
  return [held_until === null ? `skipped: ${because}` : `${because} until ${held_until}`];
}

/** Returns what a judge said last, how often it was asked, how many claims of completion it rejected, and its usage. */
export function judgeText({ agent, model, calls, held, usage, says }: JudgeStanding): string {
  const who = model === null ? agent : `${agent}:${model}`;
  const tokens = usage.input_tokens + usage.output_tokens;
  const used =
    usage.cost_usd > 0 ? formatCost(usage.cost_usd) : tokens > 0 ? `${tokens} tokens` : null;
  const counts = [`asked ${plural(calls, 'time')}`, `held ${plural(held, 'claim')}`];
  return `${who}: ${[says, ...counts, ...(used === null ? [] : [used])].join(', ')}`;
}
