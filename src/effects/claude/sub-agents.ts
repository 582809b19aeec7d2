import { remember } from '../../core/agent/bounded-map.ts';
import { nameAt } from '../agents/event-fields.ts';
import { type JsonObject, numberAt, objectAt } from '../files/json-fields.ts';

/** Number of sub-agents that are stored: enough for hours. */
const REMEMBERED = 1_000;

interface SubAgent {
  /** Id of the call that started the sub-agent; null if `claude` did not report it. */
  readonly callId: string | null;
  /** Whether the caller continues without waiting; null if `claude` did not report it. */
  readonly isInBackground: boolean | null;
  readonly end: 'finished' | 'stopped' | null;
}

interface Start {
  readonly isInBackground: boolean;
  readonly hasAnswered: boolean;
}

/**
 * Records how sub-agents ended. In newer versions of `claude`, the `result` event contains the number of stopped
 * sub-agents. Older versions report each stop in a `system/task_…` event, or never mention the sub-agent again. Such
 * events about shell commands (`local_bash`) do not count.
 */
export function createSubAgents() {
  /** For each open call that stops a sub-agent: the id of the sub-agent. */
  const stopping = new Map<string, string>();
  /** For each call that starts a sub-agent: whether it runs in the background, and whether the call has an answer. */
  const starts = new Map<string, Start>();
  const subAgents = new Map<string, SubAgent>();
  /** Sub-agents that the agent itself chose to stop; they do not count. */
  const stoppedByAgent = new Set<string>();
  let counted: number | null = null;

  const startOf = ({ callId }: SubAgent): Start | undefined => starts.get(callId ?? '');
  /** Whether the caller waits for the sub-agent: if so, it has finished even if its end is not reported. */
  const isAwaited = (subAgent: SubAgent): boolean =>
    !(subAgent.isInBackground ?? startOf(subAgent)?.isInBackground ?? true);

  return {
    /** Records that the agent called a tool, which can start or stop a sub-agent. */
    called: (id: string, tool: string, input: JsonObject | null): void => {
      const stops = STOPPING_TOOLS.has(tool) ? stoppedBy(input) : null;
      if (stops !== null) remember(stopping, id, stops, REMEMBERED);
      if (input !== null && STARTING_TOOLS.has(tool)) {
        const isInBackground = input.run_in_background === true;
        remember(starts, id, { isInBackground, hasAnswered: false }, REMEMBERED);
      }
    },
    /** Records that a tool answered; ignores an answer to an unknown call. */
    answered: (id: string, failed: boolean): void => {
      const start = starts.get(id);
      if (start !== undefined) starts.set(id, { ...start, hasAnswered: true });
      const stops = stopping.get(id);
      stopping.delete(id);
      if (!failed && stops !== undefined && subAgents.has(stops)) stoppedByAgent.add(stops);
    },
    /** Reads a `system/task_…` event about a sub-agent. Returns the sub-agent's id if it has started. */
    readEvent: (event: JsonObject): string | null => {
      const id = nameAt(event, 'task_id');
      if (id === null) return null;
      if (nameAt(event, 'subtype') === 'task_started') {
        if (nameAt(event, 'task_type') !== 'local_agent') return null;
        const { is_backgrounded } = event;
        const isInBackground = typeof is_backgrounded === 'boolean' ? is_backgrounded : null;
        const callId = nameAt(event, 'tool_use_id');
        remember(subAgents, id, { callId, isInBackground, end: null }, REMEMBERED);
        return id;
      }
      const subAgent = subAgents.get(id);
      const end = ENDS.get(nameAt(objectAt(event, 'patch') ?? event, 'status') ?? '');
      if (subAgent !== undefined && end !== undefined) {
        remember(subAgents, id, { ...subAgent, end }, REMEMBERED);
      }
      return null;
    },
    /** Reads from a `result` event how many sub-agents were stopped. */
    readReport: (event: JsonObject): void => {
      const killed = objectAt(objectAt(event, 'subagent_stats') ?? {}, 'killed');
      counted = killed === null ? null : (numberAt(killed, 'system') ?? 0);
    },
    working: (): number =>
      [...subAgents.values()].filter((subAgent) => {
        const hasAnswered = startOf(subAgent)?.hasAnswered ?? true;
        return subAgent.end === null && !(isAwaited(subAgent) && hasAnswered);
      }).length,
    /** Returns how many sub-agents were stopped before they had finished, but not by the agent. */
    stopped: (): number => {
      if (counted !== null) return Math.max(0, counted);
      return [...subAgents].filter(
        ([id, subAgent]) =>
          !stoppedByAgent.has(id) &&
          (subAgent.end === 'stopped' || (subAgent.end === null && !isAwaited(subAgent))),
      ).length;
    },
  };
}

/** All names that versions of `claude` use for the tool that starts a sub-agent. */
const STARTING_TOOLS: ReadonlySet<string> = new Set(['Task', 'Agent']);
/** All names for the tool that stops a sub-agent. Other tools that take its id, such as `TaskOutput`, only read. */
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
