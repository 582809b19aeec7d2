import { AGENT_NAMES, type AgentName } from '../agent/agents/agents.ts';

/*
 * Settings with a value for each agent, such as `--model`: `opus` is for a task with one agent, and
 * `codex=gpt-5` for one agent of a list. A configuration may have a map in its place: `{codex: gpt-5}`.
 */

/** Returns the texts of a map from agents to texts, or null if it is not such a map. */
export function textsFromMap(map: object): readonly string[] | null {
  const texts = Object.entries(map).flatMap(([name, text]) =>
    AGENT_NAMES.some((agent) => agent === name) && typeof text === 'string'
      ? [`${name}=${text}`]
      : [],
  );
  return texts.length === Object.keys(map).length ? texts : null;
}

/** Returns the texts in one that names several agents with commas between them, as `--agent` does. */
export function textsIn(written: string): readonly string[] {
  return namedText(written) === null ? [written] : written.split(NEXT_AGENT);
}

const NEXT_AGENT = new RegExp(`,\\s*(?=(?:${AGENT_NAMES.join('|')})=)`);

/** Returns the agent that a text is for and the rest of it; null if it names no agent. */
export function namedText(
  text: string,
): { readonly agent: AgentName; readonly text: string } | null {
  const agent = AGENT_NAMES.find((name) => text.startsWith(`${name}=`));
  return agent === undefined ? null : { agent, text: text.slice(agent.length + 1) };
}

/** Returns the text for an agent: the last that names it, or else the last that names none; null without. */
export function textFor(texts: readonly string[], agent: AgentName): string | null {
  const own = texts.findLast((text) => namedText(text)?.agent === agent);
  if (own !== undefined) return namedText(own)?.text ?? null;
  return texts.findLast((text) => namedText(text) === null) ?? null;
}
