import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_AGENT, isAgentName } from '../../../core/agent/agents/agents.ts';
import { isEnded } from '../../../core/task/endings.ts';
import { FleetAwayError, FleetError } from '../../../errors.ts';
import { EXIT_FAILED, exitCodeFor } from '../../../exit-codes.ts';
import { commandHere } from '../../../printed-command.ts';
import { isEnding } from '../../../report/ending-lines.ts';
import { eventLine } from '../../../report/event-line.ts';
import type { FleetTaskFacts } from '../../core/fleet-task.ts';
import { resultText } from '../../report/fleet-words.ts';
import type { Fleet } from './planned-task.ts';

/** The means to follow a task. */
export interface Following {
  readonly say: (line: string) => void;
  /** Aborts to end the following; the task continues. */
  readonly stop: AbortSignal;
  readonly pollMs?: number;
}

const POLL_MS = 1_000;
/** While the database cannot be reached, the wait between two reads doubles up to this. */
const LONGEST_POLL_MS = 30_000;

/**
 * Prints the events and the result of a task, even while no worker has it or the database is away. Resolves to
 * the task's exit code, or to null if `stop` aborts first. Rejects with a `FleetError` if the task is removed
 * meanwhile.
 */
export async function followTask(
  fleet: Pick<Fleet, 'task' | 'events'>,
  taskId: string,
  { say, stop, pollMs = POLL_MS }: Following,
): Promise<number | null> {
  let since = 0;
  let waitMs = pollMs;
  let isAway = false;
  while (!stop.aborted) {
    try {
      // The task is read first: if it has ended by then, the events that are read next are complete.
      const facts = await fleet.task(taskId);
      if (facts === null) {
        throw new FleetError(`Task '${taskId}' is not in the fleet any more.`, EXIT_FAILED);
      }
      for (const { number, event } of await fleet.events(taskId, since)) {
        since = Math.max(since, number);
        const line = eventLine(event, {
          agent: agentOf(facts),
          asked: facts.spec.prompt,
          task: null,
        });
        if (line !== null) say(line);
        if (!isEnding(event)) continue;
        say(`status: ${commandHere('status', taskId)}`);
        say(`logs: ${commandHere('logs', taskId)}`);
      }
      const exitCode = exitCodeOf(facts);
      const result = resultText(facts);
      if (exitCode !== null && result !== null) say(`result: ${result}`);
      if (exitCode !== null) return exitCode;
      if (isAway) say('The fleet is back.');
      isAway = false;
      waitMs = pollMs;
    } catch (error) {
      if (!(error instanceof FleetAwayError)) throw error;
      if (!isAway) say(`${error.message} The task continues; trying again.`);
      isAway = true;
      waitMs = Math.min(waitMs * 2, LONGEST_POLL_MS);
    }
    await pause(waitMs, undefined, { signal: stop }).catch(() => {});
  }
  return null;
}

/** Returns the exit code of a task that has ended or is paused; null for any other task. */
function exitCodeOf(facts: FleetTaskFacts): number | null {
  const { status, exit_reason, exit_code, ended_at, paused } = facts;
  if (paused) return exitCodeFor('paused', 'paused');
  if (ended_at === null || !isEnded(status)) return null;
  return exit_code ?? exitCodeFor(status, exit_reason ?? '');
}

function agentOf({ spec }: FleetTaskFacts) {
  const { value } = spec.settings.agent ?? {};
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && isAgentName(first) ? first : DEFAULT_AGENT;
}
