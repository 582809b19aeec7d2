import { AGENT_NAMES, type AgentName } from '../agent/agents/agents.ts';

/*
 * Settings that can have a value for each agent, such as `--model`. `opus` is for a task with one agent, and
 * `codex=gpt-5` is for one of several agents. A configuration may write a map instead: `{codex: gpt-5}`.
 */

/** Turns a map from agents to texts into texts such as `codex=gpt-5`. Returns null if it is not such a map. */
export function textsFromMap(map: object): readonly string[] | null {
  const texts = Object.entries(map).flatMap(([name, text]) =>
    AGENT_NAMES.some((agent) => agent === name) && typeof text === 'string'
      ? [`${name}=${text}`]
      : [],
  );
  return texts.length === Object.keys(map).length ? texts : null;
}

/** Splits a text such as `claude=opus,codex=gpt-5` into one text for each agent. Keeps any other text whole. */
export function textsIn(written: string): readonly string[] {
  return namedText(written) === null ? [written] : written.split(NEXT_AGENT);
}

const NEXT_AGENT = new RegExp(`,\\s*(?=(?:${AGENT_NAMES.join('|')})=)`);

/** Splits a text such as `codex=gpt-5` into the agent and the text after the `=`; null if it names no agent. */
export function namedText(
  text: string,
): { readonly agent: AgentName; readonly text: string } | null {
  const agent = AGENT_NAMES.find((name) => text.startsWith(`${name}=`));
  return agent === undefined ? null : { agent, text: text.slice(agent.length + 1) };
}

/** Returns the text for an agent: the last one that names it, else the last one that names no agent, else null. */
export function textFor(texts: readonly string[], agent: AgentName): string | null {
  const own = texts.findLast((text) => namedText(text)?.agent === agent);
  if (own !== undefined) return namedText(own)?.text ?? null;
  return texts.findLast((text) => namedText(text) === null) ?? null;
}
