import type { RefusedTool } from '../../core/agent/attempt.ts';
import { remember } from '../files/bounded-map.ts';
import { type JsonObject, numberAt, objectAt } from '../files/json-fields.ts';
import { nameAt, readDenials, type ToolDenial } from './stream-events.ts';

/** Calls and sub-agents kept: bounded, but enough for hours. */
const REMEMBERED = 1_000;

/** A sub-agent whose start was reported. */
interface SubAgent {
  /** The call that started it; null if not reported. */
  readonly callId: string | null;
  /** Whether the calling agent does not wait for it; null if not reported. */
  readonly isInBackground: boolean | null;
  readonly end: 'finished' | 'stopped' | null;
}

interface ToolLedger {
  /** The agent called a tool, which may start or stop a sub-agent. */
  readonly called: (id: string, tool: string, input: JsonObject | null) => void;
  /** A tool answered; ignores a call that was never seen. */
  readonly answered: (id: string, failed: boolean) => void;
  /** Takes a `system/task_…` event, which says what became of a sub-agent. */
  readonly readSubAgent: (event: JsonObject) => void;
  /** Takes a `result` event; a refused call that two reports list counts once. */
  readonly readReport: (event: JsonObject) => void;
  /** Combines the refusals of the reports with what was seen of the calls. */
  readonly refused: () => readonly RefusedTool[];
  /** Returns how many sub-agents the system stopped before they had finished. */
  readonly stoppedSubAgents: () => number;
}

/**
 * Remembers in which order the tools answered, and what became of sub-agents. Only the closing report says
 * which calls were refused; to know by then whether the agent found another way, the order must be on
 * record. Newer versions of claude also count the stopped sub-agents in the report. Older ones report each
 * stop, or never report the sub-agent again; they report plain commands (`local_bash`) in the same way,
 * which do not count.
 */
export function createToolLedger(): ToolLedger {
  /** Calls that no tool has answered yet, with the sub-agent that each stops. */
  const open = new Map<string, { readonly tool: string; readonly stops: string | null }>();
  const denied = new Map<string, ToolDenial>();
  // In order of the answers: a Map keeps insertion order.
  const answers = new Map<string, { readonly tool: string; readonly failed: boolean }>();
  /** Whether the sub-agent that a call starts works in the background. */
  const starts = new Map<string, boolean>();
  const subAgents = new Map<string, SubAgent>();
  /** Sub-agents that the agent itself chose to stop; they do not count. */
  const stoppedByAgent = new Set<string>();
  let counted: number | null = null;

  /** If the caller waits for it, it has the answer, even if an older claude does not report the end. */
  const isAwaited = ({ isInBackground, callId }: SubAgent): boolean =>
    !(isInBackground ?? starts.get(callId ?? '') ?? true);

  return {
    called: (id, tool, input) => {
      const stops = STOPPING_TOOLS.has(tool) ? stoppedBy(input) : null;
      remember(open, id, { tool, stops }, REMEMBERED);
      if (input !== null && STARTING_TOOLS.has(tool)) {
        remember(starts, id, input.run_in_background === true, REMEMBERED);
      }
    },
    answered: (id, failed) => {
      const call = open.get(id);
      if (call === undefined) return;
      open.delete(id);
      remember(answers, id, { tool: call.tool, failed }, REMEMBERED);
      const { stops } = call;
      if (!failed && stops !== null && subAgents.has(stops)) stoppedByAgent.add(stops);
    },
    readSubAgent: (event) => {
      const id = nameAt(event, 'task_id');
      if (id === null) return;
      if (nameAt(event, 'subtype') === 'task_started') {
        if (nameAt(event, 'task_type') !== 'local_agent') return;
        const { is_backgrounded } = event;
        const isInBackground = typeof is_backgrounded === 'boolean' ? is_backgrounded : null;
        const callId = nameAt(event, 'tool_use_id');
        remember(subAgents, id, { callId, isInBackground, end: null }, REMEMBERED);
        return;
      }
      const subAgent = subAgents.get(id);
      const end = ENDS.get(nameAt(objectAt(event, 'patch') ?? event, 'status') ?? '');
      if (subAgent === undefined || end === undefined) return;
      remember(subAgents, id, { ...subAgent, end }, REMEMBERED);
    },
    readReport: (event) => {
      for (const denial of readDenials(event)) {
        denied.set(denial.id ?? `unnamed ${denied.size}`, denial);
      }
      const killed = objectAt(objectAt(event, 'subagent_stats') ?? {}, 'killed');
      counted = killed === null ? null : (numberAt(killed, 'system') ?? 0);
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
    stoppedSubAgents: () => {
      if (counted !== null) return Math.max(0, counted);
      return [...subAgents].filter(
        ([id, subAgent]) =>
          !stoppedByAgent.has(id) &&
          (subAgent.end === 'stopped' || (subAgent.end === null && !isAwaited(subAgent))),
      ).length;
    },
  };
}

/** All names the tool has had. */
const STARTING_TOOLS: ReadonlySet<string> = new Set(['Task', 'Agent']);
/** All names the tool has had. Other tools with a sub-agent's id only read from it (`TaskOutput`). */
const STOPPING_TOOLS: ReadonlySet<string> = new Set(['TaskStop', 'KillShell', 'KillBash']);

function stoppedBy(input: JsonObject | null): string | null {
  return input === null ? null : (nameAt(input, 'task_id') ?? nameAt(input, 'shell_id'));
}

const ENDS: ReadonlyMap<string, SubAgent['end']> = new Map([
  ['completed', 'finished'],
  ['failed', 'finished'],
  ['stopped', 'stopped'],
  ['killed', 'stopped'],
]);
