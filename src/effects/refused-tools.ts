import type { RefusedTool } from '../core/attempt.ts';
import { remember } from './bounded-map.ts';
import type { ToolDenial } from './claude-events.ts';

/** Calls remembered while nobody knows yet which were refused: enough for hours, and bounded. */
const REMEMBERED_CALLS = 1_000;

interface ToolLedger {
  /** A tool was called. */
  readonly called: (id: string, tool: string) => void;
  /** A call was answered; a call that was never seen is passed over. */
  readonly answered: (id: string, failed: boolean) => void;
  /** A closing report lists refused calls; what an earlier one listed too counts once. */
  readonly denied: (denials: readonly ToolDenial[]) => void;
  /** Joins the denials with what was seen of the calls. */
  readonly refused: () => readonly RefusedTool[];
}

/**
 * Remembers which tools answered in which order. Only the closing report tells which calls were
 * refused, and then whether the agent found another way must already be known.
 */
export function createToolLedger(): ToolLedger {
  const open = new Map<string, string>();
  const denied = new Map<string, ToolDenial>();
  // In order of the answers: a Map keeps the order in which its keys came.
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
        // A refusal whose place is unknown counts as not made up for: the careful reading.
        const refusedAt = (id === null ? undefined : place.get(id)) ?? Number.POSITIVE_INFINITY;
        const laterSucceeded = (lastSuccess.get(tool) ?? -1) > refusedAt;
        return { tool, target, command, laterSucceeded };
      });
    },
  };
}
