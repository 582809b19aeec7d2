import { describe, expect, test } from 'vitest';
import {
  concerns,
  type FleetView,
  type FleetWarning,
  fleetPicture,
} from '../../../src/fleet/core/fleet-warnings.ts';
import {
  accountFacts,
  fleetTask,
  fleetView,
  minutesAgo,
  NOW,
  queueFacts,
  workerSeen,
} from '../../helpers/fleet-facts.ts';

const warnings = (changes: Partial<FleetView>): readonly FleetWarning[] =>
  fleetPicture(fleetView(changes)).warnings;

const kinds = (changes: Partial<FleetView>): readonly string[] =>
  warnings(changes).map(({ kind }) => kind);

test('nothing is said of a fleet that works', () => {
  const tasks = [
    fleetTask({ worker: 'w1', host: 'host1', claims_without_iteration: 2, fence: 2 }),
    fleetTask({ status: 'completed', ended_at: minutesAgo(5) }),
  ];
  const queues = [queueFacts({ waiting: 3, oldest_waiting_at: minutesAgo(59) })];
  const accounts = [accountFacts({ paused_until: minutesAgo(1), why: 'usage limit' })];
  expect(warnings({ tasks, queues, accounts })).toEqual([]);
});

describe('a queue that nobody can work on', () => {
  const queues = [queueFacts({ queue: 'gpu', schema: 2, waiting: 2, parked: 1 })];

  test('no worker takes it', () => {
    expect(warnings({ queues })).toEqual([{ kind: 'no-worker', queue: 'gpu', tasks: 3 }]);
  });

  test('the workers that take it do not know its schema', () => {
    const workers = [workerSeen({ queues: ['gpu'] }), workerSeen({ id: 'w2', schema: 2 })];
    expect(warnings({ queues, workers })).toEqual([
      { kind: 'unknown-schema', queue: 'gpu', tasks: 3, schema: 2 },
    ]);
  });

  test('one worker that knows the schema, or a newer one, is enough', () => {
    const workers = [workerSeen({ queues: ['gpu'] }), workerSeen({ queues: ['gpu'], schema: 3 })];
    expect(warnings({ queues, workers })).toEqual([]);
  });

  test('a silent worker does not count', () => {
    const workers = [workerSeen({ queues: ['gpu'], schema: 2, seenAt: minutesAgo(3) })];
    expect(kinds({ queues, workers })).toEqual(['no-worker', 'silent']);
  });

  test('nothing is said of an empty one', () => {
    expect(warnings({ queues: [queueFacts({ queue: 'gpu', running: 1 })] })).toEqual([]);
  });
});

describe('an account with tasks', () => {
  const accounts = [accountFacts({ account: 'work', waiting: 2, parked: 1 })];
  const own = workerSeen({ accounts: ['home'] });

  test('needs a worker that claims for it', () => {
    expect(warnings({ accounts, workers: [own] })).toEqual([
      { kind: 'no-worker-for-account', account: 'work', tasks: 3 },
    ]);
    for (const taken of [null, ['home', 'work']]) {
      expect(warnings({ accounts, workers: [own, workerSeen({ accounts: taken })] })).toEqual([]);
    }
  });

  test('a silent worker does not count, and nothing is said without any worker', () => {
    const silent = workerSeen({ seenAt: minutesAgo(3) });
    expect(kinds({ accounts, workers: [own, silent] })).toEqual([
      'no-worker-for-account',
      'silent',
    ]);
    expect(kinds({ accounts, workers: [silent] })).toEqual(['silent']);
  });

  test('of which none waits leads to no warning', () => {
    const running = [accountFacts({ account: 'work', running: 1 })];
    expect(warnings({ accounts: running, workers: [own] })).toEqual([]);
  });
});

describe('a worker', () => {
  test('is silent after more than one lease', () => {
    const exactly = new Date(Date.parse(NOW) - 120_000).toISOString();
    expect(warnings({ workers: [workerSeen({ seenAt: exactly })] })).toEqual([]);
    const later = new Date(Date.parse(NOW) - 120_001).toISOString();
    const workers = [workerSeen({ seenAt: later, running: ['nightly'] })];
    expect(warnings({ workers })).toEqual([
      { kind: 'silent', worker: 'w1', host: 'host1', forMs: 120_001, running: ['nightly'] },
    ]);
  });

  test('that claims nothing is named with its reason', () => {
    const idle = 'the disk has 0.2 GiB left';
    expect(warnings({ workers: [workerSeen({ idle })] })).toEqual([
      { kind: 'idle', worker: 'w1', host: 'host1', why: idle },
    ]);
  });

  test('of another version than the others is noticed, but not once it is silent', () => {
    const other = workerSeen({ id: 'w2', version: '0.2.0' });
    expect(warnings({ workers: [workerSeen(), other] })).toEqual([
      { kind: 'versions', versions: ['0.1.0', '0.2.0'] },
    ]);
    const gone = { ...other, seenAt: minutesAgo(10) };
    expect(kinds({ workers: [workerSeen(), gone] })).toEqual(['silent']);
  });
});

