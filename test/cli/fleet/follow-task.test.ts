import { expect, test } from 'vitest';
import type { RalphEvent } from '../../../src/core/machine/events.ts';
import { NOTHING_IN_GIT } from '../../../src/core/task/task-state.ts';
import { FleetAwayError } from '../../../src/errors.ts';
import { followTask } from '../../../src/fleet/cli/submit/follow-task.ts';
import type { FleetTaskFacts } from '../../../src/fleet/core/fleet-task.ts';
import { specWith } from '../../helpers/fleet-specs.ts';

const OPEN: FleetTaskFacts = {
  ...{ spec: specWith(), status: 'running', exit_reason: null, exit_code: null, warning: null },
  ...{
    fence: 1,
    claims_without_iteration: 1,
    parks_without_iteration: 0,
    hosts: [],
    worker: 'w',
    host: 'h',
    parked: null,
  },
  ...{ paused: false, not_before: null, iterations: 0, cost_usd: 0, base_commit: null },
  ...{ branch_commit: null, result_commit: null, result_ref: null, note: null },
  ...{ created_at: '2026-11-23T18:00:00Z', updated_at: '2026-11-23T18:00:00Z', ended_at: null },
};
const ENDED: FleetTaskFacts = {
  ...{ ...OPEN, status: 'stalled', exit_reason: 'no-progress', exit_code: 5 },
  ended_at: '2026-11-23T19:00:00Z',
};

function started(iteration: number): RalphEvent {
  return {
    ...{ event: 'iteration_started', iteration, max_iterations: 5, attempt: 1 },
  } as RalphEvent;
}

/** A fleet that answers `task` with these in turn, and the last one for ever. */
function fleetOf(answers: readonly (FleetTaskFacts | 'away' | null)[]) {
  let asked = -1;
  const events = [started(1), started(2)].map((event, index) => ({ number: index + 10, event }));
  return {
    asked: () => asked + 1,
    async task() {
      asked = Math.min(asked + 1, answers.length - 1);
      const answer = answers[asked] ?? null;
      if (answer === 'away') throw new FleetAwayError('fleet h/d', 'no route');
      return answer;
    },
    // One event with the first answer, the other one with the next.
    async events(_: string, since: number) {
      return events.slice(0, asked + 1).filter(({ number }) => number > since);
    },
  };
}

async function follow(answers: Parameters<typeof fleetOf>[0]) {
  const lines: string[] = [];
  const stop = new AbortController().signal;
  const exitCode = await followTask(fleetOf(answers), 't', {
    ...{ say: (line: string) => void lines.push(line), stop, pollMs: 0 },
  });
  return { exitCode, lines };
}

const LINES = ['iteration 1/5 started', 'iteration 2/5 started'];

test('shows each event once, and ends with the exit code of the task', async () => {
  expect(await follow([OPEN, OPEN, ENDED])).toEqual({ exitCode: 5, lines: LINES });
});

test('ends with the commands that say more and fetch the result, and with no folder of the worker', async () => {
  const event = {
    ...{ event: 'task_stalled', status: 'stalled', exit_reason: 'no-progress', exit_code: 5 },
    ...{ iterations_used: 2, usage: { cost_usd: 0 }, evidence: null, note: null },
    changes: { commits: 0, files: 1, lines: null },
    ...{ git: {}, log_dir: '/home/worker/legs/t.1', state_file: '', task_id: 't' },
  } as unknown as RalphEvent;
  const lines: string[] = [];
  const stop = new AbortController().signal;
  const result = { result_commit: '0123456789abcdef', result_ref: 'refs/heads/ralph/t' };
  const fleet = {
    task: async () => ({ ...ENDED, ...result }),
    events: async () => [{ number: 1, event }],
  };
  await followTask(fleet, 't', { say: (line) => void lines.push(line), stop, pollMs: 0 });
  expect(lines.join('\n')).not.toContain('/home/worker');
  // The fleet commits what the agent has left.
  expect(lines.join('\n')).toMatch(/^changed: 1 file$/m);
  expect(lines.slice(-3)).toEqual([
    'status: ralph status t',
    'logs: ralph logs t',
    `result: the branch ralph/t at 0123456789ab: git fetch ${OPEN.spec.repo} ralph/t`,
  ]);
});

test('shows the events of a task that has ended already', async () => {
  expect(await follow([ENDED])).toEqual({ exitCode: 5, lines: LINES.slice(0, 1) });
});

test('follows it through parks and approvals', async () => {
  const parked = { kind: 'wait', until: '2026-11-23T20:00:00Z', account: true } as const;
  const asking = { kind: 'approval', until: '2026-11-23T20:00:00Z' } as const;
  const { exitCode } = await follow([
    { ...OPEN, worker: null, host: null, parked },
    { ...OPEN, status: 'paused_awaiting_approval', parked: asking },
    ENDED,
  ]);
  expect(exitCode).toBe(5);
});

test('following ends with 6 once a person has paused the task, since nobody goes on with it', async () => {
  const { exitCode } = await follow([OPEN, { ...OPEN, status: 'paused', paused: true }]);
  expect(exitCode).toBe(6);
});

test('following goes on through an outage, which is reported once', async () => {
  const { exitCode, lines } = await follow([OPEN, 'away', 'away', OPEN, ENDED]);
  expect(exitCode).toBe(5);
  expect(lines).toEqual([
    LINES[0],
    'fleet h/d cannot be reached (no route). The task continues; trying again.',
    LINES[1],
    'The fleet is back.',
  ]);
});

test('the exit code follows from the ending if no worker stored one', async () => {
  expect((await follow([{ ...ENDED, exit_code: null }])).exitCode).toBe(5);
});

test('a task that is removed meanwhile', async () => {
  await expect(follow([OPEN, null])).rejects.toMatchObject({
    ...{ exitCode: 1, message: "Task 't' is not in the fleet any more." },
  });
});

test('a stop ends the following at once', async () => {
  const controller = new AbortController();
  const fleet = fleetOf([OPEN]);
  const following = followTask(fleet, 't', {
    ...{ say: () => controller.abort(), stop: controller.signal, pollMs: 3_600_000 },
  });
  expect(await following).toBeNull();
  expect(fleet.asked()).toBe(1);
});

test('names no folder of the machine on which the task ran', async () => {
  const event = {
    ...{
      event: 'task_stalled',
      task_id: 't',
      status: 'stalled',
      exit_reason: 'stalled:no-progress',
    },
    ...{ exit_code: 5, iterations_used: 2, usage: { cost_usd: 0 }, evidence: null, changes: null },
    git: NOTHING_IN_GIT,
    ...{ note: '/srv/legs/t.1/Needs_Action/RALPH_STALLED_t.md', log_dir: '/srv/legs/t.1/state/t' },
  } as RalphEvent;
  const lines: string[] = [];
  const fleet = { task: async () => ENDED, events: async () => [{ number: 1, event }] };
  const say = (line: string): void => void lines.push(line);
  await followTask(fleet, 't', { say, stop: new AbortController().signal });
  expect(lines.join('\n')).toMatch(/^not completed: /);
  expect(lines.join('\n')).not.toContain('/srv');
});
