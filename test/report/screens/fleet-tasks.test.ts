import { describe, expect, test } from 'vitest';
import type { FleetTaskFacts } from '../../../src/fleet/core/fleet-task.ts';
import type { FleetWarning } from '../../../src/fleet/core/fleet-warnings.ts';
import { fleetTaskTable, shownFleetTask } from '../../../src/fleet/report/fleet-tasks.ts';
import { fleetWarningText, requestText } from '../../../src/fleet/report/fleet-words.ts';
import { whatIsAsked } from '../../../src/fleet/report/what-is-asked.ts';
import { columnsOf } from '../../../src/report/columns.ts';
import { approvalText } from '../../../src/report/screens/approvals.ts';
import { fleetTask, minutesAgo, NOW } from '../../helpers/fleet-facts.ts';

const UNTIL = '2026-01-05T13:00:00.000Z';

const table = (
  tasks: readonly FleetTaskFacts[],
  width = 100,
  warnings: readonly FleetWarning[] = [],
): string =>
  fleetTaskTable(
    'fleet db/fleet',
    tasks.map((task) => shownFleetTask(task, NOW, warnings)),
    { width, paint: null },
  );

test('below the list stands what keeps tasks from going on, each thing once, and no more than five', () => {
  const warning = (at: number) => ({ kind: 'parked-again', taskId: `t${at}`, parks: 3 }) as const;
  const tasks = [fleetTask(), fleetTask({}, { task_id: 'other' })];
  const text = table(tasks, 200, [warning(0), warning(1)]);
  expect(text.match(/^warning: .*$/gm)).toEqual([
    'warning: t0 was parked 3 times without a finished iteration; to see what it waits for: ralph status t0',
    'warning: t1 was parked 3 times without a finished iteration; to see what it waits for: ralph status t1',
  ]);
  const seven = table(
    tasks,
    200,
    Array.from({ length: 7 }, (_, at) => warning(at)),
  );
  expect(seven.match(/^warning: /gm)).toHaveLength(5);
  expect(seven).toMatch(/\n2 more warnings: ralph fleet status\n$/);
});

test('a fleet without tasks says how to queue one', () => {
  expect(table([])).toBe('fleet db/fleet\nno tasks; ralph submit queues one\n');
});

describe('below a task stands', () => {
  test.for<[Partial<FleetTaskFacts>, string | null]>([
    [{}, 'waits for a worker of the queue default'],
    [{ paused: true }, 'waits for ralph resume, since it was paused'],
    [{ not_before: UNTIL }, 'waits until 2026-01-05T13:00:00Z, as it was submitted'],
    [{ not_before: minutesAgo(1) }, 'waits for a worker of the queue default'],
    [
      { parked: { kind: 'wait', until: UNTIL, account: false } },
      'waits until 2026-01-05T13:00:00Z',
    ],
    [
      { parked: { kind: 'wait', until: UNTIL, account: true } },
      'waits for the usage limit of the account default, until 2026-01-05T13:00:00Z',
    ],
    [
      { parked: { kind: 'approval', until: UNTIL } },
      'waits for an approval, until 2026-01-05T13:00:00Z',
    ],
    [
      { parked: { kind: 'handover', why: 'the disk is full' } },
      'waits for another worker: the disk is full',
    ],
    [{ worker: 'w1', host: 'host1', status: 'running' }, null],
    [{ status: 'failed', exit_reason: 'failed:policy', ended_at: NOW }, 'failed:policy'],
    [{ status: 'timeout', exit_reason: 'timeout', ended_at: NOW }, null],
    [
      {
        status: 'completed',
        exit_reason: 'completed',
        ended_at: NOW,
        result_ref: 'refs/ralph/x/result',
        warning: 'moved',
      },
      'refs/ralph/x/result · warning: moved',
    ],
  ])('for %o: %s', ([changes, words]) => {
    const [, , , below] = table([fleetTask(changes)]).split('\n');
    expect(below).toBe(words === null ? '' : `  ${words}`);
  });
});

test.for([20, 30, 40, 60, 80, 120])('the list fits %i columns', (width) => {
  const tasks = [
    fleetTask({ worker: '漢字'.repeat(30), host: 'h'.repeat(80), status: 'running' }),
    fleetTask(
      { parked: { kind: 'handover', why: 'x '.repeat(300) } },
      { task_id: 'y'.repeat(128) },
    ),
  ];
  for (const line of table(tasks, width).split('\n')) {
    expect(columnsOf(line)).toBeLessThanOrEqual(width);
  }
});

test('texts from the database cannot steer the terminal', () => {
  const evil = 'x\u001b[2J\u202ey\nz';
  const texts = [
    table([
      fleetTask(
        { parked: { kind: 'handover', why: evil }, warning: evil },
        { task_id: evil, account: evil, queue: evil },
      ),
      fleetTask({ worker: evil, host: evil }),
    ]),
    approvalText(
      {
        id: evil,
        taskId: evil,
        what: whatIsAsked(evil),
        file: evil,
        askedAt: NOW,
        expiresAt: UNTIL,
      },
      NOW,
    ),
    requestText('stop', evil, { kind: 'left', worker: evil, host: evil }, 'ralph resume x'),
    fleetWarningText({ kind: 'failed', taskIds: [evil] }),
  ];
  for (const text of texts) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(text).not.toMatch(/^z/m);
  }
});

test.for([
  [
    { kind: 'unknown-schema', queue: 'gpu', tasks: 3, schema: 2 },
    '3 tasks in the queue gpu have the schema 2, which no worker knows; start a worker of a newer ralph',
  ],
  [
    { kind: 'unknown-schema', queue: 'gpu', tasks: 1, schema: 2 },
    '1 task in the queue gpu has the schema 2, which no worker knows; start a worker of a newer ralph',
  ],
  [
    { kind: 'no-worker-for-account', account: 'work', tasks: 3 },
    'no worker claims for the account work, which has 3 tasks; add it to the --accounts file of a worker, and restart it',
  ],
] as const)('a warning of tasks that nobody takes: %o', ([warning, text]) => {
  expect(fleetWarningText(warning)).toBe(text);
});

test('many names are counted instead of listed', () => {
  const taskIds = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  expect(fleetWarningText({ kind: 'failed', taskIds })).toBe(
    '7 tasks failed in the last day: a, b, c, d, e and 2 more; to see why: ralph status a',
  );
});
