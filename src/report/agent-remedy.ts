import { AGENTS, type AgentName } from '../core/agent/agents/agents.ts';

const AS_SAID = 'do as the message says';

/** These match an agent's words about its model, and about the length of the prompt or the session. */
const OF_MODEL = /\bmodels?\b/i;
const OF_LENGTH =
  /\btoo (?:long|large|many tokens)\b|\b(?:prompt|context|input) (?:length|window|tokens)\b|\bexceeds the maximum size\b/i;

/** Returns what to do about a cause of failure, or null. It names the model or a length only if `words` speak of it. */
export function agentRemedy(agent: AgentName, cause: string, words: string): string | null {
  const remedies: Readonly<Record<string, string>> = AGENTS[agent].remedies;
  const own = remedies[cause] ?? null;
  switch (cause) {
    case 'refused-request': {
      const model = OF_MODEL.test(words) ? ', or name another model with --model' : '';
      const length = OF_LENGTH.test(words) ? ', or shorten the prompt' : '';
      return `${AS_SAID}${model}${length}`;
    }
    case 'not-logged-in':
      return own === null ? AS_SAID : `${AS_SAID}, or ${own}`;
    default:
      return own;
  }
}