test('a task that waits for more than an hour leads to a warning of its queue', () => {
  const queues = [queueFacts({ waiting: 1, oldest_waiting_at: minutesAgo(61) })];
  expect(warnings({ queues })).toEqual([
    { kind: 'waits-long', queue: 'default', forMs: 61 * 60_000 },
  ]);
});

test.for([
  [{ held: true, why: 'by ann@desk' }, null],
  [{ paused_until: '2026-01-05T13:00:00.000Z', why: 'by ann@desk' }, '2026-01-05T13:00:00.000Z'],
] as const)('a paused account is told of, with who paused it: %o', ([changes, until]) => {
  const picture = fleetPicture(fleetView({ accounts: [accountFacts(changes)] }));
  expect(picture.warnings).toEqual([
    { kind: 'account-paused', account: 'default', until, why: 'by ann@desk' },
  ]);
  expect([...picture.paused]).toEqual(['default']);
});

test('an open task that is claimed again and again leads to a warning', () => {
  const lost = { claims_without_iteration: 3, hosts: ['host1', 'host2'] };
  const warning = { kind: 'claimed-again', taskId: 'nightly', hosts: ['host1', 'host2'] };
  expect(warnings({ tasks: [fleetTask(lost)] })).toEqual([
    { ...warning, claims: 3, isNextLast: false },
  ]);
  expect(warnings({ tasks: [fleetTask({ ...lost, claims_without_iteration: 4 })] })).toEqual([
    { ...warning, claims: 4, isNextLast: true },
  ]);
  expect(kinds({ tasks: [fleetTask({ ...lost, status: 'stopped', ended_at: NOW })] })).toEqual([]);
});

test('an open task that is parked again and again leads to a warning', () => {
  const parked = { parks_without_iteration: 3 };
  expect(warnings({ tasks: [fleetTask(parked)] })).toEqual([
    { kind: 'parked-again', taskId: 'nightly', parks: 3 },
  ]);
  expect(kinds({ tasks: [fleetTask({ ...parked, ended_at: NOW })] })).toEqual([]);
  expect(kinds({ tasks: [fleetTask({ parks_without_iteration: 2 })] })).toEqual([]);
});

test('tasks that failed in the last day share a warning', () => {
  const failed = (task_id: string, minutes: number) =>
    fleetTask({ status: 'failed', ended_at: minutesAgo(minutes) }, { task_id });
  const tasks = [failed('a', 1), failed('old', 24 * 60 + 1), failed('b', 24 * 60)];
  expect(warnings({ tasks })).toEqual([{ kind: 'failed', taskIds: ['a', 'b'] }]);
});

test('rows that cannot be read are told of together', () => {
  const unreadable = ['a', 'b'].map((taskId) => ({ taskId, endedAt: null }));
  expect(warnings({ unreadable })).toEqual([{ kind: 'unreadable', taskIds: ['a', 'b'] }]);
});

describe('a warning concerns', () => {
  const queue = 'default';
  const paused = { kind: 'account-paused', account: 'default', until: null, why: null } as const;
  const gone = { worker: 'w1', host: 'host1', forMs: 1, running: ['nightly'] };
  const silent = { kind: 'silent', ...gone } as const;

  test.for<[FleetWarning, boolean]>([
    [{ kind: 'no-worker', queue, tasks: 1 }, true],
    [{ kind: 'no-worker', queue: 'gpu', tasks: 1 }, false],
    [{ kind: 'waits-long', queue, forMs: 1 }, true],
    [{ kind: 'unknown-schema', queue, tasks: 1, schema: 1 }, true],
    [{ kind: 'unknown-schema', queue, tasks: 1, schema: 2 }, false],
    [{ kind: 'no-worker-for-account', account: 'default', tasks: 1 }, true],
    [paused, true],
    [{ ...paused, account: 'work' }, false],
    [{ kind: 'parked-again', taskId: 'nightly', parks: 3 }, true],
    [{ kind: 'parked-again', taskId: 'docs', parks: 3 }, false],
    [{ kind: 'versions', versions: ['1', '2'] }, false],
    [silent, true],
    [{ ...silent, running: [] }, false],
  ])('a task that waits: %o: %s', ([warning, isIts]) => {
    expect(concerns(warning, fleetTask())).toBe(isIts);
    expect(concerns(warning, fleetTask({ ended_at: NOW }))).toBe(false);
  });

  test('no task that runs or is paused, if it says why none is taken', () => {
    expect(concerns(paused, fleetTask({ worker: 'w1' }))).toBe(false);
    expect(concerns(paused, fleetTask({ paused: true }))).toBe(false);
  });
});
