import type {
  BriefIteration,
  BriefingSources,
  FoundRun,
} from '../../src/core/task/briefing-sources.ts';
import { showTask } from '../../src/core/task/shown-task.ts';
import { laterBy, type TaskState } from '../../src/core/task/task-state.ts';
import { newTask, START } from './new-task.ts';

/** A day after the tests' tasks start. */
const REPORTED_AT = laterBy(START, 24 * 3_600_000);

/** A task as a briefing finds it. */
export function foundRun(
  taskId: string,
  changes: Partial<TaskState> = {},
  archived = false,
): FoundRun {
  const task = { ...newTask(), task_id: taskId, driver: null, ...changes };
  const places = {
    taskId,
    stateFile: `/vault/.ralph_state/${taskId}.json`,
    logDir: `/vault/.ralph_state/${taskId}`,
    archived,
    isOwn: true,
  };
  const here = { at: REPORTED_AT, host: 'h', bootId: 'b', pidNamespace: '', isAlive: () => false };
  const completion = () => 'the agent states TASK_COMPLETE';
  return { task, shown: showTask(task, places, here), completion };
}

/** An iteration of one minute and ten cents that began so many minutes after the start. */
export function briefIteration(
  number: number,
  minutes = number,
  changes: Partial<BriefIteration> = {},
): BriefIteration {
  return {
    number,
    started_at: laterBy(START, minutes * 60_000),
    duration_ms: 60_000,
    outcome: 'answered',
    exit_code: 0,
    completed: false,
    near_miss: false,
    cost_usd: 0.1,
    input_tokens: 0,
    output_tokens: 0,
    turns: 1,
    tools: 0,
    refused: [],
    files_changed: null,
    output_preview: `Part ${number}.`,
    detail: '',
    ...changes,
  };
}

export function briefingSources(changes: Partial<BriefingSources> = {}): BriefingSources {
  return {
    since: START,
    until: REPORTED_AT,
    vault: '/vault',
    stateDir: '/vault/.ralph_state',
    keyFlag: null,
    runs: [],
    journal: [],
    notes: [],
    requests: [],
    day: null,
    ...changes,
  };
}
