import { describe, expect, test } from 'vitest';
import { makeBriefing, type Need } from '../../../src/core/task/briefing.ts';
import type { JournalEntry } from '../../../src/core/task/briefing-sources.ts';
import { laterBy, type Status } from '../../../src/core/task/task-state.ts';
import { briefIteration, briefingSources, foundRun } from '../../helpers/brief-task.ts';
import { START } from '../../helpers/new-task.ts';

const at = (minutes: number): string => laterBy(START, minutes * 60_000);
const told = (taskId: string, number: number, minutes = number): JournalEntry => ({
  kind: 'iteration',
  taskId,
  iteration: briefIteration(number, minutes),
});
const nameOf = (need: Need): string =>
  need.kind === 'task'
    ? need.task.shown.taskId
    : need.kind === 'note'
      ? `note ${need.note.taskId}`
      : `request ${need.request.taskId}`;

describe('the groups', () => {
  test.for([
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['timeout', 'failed'],
    ['max_iterations_reached', 'failed'],
    ['stalled', 'failed'],
    ['budget_spent', 'failed'],
    ['usage_limited', 'failed'],
    ['paused', 'waiting'],
    ['paused_awaiting_approval', 'waiting'],
    ['stopped', 'waiting'],
  ] as const)('%s is %s', ([status, group]) => {
    const { tasks, totals } = makeBriefing(
      briefingSources({ runs: [foundRun('t', { status, finished_at: at(5) })] }),
    );
    expect(tasks.map((task) => task.group)).toEqual([group]);
    expect(totals[group]).toBe(1);
  });

  test('a task that says it runs but has no driver waits; a task of the library runs', () => {
    const runs = [
      foundRun('dead', { status: 'running' }),
      foundRun('ours', { status: 'running', kept_by: 'library' }),
    ];
    const { tasks } = makeBriefing(briefingSources({ runs }));
    expect(Object.fromEntries(tasks.map(({ shown, group }) => [shown.taskId, group]))).toEqual({
      dead: 'waiting',
      ours: 'running',
    });
  });
});

describe('what happened in the span', () => {
  test('comes from the journal, and from the state if the journal has a gap', () => {
    const run = foundRun('t', {
      status: 'stalled',
      iterations: [briefIteration(2), briefIteration(3)],
    });
    const [task] = makeBriefing(
      briefingSources({ runs: [run], journal: [told('t', 1), told('t', 2)] }),
    ).tasks;
    expect(task?.iterations.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(task?.workMs).toBe(180_000);
    expect(task?.costUsd).toBeCloseTo(0.3);
  });

  test('leaves out what ended before it', () => {
    const run = foundRun('t', { iterations: [briefIteration(1), briefIteration(2)] });
    const { tasks, totals } = makeBriefing(briefingSources({ runs: [run], since: at(2.5) }));
    expect(tasks[0]?.iterations.map(({ number }) => number)).toEqual([2]);
    expect(totals.iterations).toBe(1);
  });

  test('belongs to the run of a task that had begun by then', () => {
    const early = foundRun('t', { status: 'stalled', finished_at: at(10) }, true);
    const late = foundRun('t', { status: 'completed', started_at: at(20), finished_at: at(30) });
    const journal = [told('t', 1, 1), told('t', 2, 5), told('t', 1, 21)];
    const { tasks } = makeBriefing(briefingSources({ runs: [early, late], journal }));
    expect(tasks.map(({ iterations }) => iterations.length)).toEqual([1, 2]);
  });

  test('leaves out tasks that ended before it, but no waiting ones', () => {
    const old = { started_at: at(0), updated_at: at(1), finished_at: at(1) };
    const runs = (['failed', 'completed', 'paused', 'stopped'] as const).map((status) =>
      foundRun(status, { ...old, status }),
    );
    const { tasks } = makeBriefing(briefingSources({ runs, since: at(60) }));
    expect(tasks.map(({ shown }) => shown.taskId).sort()).toEqual(['paused', 'stopped']);
  });
});

describe('what needs a person', () => {
  const run = (taskId: string, status: Status) => foundRun(taskId, { status, finished_at: at(5) });
  const note = (taskId: string) => ({ file: `/n/${taskId}`, reason: 'FAILED', taskId, at: at(5) });

  test('comes in this order: approvals, failures, used-up limits, waiting tasks, notes', () => {
    const { needs } = makeBriefing(
      briefingSources({
        runs: [
          run('held', 'paused'),
          run('done', 'completed'),
          run('out', 'max_iterations_reached'),
          run('broken', 'failed'),
          run('asks', 'paused_awaiting_approval'),
        ],
        notes: [note('gone'), note('broken')],
        requests: [
          { file: '/p/a', taskId: 'asks', at: at(1) },
          { file: '/p/b', taskId: null, at: at(1) },
        ],
      }),
    );
    expect(needs.map(nameOf)).toEqual([
      'asks',
      'request null',
      'broken',
      'out',
      'held',
      'note gone',
    ]);
  });

  test('does not include tasks in the history or tasks that continue by themselves', () => {
    const runs = [
      foundRun('old', { status: 'failed', finished_at: at(5) }, true),
      foundRun('runs', { status: 'running', kept_by: 'library' }),
      run('done', 'completed'),
    ];
    expect(makeBriefing(briefingSources({ runs })).needs).toEqual([]);
  });

  test('includes a state that cannot be read', () => {
    const { shown } = foundRun('t');
    const broken = {
      task: null,
      completion: () => '',
      shown: { ...shown, state: 'corrupt' as const, status: null },
    };
    expect(makeBriefing(briefingSources({ runs: [broken] })).needs).toHaveLength(1);
  });
});
