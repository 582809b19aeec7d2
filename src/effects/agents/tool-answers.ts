import type { RefusedTool } from '../../core/agent/attempt.ts';
import { remember } from '../../core/agent/bounded-map.ts';
import type { ToolCall } from './event-fields.ts';

/** Number of calls that are stored: enough for hours. */
const REMEMBERED = 1_000;

/**
 * Records the order in which the tools answered: an agent may name the refused calls only at its end, and a later call
 * of the same tool may have succeeded.
 */
export function createToolAnswers() {
  const open = new Map<string, ToolCall>();
  const denied = new Map<string, ToolCall & { readonly id: string | null }>();
  /** The positions of failed answers, which include the refused ones, by the id of the call. */
  const failures = new Map<string, number>();
  const lastSuccess = new Map<string, { readonly id: string; readonly place: number }>();
  let answers = 0;
  const somewhere = new Map<string, ToolCall>();
  return {
    called: (id: string, call: ToolCall): void => remember(open, id, call, REMEMBERED),
    /** Records that a tool answered, and returns its call; null if the call is unknown. */
    answered: (id: string, failed: boolean): ToolCall | null => {
      const call = open.get(id);
      if (call === undefined) return null;
      open.delete(id);
      answers += 1;
      if (failed) remember(failures, id, answers, REMEMBERED);
      else remember(lastSuccess, call.tool, { id, place: answers }, REMEMBERED);
      return call;
    },
    /** Returns the call of this id if it has no answer yet; otherwise null. */
    callOf: (id: string): ToolCall | null => open.get(id) ?? null,
    isDenied: (id: string): boolean => denied.has(id),
    /** Records a refused call; a call that is reported twice counts once. */
    denied: (id: string | null, call: ToolCall): void => {
      denied.set(id ?? `unnamed ${denied.size}`, { ...call, id });
    },
    /** Records a refusal whose position is unknown. It counts only if no refused call of the same tool is known. */
    deniedSomewhere: (call: ToolCall): void =>
      remember(somewhere, `${call.tool} ${call.target}`, call, REMEMBERED),
    /** Returns the refused calls, each with whether a later call of the same tool succeeded. */
    refused: (): readonly RefusedTool[] => {
      const placed = [...denied.values()].map(({ id, tool, target, command }) => {
        // If it is unknown when the call was refused, no call counts as later.
        const refusedAt = (id === null ? undefined : failures.get(id)) ?? Number.POSITIVE_INFINITY;
        const last = lastSuccess.get(tool);
        // The tool's last success may be the answer to a refused call. Then no later call is known to have succeeded.
        const laterSucceeded = last !== undefined && !denied.has(last.id) && last.place > refusedAt;
        return { tool, target, command, laterSucceeded };
      });
      const known = new Set(placed.map(({ tool }) => tool));
      const others = [...somewhere.values()].filter(({ tool }) => !known.has(tool));
      return [...placed, ...others.map((call) => ({ ...call, laterSucceeded: false }))];
    },
  };
}
