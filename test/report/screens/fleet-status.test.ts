import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import { type FleetView, fleetPicture } from '../../../src/fleet/core/fleet-warnings.ts';
import { fleetStatus, fleetStatusJson } from '../../../src/fleet/report/fleet-status.ts';
import { columnsOf } from '../../../src/report/columns.ts';
import {
  accountFacts,
  fleetTask,
  fleetView,
  minutesAgo,
  queueFacts,
  workerSeen,
} from '../../helpers/fleet-facts.ts';

const screen = (changes: Partial<FleetView>, width = 120): string =>
  fleetStatus(fleetPicture(fleetView(changes)), { width, paint: null });

/** A fleet in which everything that can be told of is there. */
const BUSY: Partial<FleetView> = {
  workers: [
    workerSeen({ running: ['nightly', 'docs'], slots: 4, queues: ['default', 'gpu'] }),
    workerSeen({ id: 'w2', host: 'host2', seenAt: minutesAgo(5), running: ['x'] }),
    workerSeen({ id: 'w3', idle: 'the disk is full', version: '0.2.0' }),
  ],
  accounts: [
    accountFacts({ running: 2, slots: 4, waiting: 7 }),
    accountFacts({ account: 'work', held: true, why: 'by ann@desk' }),
  ],
  queues: [
    queueFacts({ waiting: 7, running: 2, oldest_waiting_at: minutesAgo(90) }),
    queueFacts({ queue: 'old', waiting: 1, oldest_waiting_at: minutesAgo(1) }),
  ],
  tasks: [fleetTask({ status: 'failed', ended_at: minutesAgo(3) }, { task_id: 'broken' })],
};

test('a fleet is shown with its workers, queues and accounts', () => {
  const workers = [workerSeen({ running: ['nightly'] })];
  const queues = [queueFacts({ waiting: 2, running: 1, oldest_waiting_at: minutesAgo(4) })];
  const accounts = [accountFacts({ running: 1, slots: 3, waiting: 2 })];
  expect(screen({ workers, queues, accounts })).toBe(
    [
      'fleet db.example.org/fleet, lease 2m',
      '',
      'WORKER  HOST   STATE  SLOTS  QUEUES   VERSION  RUNS',
      'w1      host1  alive  1/2    default  0.1.0    nightly',
      '',
      'QUEUE    WAITING  RUNNING  PARKED  OLDEST WAITING',
      'default  2        1        0       4m',
      '',
      'ACCOUNT  STATE  RUNNING  WAITING  PARKED',
      'default  free   1/3      2        0',
      '',
    ].join('\n'),
  );
});

test('what is wrong stands first, in sentences', () => {
  const text = screen(BUSY, 400).replaceAll(/\n {2}(?=\S)/g, ' ');
  const told = text.split('\n').filter((line) => line.startsWith('warning: '));
  expect(told).toEqual([
    'warning: no worker takes the queue old, which has 1 task; start one: ralph worker --queue old',
    'warning: the worker w2 on host2 has been silent for 5m; other workers take over x; look at its host',
    'warning: the worker w3 on host1 claims nothing: the disk is full; look at its host',
    'warning: the account work is paused until somebody releases it (by ann@desk); to release it: ralph fleet account work --resume',
    'warning: the oldest task in the queue default has been waiting for 1h 30m; start more workers, or look at the --slots of its account',
    'warning: 1 task failed in the last day: broken; to see why: ralph status broken',
    'warning: the workers run several versions of ralph: 0.1.0, 0.2.0; replace the older ones',
  ]);
  expect(text.indexOf('warning: ')).toBeLessThan(text.indexOf('WORKER'));
  expect(text).toMatch(/^w2 +host2 +silent for 5m +1\/2/m);
  expect(text).toMatch(/^w3 +host1 +idle: the disk is full /m);
  expect(text).toMatch(/^work +paused until released \(by ann@desk\)/m);
});

