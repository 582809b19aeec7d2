import type { RefusedTool } from '../../core/agent/attempt.ts';
import { remember } from '../files/bounded-map.ts';
import type { ToolDenial } from './stream-events.ts';

/** Calls kept until the report says which were refused: bounded, but enough for hours. */
const REMEMBERED_CALLS = 1_000;

interface ToolLedger {
  readonly called: (id: string, tool: string) => void;
  /** Records an answer; ignores a call that was never seen. */
  readonly answered: (id: string, failed: boolean) => void;
  /** Records the refused calls of a closing report; a call that two reports list counts once. */
  readonly denied: (denials: readonly ToolDenial[]) => void;
  /** Combines the denials with what was seen of the calls. */
  readonly refused: () => readonly RefusedTool[];
}

/**
 * Remembers in which order the tools answered. Only the closing report says which calls were
 * refused; to know by then whether the agent found another way, the order must be on record.
 */
export function createToolLedger(): ToolLedger {
  const open = new Map<string, string>();
  const denied = new Map<string, ToolDenial>();
  // In order of the answers: a Map keeps insertion order.
  const answers = new Map<string, { readonly tool: string; readonly failed: boolean }>();
  return {
    called: (id, tool) => {
      remember(open, id, tool, REMEMBERED_CALLS);
    },
    answered: (id, failed) => {
      const tool = open.get(id);
      if (tool === undefined) return;
      open.delete(id);
      remember(answers, id, { tool, failed }, REMEMBERED_CALLS);
    },
    denied: (denials) => {
      for (const denial of denials) denied.set(denial.id ?? `unnamed ${denied.size}`, denial);
    },
    refused: () => {
      const place = new Map<string, number>();
      const lastSuccess = new Map<string, number>();
      for (const [id, { tool, failed }] of answers) {
        const next = place.size;
        place.set(id, next);
        if (!failed && !denied.has(id)) lastSuccess.set(tool, next);
      }
      return [...denied.values()].map(({ id, tool, target, command }) => {
        // If the place of a refusal is unknown, assume that no later call made up for it.
        const refusedAt = (id === null ? undefined : place.get(id)) ?? Number.POSITIVE_INFINITY;
        const laterSucceeded = (lastSuccess.get(tool) ?? -1) > refusedAt;
        return { tool, target, command, laterSucceeded };
      });
    },
  };
}
