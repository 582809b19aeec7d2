import type { RalphEvent } from '../../core/machine/events.ts';
import { isEnding } from '../../report/ending-lines.ts';
import type { RunView } from '../../report/terminal/view.ts';

/** The most events that wait while the fleet is away; beyond that, the oldest are dropped. */
const WAITING_AT_MOST = 10_000;

/** What a worker's run of a task (a leg) reports: lines that the worker prints, and events for the fleet. */
export interface LegEvents {
  readonly view: RunView;
  /**
   * Returns the event of the task's end. It is written only with the end itself: a worker that dies before that leaves
   * the task open.
   */
  ending(): readonly RalphEvent[];
  /** Marks events as written together with the task's state, so that they are not written once more. */
  written(events: readonly RalphEvent[]): void;
  /** Writes the waiting events, after the previous call has ended. If that fails, they wait for the next call. */
  flush(write: (events: readonly RalphEvent[]) => Promise<boolean>): Promise<void>;
}

/** Creates the events of one leg. `line` returns the line of an event, or null if it has none. */
export function createLegEvents(
  line: (event: RalphEvent) => string | null,
  say: (line: string) => void,
): LegEvents {
  const isWritten = new WeakSet<RalphEvent>();
  let waiting: RalphEvent[] = [];
  let ending: readonly RalphEvent[] = [];
  let lastFlush: Promise<void> = Promise.resolve();
  const flushNow = async (write: Parameters<LegEvents['flush']>[0]): Promise<void> => {
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    try {
      await write(events);
    } catch (error) {
      waiting = [...events, ...waiting].slice(-WAITING_AT_MOST);
      throw error;
    }
  };
  return {
    view: {
      // Events of an agent's activity are too frequent for a table of the fleet.
      showsActivity: false,
      showsText: false,
      event(event) {
        const told = withoutPlaces(event);
        const text = line(told);
        if (text !== null) text.split('\n').forEach(say);
        if (isWritten.has(event) || event.event === 'agent_activity') return;
        if (isEnding(told)) {
          ending = [told];
          return;
        }
        waiting.push(event);
        if (waiting.length > WAITING_AT_MOST) waiting = waiting.slice(-WAITING_AT_MOST);
      },
      notice: say,
      agentText() {},
      close() {},
    },
    ending: () => ending,
    written(events) {
      for (const event of events) isWritten.add(event);
    },
    flush(write) {
      // Two writes at the same time could change the order of the events.
      lastFlush = lastFlush.catch(() => undefined).then(() => flushNow(write));
      return lastFlush;
    },
  };
}

/** Removes the paths from the event of an end: they lead into the leg's folder, which only this machine has. */
function withoutPlaces(event: RalphEvent): RalphEvent {
  return isEnding(event) ? { ...event, note: null, state_file: '', log_dir: '' } : event;
}