test('a fleet without workers and tasks says what starts them', () => {
  const text = screen({ workers: [], queues: [], accounts: [] });
  expect(text).toContain('no worker is running; start one with ralph worker\n');
  expect(text).toContain('no open tasks; queue one with ralph submit\n');
});

test('queues of one name are told apart by their schema', () => {
  const queues = [queueFacts({ waiting: 1 }), queueFacts({ schema: 2, waiting: 1 })];
  expect(screen({ queues })).toMatch(/^default \(schema 1\) .*\ndefault \(schema 2\) /m);
});

describe.for([20, 40, 60, 80, 120, 200])('on a terminal of %i columns', (width) => {
  test('no line is wider, but for a long word or a command', () => {
    const workers = [
      ...(BUSY.workers ?? []),
      workerSeen({ id: '漢字'.repeat(40), host: 'h'.repeat(90) }),
    ];
    for (const line of screen({ ...BUSY, workers }, width).split('\n')) {
      // A command is not broken.
      const isWhole = /^\s*\S+$|: ralph /.test(line);
      if (!isWhole) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    }
  });

  test('every worker, queue and account is still named', () => {
    const text = screen(BUSY, width);
    for (const name of ['w1', 'w2', 'w3', 'default', 'old', 'work']) {
      expect(text).toMatch(new RegExp(`^${name}\\b`, 'm'));
    }
  });
});

test('names from the database cannot steer the terminal', () => {
  const evil = 'x\u001b[2J\u202ey\nz';
  const text = screen(
    {
      fleet: `fleet ${evil}`,
      workers: [
        workerSeen({
          id: evil,
          host: evil,
          idle: evil,
          running: [evil],
          queues: [evil],
          accounts: [],
          version: evil,
        }),
      ],
      accounts: [accountFacts({ account: evil, waiting: 1, held: true, why: evil })],
      queues: [queueFacts({ queue: evil, waiting: 1, oldest_waiting_at: minutesAgo(90) })],
      tasks: [
        fleetTask({ claims_without_iteration: 4, hosts: [evil] }, { task_id: evil }),
        fleetTask({ parks_without_iteration: 4 }, { task_id: evil }),
        fleetTask({ status: 'failed', ended_at: minutesAgo(1) }, { task_id: evil }),
      ],
    },
    1_000,
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(text).not.toMatch(/^z/m);
  expect(text).toContain('xy z');
});

test('colours mark the warnings and the headings', () => {
  const text = fleetStatus(fleetPicture(fleetView(BUSY)), {
    width: 120,
    paint: new Chalk({ level: 1 }),
  });
  expect(text).toContain('\u001b[33mwarning: ');
  expect(text).toContain('\u001b[1mWORKER');
});

test('the JSON has the fields that are documented', () => {
  const json = JSON.parse(JSON.stringify(fleetStatusJson(fleetPicture(fleetView(BUSY)))));
  expect(json.fleet).toBe('db.example.org/fleet');
  expect(json.lease_seconds).toBe(120);
  expect(json.workers.map((worker: { state: string }) => worker.state)).toEqual([
    'alive',
    'silent',
    'idle',
  ]);
  expect(json.workers[0]).toEqual({
    id: 'w1',
    host: 'host1',
    version: '0.1.0',
    state: 'alive',
    idle_because: null,
    slots: 4,
    busy: 2,
    running: ['nightly', 'docs'],
    queues: ['default', 'gpu'],
    accounts: null,
    schema: 1,
    last_beat_at: '2026-01-05T11:59:59.000Z',
  });
  expect(json.accounts[1]).toEqual({
    account: 'work',
    paused_until: null,
    held: true,
    why: 'by ann@desk',
    slots: 0,
    running: 0,
    waiting: 0,
    parked: 0,
  });
  expect(json.queues[0]).toEqual({
    queue: 'default',
    schema: 1,
    waiting: 7,
    running: 2,
    parked: 0,
    oldest_waiting_at: minutesAgo(90),
  });
  expect(json.warnings[0]).toEqual({
    kind: 'no-worker',
    text: 'no worker takes the queue old, which has 1 task; start one: ralph worker --queue old',
  });
});
