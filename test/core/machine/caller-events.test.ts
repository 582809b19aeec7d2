import { expect, test } from 'vitest';
import type { CallerEvent } from '../../../src/core/machine/loop-event.ts';
import { initialState, transition } from '../../../src/core/machine/transition.ts';
import {
  hasUnannouncedEnding,
  laterBy,
  type TaskState,
} from '../../../src/core/task/task-state.ts';
import { A_DAY_MS } from '../../helpers/loop-in-hand.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';
import { newTask, START } from '../../helpers/new-task.ts';

// A task that a program works on itself. What the library makes of it is tested in test/service.

const HOUR_MS = 3_600_000;
const AT = laterBy(START, HOUR_MS);
const TASK: TaskState = newTask(loopPolicy(), HOUR_MS);
const REQUEST = { id: 'deploy', what: 'deploy it', file: null };
const FILE = 'APPROVAL_task-1_deploy.md';

/** What comes of the events, one after another. */
function after(task: TaskState, ...events: CallerEvent[]) {
  let [kept, actions] = [task, [] as readonly string[]];
  for (const event of events) {
    const next = transition(initialState(kept), event, loopPolicy());
    kept = next.state.task;
    actions = next.actions.map((each) => (each.kind === 'publish' ? each.body.event : each.kind));
  }
  return { task: kept, actions };
}

test.for<[name: string, event: CallerEvent, status: string, actions: readonly string[]]>([
  ['started', { kind: 'started-by-caller', at: AT }, 'pending', ['task_started']],
  [
    'reported',
    { kind: 'reported-by-caller', at: AT, report: { context: 'Half of it.' } },
    'running',
    ['task_iterated'],
  ],
  [
    'progressed',
    { kind: 'progressed-by-caller', at: AT, report: { done: 1, total: 2, step: '' } },
    'running',
    [],
  ],
  [
    'paused',
    { kind: 'paused-by-caller', at: AT, request: REQUEST },
    'paused_awaiting_approval',
    ['request-approval'],
  ],
  [
    'resumed without a request',
    { kind: 'resumed-by-caller', at: AT, answer: null },
    'running',
    ['task_resumed'],
  ],
  [
    'ended',
    {
      kind: 'ended-by-caller',
      at: AT,
      ending: { status: 'failed', exitReason: 'failed:reported' },
    },
    'failed',
    ['stop'],
  ],
])('%s: nothing is started', ([, event, status, actions]) => {
  const turn = after(TASK, event);
  expect(turn.task.status).toBe(status);
  expect(turn.actions).toEqual(actions);
});

test('a program asks for an approval as the loop does', () => {
  const { task } = after(TASK, { kind: 'paused-by-caller', at: AT, request: REQUEST });
  const expires_at = laterBy(AT, A_DAY_MS);
  expect(task.approval).toMatchObject({ id: 'deploy', file: FILE, by_agent: false, expires_at });
});

test('a pause does not use up the time, and its answer is recorded', () => {
  const resumedAt = laterBy(AT, 5 * HOUR_MS);
  const answer = { kind: 'approved' as const, file: `Approved/${FILE}`, reason: null };
  const { task, actions } = after(
    TASK,
    { kind: 'paused-by-caller', at: AT, request: REQUEST },
    { kind: 'resumed-by-caller', at: resumedAt, answer },
  );
  expect(actions).toEqual(['task_resumed']);
  expect(task).toMatchObject({
    paused_for_approval: false,
    timeout_at: laterBy(TASK.timeout_at, 5 * HOUR_MS),
    updated_at: resumedAt,
    approval: { decision: 'approved', answered_at: resumedAt, answer_file: answer.file },
  });
});

test('a task that ends while it is paused no longer waits for an answer', () => {
  const { task } = after(
    TASK,
    { kind: 'paused-by-caller', at: AT, request: REQUEST },
    { kind: 'ended-by-caller', at: AT, ending: { status: 'timeout', exitReason: 'timeout' } },
  );
  expect(task).toMatchObject({ status: 'timeout', paused_for_approval: false, finished_at: AT });
});

test('an ending needs no announcement by a driver that worked on the task before', () => {
  const ending = { status: 'failed', exitReason: 'failed:reported' } as const;
  const { task } = after(TASK, { kind: 'ended-by-caller', at: AT, ending });
  expect(hasUnannouncedEnding(task)).toBe(false);
});

test('a failed iteration is counted, with its error', () => {
  const report = { action: 'Draft it', result: 'the template\nis gone', durationSeconds: 90 };
  const { state, actions } = transition(
    initialState(TASK),
    { kind: 'reported-by-caller', at: AT, report },
    loopPolicy(),
  );
  const [told] = actions.map((action) => (action.kind === 'publish' ? action.body : null));
  expect(told).toMatchObject({
    iteration: 1,
    started_at: laterBy(AT, -90_000),
    duration_ms: 90_000,
    outcome: 'errored',
    output_preview: 'Draft it',
    detail: 'the template is gone',
  });
  expect(state.task).toMatchObject({
    current_iteration: 1,
    metrics: { iterations: 1 },
    errors: [{ iteration: 1, kind: 'reported', message: 'the template is gone' }],
  });
});
