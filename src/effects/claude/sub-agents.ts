import { remember } from '../files/bounded-map.ts';
import { type JsonObject, numberAt, objectAt } from '../files/json-fields.ts';
import { nameAt } from './stream-events.ts';

const REMEMBERED = 1_000;

/** A sub-agent whose start was reported. */
interface SubAgent {
  /** The call that started it; null if not reported. */
  readonly callId: string | null;
  /** Whether the calling agent does not wait for it; null if not reported. */
  readonly isInBackground: boolean | null;
  readonly end: 'finished' | 'stopped' | null;
}

/** A call of a tool. */
interface Call {
  readonly isInBackground: boolean;
  /** The sub-agent that the call stops; null if it stops none. */
  readonly stops: string | null;
}

interface SubAgentLedger {
  /** The agent called a tool, which may start or stop a sub-agent. */
  readonly called: (id: string | null, tool: string, input: JsonObject | null) => void;
  /** A tool answered; a failed call has stopped nothing. */
  readonly answered: (id: string, failed: boolean) => void;
  /** Takes a `system/task_started` event. */
  readonly started: (event: JsonObject) => void;
  /** Takes a `system/task_notification` or `system/task_updated` event. */
  readonly changed: (event: JsonObject) => void;
  /** Takes a `result` event. */
  readonly reported: (event: JsonObject) => void;
  /** Returns how many sub-agents the system stopped before they had finished. */
  readonly stopped: () => number;
}

/**
 * Counts the sub-agents that the system stopped. Newer versions of claude count them in the result. Older
 * ones report each stop, or never report the sub-agent again; they report plain commands (`local_bash`)
 * in the same way, which do not count.
 */
export function createSubAgentLedger(): SubAgentLedger {
  const calls = new Map<string, Call>();
  /** Sub-agents that the agent itself chose to stop; they do not count. */
  const stoppedByAgent = new Set<string>();
  const subAgents = new Map<string, SubAgent>();
  let counted: number | null = null;

  /** If the caller waits for it, it has the answer, even if an older claude does not report the end. */
  const isAwaited = ({ isInBackground, callId }: SubAgent): boolean => {
    const call = callId === null ? undefined : calls.get(callId);
    return !(isInBackground ?? call?.isInBackground ?? true);
  };

  return {
    called: (id, tool, input) => {
      // An agent makes many thousands of calls; nearly all are of other tools and need not be remembered.
      if (
        id === null ||
        input === null ||
        !(STARTING_TOOLS.has(tool) || STOPPING_TOOLS.has(tool))
      ) {
        return;
      }
      const target = nameAt(input, 'task_id') ?? nameAt(input, 'shell_id');
      const stops = STOPPING_TOOLS.has(tool) ? target : null;
      remember(calls, id, { isInBackground: input.run_in_background === true, stops }, REMEMBERED);
    },
    answered: (id, failed) => {
      const target = calls.get(id)?.stops ?? null;
      if (!failed && target !== null && subAgents.has(target)) stoppedByAgent.add(target);
    },
    started: (event) => {
      const id = nameAt(event, 'task_id');
      if (id === null || nameAt(event, 'task_type') !== 'local_agent') return;
      const { is_backgrounded } = event;
      const isInBackground = typeof is_backgrounded === 'boolean' ? is_backgrounded : null;
      const callId = nameAt(event, 'tool_use_id');
      remember(subAgents, id, { callId, isInBackground, end: null }, REMEMBERED);
    },
    changed: (event) => {
      const id = nameAt(event, 'task_id');
      const subAgent = id === null ? undefined : subAgents.get(id);
      const status = nameAt(objectAt(event, 'patch') ?? event, 'status');
      const end = status === null ? undefined : ENDS.get(status);
      if (id === null || subAgent === undefined || end === undefined) return;
      remember(subAgents, id, { ...subAgent, end }, REMEMBERED);
    },
    reported: (event) => {
      const stats = objectAt(event, 'subagent_stats');
      const killed = stats === null ? null : objectAt(stats, 'killed');
      counted = killed === null ? null : (numberAt(killed, 'system') ?? 0);
    },
    stopped: () => {
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

const ENDS: ReadonlyMap<string, SubAgent['end']> = new Map([
  ['completed', 'finished'],
  ['failed', 'finished'],
  ['stopped', 'stopped'],
  ['killed', 'stopped'],
]);
