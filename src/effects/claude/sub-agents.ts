import { remember } from '../files/bounded-map.ts';
import { type JsonObject, numberAt, objectAt } from '../files/json-fields.ts';
import { nameAt } from './stream-events.ts';

const REMEMBERED = 1_000;

/** A sub-agent whose beginning was reported. */
interface SubAgent {
  /** The call that started it; null where it was not said. */
  readonly callId: string | null;
  /** Whether the agent that called did not wait for it; null where the report does not say. */
  readonly isInBackground: boolean | null;
  readonly end: 'finished' | 'stopped' | null;
}

/** A call of a tool. */
interface Call {
  readonly isInBackground: boolean;
  /** The sub-agent that it is to stop; null if it is to stop none. */
  readonly stops: string | null;
}

interface SubAgentLedger {
  /** The agent called a tool: it may start a sub-agent, or stop one by its own choice. */
  readonly called: (id: string | null, tool: string, input: JsonObject | null) => void;
  /** A tool answered; a call that failed has stopped nothing. */
  readonly answered: (id: string, failed: boolean) => void;
  /** A `system/task_started`. */
  readonly started: (event: JsonObject) => void;
  /** A `system/task_notification`, or a `system/task_updated`. */
  readonly changed: (event: JsonObject) => void;
  /** A `result`. */
  readonly reported: (event: JsonObject) => void;
  /** How many sub-agents the system has stopped before they had finished. */
  readonly stopped: () => number;
}

/**
 * Tells which sub-agents were stopped by the system. Newer programs count them in the result. Older ones
 * report that one has stopped, or never again report it; plain commands are reported in the same way
 * (`local_bash`), and are none.
 */
export function createSubAgentLedger(): SubAgentLedger {
  const calls = new Map<string, Call>();
  /** Stopped by the agent itself: that is its own choice. */
  const stoppedByAgent = new Set<string>();
  const subAgents = new Map<string, SubAgent>();
  let counted: number | null = null;

  /** Who waits for a sub-agent has its answer: older programs do not always report its end. */
  const isAwaited = ({ isInBackground, callId }: SubAgent): boolean => {
    const call = callId === null ? undefined : calls.get(callId);
    return !(isInBackground ?? call?.isInBackground ?? true);
  };

  return {
    called: (id, tool, input) => {
      // Nearly all calls are others, and an agent makes many thousands of them.
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

/** By their names over time. */
const STARTING_TOOLS: ReadonlySet<string> = new Set(['Task', 'Agent']);
/** By their names over time. Other tools name a sub-agent only to look at it (`TaskOutput`). */
const STOPPING_TOOLS: ReadonlySet<string> = new Set(['TaskStop', 'KillShell', 'KillBash']);

const ENDS: ReadonlyMap<string, SubAgent['end']> = new Map([
  ['completed', 'finished'],
  ['failed', 'finished'],
  ['stopped', 'stopped'],
  ['killed', 'stopped'],
]);
