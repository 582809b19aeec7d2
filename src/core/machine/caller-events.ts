import { judgePromise } from '../completion/promise.ts';
import { maskSecrets, preview } from '../secrets/secrets.ts';
import { postponed } from '../task/clock-gap.ts';
import {
  type Evidence,
  laterBy,
  msBetween,
  NOT_RUN_HERE,
  type TaskState,
  withError,
  withIteration,
} from '../task/task-state.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { askPerson, withAnswer } from './approval.ts';
import { type Decided, type Moment, publish } from './decision.ts';
import type { EventBody } from './events.ts';
import type { CallerEvent, IterationReport, LoopEvent } from './loop-event.ts';
import type { LoopState } from './loop-state.ts';
import { iteratedEvent, withReport } from './record-iteration.ts';

/*
 * The events of a task that a program works on itself, through the library. The program reports what it did;
 * ralph starts nothing and waits for nothing.
 *
 *   pending ──► running ◄──► paused_awaiting_approval
 *      │           │                  │
 *      └───────────┴──────────────────┴──► completed, failed, timeout, max_iterations_reached
 */

/** Whether the event comes from a program that works on the task itself. */
export function isByCaller(event: LoopEvent): event is CallerEvent {
  return event.kind.endsWith('-by-caller');
}

/** Handles an event of the calling program at any step, since the library has checked that the event makes sense. */
export function byCaller(state: LoopState, event: CallerEvent, moment: Moment): Decided {
  const { at } = event;
  const working: LoopState = {
    ...state,
    task: { ...state.task, status: 'running', updated_at: at },
  };
  switch (event.kind) {
    case 'started-by-caller': {
      const { task_prompt, max_iterations } = state.task;
      const prompt = oneLine(task_prompt, 500);
      return announcing(state, { event: 'task_started', prompt, max_iterations });
    }
    case 'reported-by-caller':
      return reported(working, event.report, at);
    case 'progressed-by-caller':
      return { state: withReport(working, event.report), decision: null };
    case 'paused-by-caller':
      return { state: working, decision: askPerson(working.task, event.request, moment) };
    case 'resumed-by-caller': {
      // The pause does not use up the task's time.
      const pausedMs = Math.max(0, msBetween(state.task.updated_at, at));
      const task = { ...postponed(working.task, pausedMs), paused_for_approval: false };
      const { approval, current_iteration: iteration, max_iterations } = task;
      return event.answer === null || approval === null
        ? announcing({ ...state, task }, { event: 'task_resumed', iteration, max_iterations })
        : withAnswer({ ...state, task }, approval, event.answer, at);
    }
    case 'ended-by-caller': {
      // If an earlier `ralph resume` left its process in the state as the driver, that process is dead and announces
      // nothing.
      const task = { ...working.task, paused_for_approval: false, driver: null };
      return { state: { ...state, task }, decision: { kind: 'end', ...event.ending } };
    }
  }
}

function announcing(state: LoopState, body: EventBody): Decided {
  return { state, announced: [publish(body)], decision: null };
}

/** Records and announces an iteration that the program reports and that ended at `at`. */
function reported(state: LoopState, report: IterationReport, at: string): Decided {
  const { task } = state;
  const number = task.current_iteration + 1;
  const startedAt = startOfIteration(task, report, at);
  const evidence = statedIn(task, report);
  const isGood = 'context' in report || report.result === 'success';
  const message = isGood ? '' : oneLine(maskSecrets(report.result), 500);
  const outcome = isGood ? { kind: 'answered' as const } : { kind: 'errored' as const, message };
  const record = {
    number,
    started_at: startedAt,
    duration_ms: Math.max(0, msBetween(startedAt, at)),
    outcome: outcome.kind,
    ...NOT_RUN_HERE,
    completed: evidence !== null,
    output_preview: preview('context' in report ? report.context : report.action, 200),
  };
  const numbered = { ...task, current_iteration: number, attempt: 1, evidence };
  const error = { at, iteration: number, attempt: 1, kind: 'reported', message };
  const counted = withIteration(isGood ? numbered : withError(numbered, error), record);
  const known = { ...state, task: counted };
  return announcing(known, { ...iteratedEvent(known, { record, outcome }), detail: message });
}

/** Returns when an iteration that ended at `at` began, from its reported duration or the previous iteration's end. */
export function startOfIteration(task: TaskState, report: IterationReport, at: string): string {
  if (!('context' in report)) return laterBy(at, -Math.round(report.durationSeconds * 1_000));
  const last = task.iterations.at(-1);
  return last === undefined ? task.started_at : laterBy(last.started_at, last.duration_ms);
}

/** Returns the evidence if a reported output states the promise (the text for "done"); otherwise null. */
function statedIn(task: TaskState, report: IterationReport): Evidence | null {
  if (!('context' in report) || task.completion_promise === null) return null;
  const verdict = judgePromise(report.context, task.completion_promise, task.match, []);
  return verdict.kind === 'stated' ? { kind: 'promise', detail: maskSecrets(verdict.line) } : null;
}
