import { describe, expect, test } from 'vitest';
import { withHeartbeat, workedUntil } from '../../../src/core/task/clock-gap.ts';
import { HEARTBEAT_MS, type Here, isDriverAlive } from '../../../src/core/task/driver.ts';
import { type Driver, laterBy } from '../../../src/core/task/task-state.ts';
import { newTask, START } from '../../helpers/new-task.ts';

const DRIVER: Driver = {
  pid: 4711,
  pid_started_at: '123456',
  boot_id: 'boot-1',
  host: 'host-1',
  pid_namespace: 'pid:[1]',
  run_id: 'run-1',
  beat_at: START,
};

/** Looked at so long after the last beat. */
function here(afterMs: number, isAlive: Here['isAlive'], changes: Partial<Here> = {}): Here {
  return {
    host: 'host-1',
    bootId: 'boot-1',
    pidNamespace: 'pid:[1]',
    at: laterBy(START, afterMs),
    isAlive,
    ...changes,
  };
}

const A_DAY_MS = 24 * 3_600_000;

describe('on the same host, in the same boot and namespace', () => {
  test.for<[name: string, afterMs: number, alive: boolean]>([
    ['a process that lives', 0, true],
    ['a process that lives, suspended for a day', A_DAY_MS, true],
    ['a process that is gone', 0, false],
    ['a process that is gone for a day', A_DAY_MS, false],
  ])('the process decides, whatever its heartbeat says: %s', ([, afterMs, alive]) => {
    expect(
      isDriverAlive(
        DRIVER,
        here(afterMs, () => alive),
      ),
    ).toBe(alive);
  });

  test('it is the process of that pid that started at that time', () => {
    const asked: unknown[] = [];
    const isAlive: Here['isAlive'] = (process) => {
      asked.push(process);
      return process.pid === 4711 && process.startedAt === '123456';
    };
    expect(isDriverAlive(DRIVER, here(0, isAlive))).toBe(true);
    expect(isDriverAlive({ ...DRIVER, pid_started_at: '99' }, here(0, isAlive))).toBe(false);
    expect(asked).toEqual([
      { pid: 4711, startedAt: '123456' },
      { pid: 4711, startedAt: '99' },
    ]);
  });

  test('a driver without a known namespace counts as being in this one', () => {
    const driver = { ...DRIVER, pid_namespace: '' };
    expect(
      isDriverAlive(
        driver,
        here(A_DAY_MS, () => true),
      ),
    ).toBe(true);
    expect(
      isDriverAlive(
        driver,
        here(0, () => false),
      ),
    ).toBe(false);
  });
});

describe.for<[name: string, changes: Partial<Here>]>([
  ['on another host', { host: 'host-2' }],
  ['in another boot', { bootId: 'boot-2' }],
  ['in another pid namespace', { pidNamespace: 'pid:[2]' }],
  ['where nothing is known of namespaces', { pidNamespace: '' }],
])('%s', ([, changes]) => {
  test.for<[afterMs: number, alive: boolean]>([
    [0, true],
    [HEARTBEAT_MS, true],
    [5 * HEARTBEAT_MS, true],
    [119_999, true],
    [120_000, false],
    [A_DAY_MS, false],
    // A clock that is a little behind.
    [-1_000, true],
  ])('the heartbeat decides: %i ms after it', ([afterMs, alive]) => {
    expect(
      isDriverAlive(
        DRIVER,
        here(afterMs, () => !alive, changes),
      ),
    ).toBe(alive);
  });

  test('no process is checked: the pid belongs to another machine', () => {
    const isAlive = (): boolean => {
      throw new Error('asked');
    };
    expect(isDriverAlive(DRIVER, here(0, isAlive, changes))).toBe(true);
  });
});

test('a heartbeat is due several times before its absence counts', () => {
  expect(HEARTBEAT_MS).toBe(15_000);
});

describe('until when a driver worked that died beside its agent', () => {
  const HOUR_MS = 3_600_000;
  const afterStart = (ms: number): string => laterBy(START, ms);

  test.for<[name: string, heardMs: number | null, workedMs: number]>([
    ['to the last word after the last beat', 9_000, 9_000],
    ['to the last beat where it has said nothing', null, 0],
    ['to the last beat where that came after its last word', -1_000, 0],
    [
      'to when the next beat was due: the machine slept before the last word',
      HOUR_MS,
      HEARTBEAT_MS,
    ],
    ['to the last beat where the clock was set back since', 25 * HOUR_MS, 0],
  ])('%s', ([, heardMs, workedMs]) => {
    const heardAt = heardMs === null ? null : afterStart(heardMs);
    expect(workedUntil(newTask(), heardAt, afterStart(A_DAY_MS))).toBe(afterStart(workedMs));
  });
});

describe('a heartbeat', () => {
  // The machine slept for a day.
  const beat = { at: laterBy(START, A_DAY_MS), tookMs: 0, heldUpMs: 0 };

  test('moves the limit of a task that is worked on by the time that the machine slept', () => {
    const task = { ...newTask(), driver: DRIVER };
    expect(withHeartbeat(task, beat).timeout_at).toBe(laterBy(task.timeout_at, A_DAY_MS));
  });

  test('does not move the limit of a task that has ended', () => {
    const task = { ...newTask(), driver: DRIVER, status: 'failed' as const, finished_at: START };
    expect(withHeartbeat(task, beat).timeout_at).toBe(task.timeout_at);
  });
});
