import type { PromptLimit } from '../agent/agent.ts';
import { AGENTS, type AgentName } from '../agent/agents/agents.ts';

/** The room for what ralph adds: how the loop works, what is missing, and the outputs of two failed commands. */
const OWN_WORDS = 40 * 1024;
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;

/**
 * Returns how many characters of earlier output fit into a prompt beside the user's own text, or null if the
 * user's text alone leaves no room. Hints (notes from outside) get as much room as the earlier output.
 */
export function contextRoom(prompt: Uint8Array, { most, unit }: PromptLimit): number | null {
  const isBytes = unit === 'bytes';
  const length = isBytes ? prompt.length : new TextDecoder().decode(prompt).length;
  const room = most - length - OWN_WORDS;
  return room <= 0 ? null : Math.max(1, Math.floor(room / 2 / (isBytes ? BYTES_PER_UNIT : 1)));
}

/** Returns the length of the longest text from the user for which there is room, in the unit of the limit. */
export function longestPrompt({ most }: PromptLimit): number {
  return most - OWN_WORDS;
}

/** Returns a sentence if a prompt is too long for an agent; null if there is room for it. */
export function promptTooLong(prompt: Uint8Array, agent: AgentName): string | null {
  const { promptLimit: limit } = AGENTS[agent];
  if (limit === null || contextRoom(prompt, limit) !== null) return null;
  return `The prompt is too long for ${agent}, which reads ${limit.most} ${limit.unit} with what ralph adds; ralph expects ${longestPrompt(limit)} at most.`;
}
