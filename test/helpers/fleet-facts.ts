import type { AccountFacts, QueueFacts, WorkerSeen } from '../../src/fleet/core/fleet-facts.ts';
import type { FleetSpec, FleetTaskFacts } from '../../src/fleet/core/fleet-task.ts';
import type { FleetView } from '../../src/fleet/core/fleet-warnings.ts';

/** The database's time in the tests of what a fleet shows. */
export const NOW = '2026-01-05T12:00:00.000Z';

/** An instant before `NOW`, by so many minutes. */
export function minutesAgo(minutes: number): string {
  return new Date(Date.parse(NOW) - minutes * 60_000).toISOString();
}

export function fleetSpec(changes: Partial<FleetSpec> = {}): FleetSpec {
  return {
    schema: 1,
    task_id: 'nightly',
    prompt: 'Fix the tests.',
    task_type: 'default',
    settings: { maxIterations: { value: 10, source: 'default', from: 'default' } },
    passthrough: [],
    repo: 'https://git.example.org/app.git',
    base: null,
    subdir: null,
    branch: 'ralph/nightly',
    setup: null,
    priority: 0,
    account: 'default',
    queue: 'default',
    ...changes,
  };
}

/** A task that waits for a worker. */
export function fleetTask(
  changes: Partial<FleetTaskFacts> = {},
  spec: Partial<FleetSpec> = {},
): FleetTaskFacts {
  return {
    spec: fleetSpec(spec),
    status: 'pending',
    exit_reason: null,
    exit_code: null,
    warning: null,
    fence: 0,
    claims_without_iteration: 0,
    hosts: [],
    parks_without_iteration: 0,
    worker: null,
    host: null,
    parked: null,
    paused: false,
    not_before: null,
    iterations: 0,
    cost_usd: 0,
    base_commit: null,
    branch_commit: null,
    result_commit: null,
    result_ref: null,
    note: null,
    created_at: minutesAgo(30),
    updated_at: minutesAgo(30),
    ended_at: null,
    ...changes,
  };
}

/** A worker that beat a second ago and has nothing to do. */
export function workerSeen(changes: Partial<WorkerSeen> = {}): WorkerSeen {
  return {
    id: 'w1',
    host: 'host1',
    pid: 100,
    version: '0.1.0',
    schema: 1,
    queues: ['default'],
    accounts: null,
    slots: 2,
    running: [],
    idle: null,
    seenAt: new Date(Date.parse(NOW) - 1_000).toISOString(),
    ...changes,
  };
}

export function accountFacts(changes: Partial<AccountFacts> = {}): AccountFacts {
  return {
    account: 'default',
    paused_until: null,
    held: false,
    why: null,
    slots: 0,
    running: 0,
    waiting: 0,
    parked: 0,
    ...changes,
  };
}

export function queueFacts(changes: Partial<QueueFacts> = {}): QueueFacts {
  return {
    queue: 'default',
    schema: 1,
    waiting: 0,
    running: 0,
    parked: 0,
    oldest_waiting_at: null,
    ...changes,
  };
}

/** A fleet with a lease of two minutes in which nothing is wrong. */
export function fleetView(changes: Partial<FleetView> = {}): FleetView {
  return {
    fleet: 'fleet db.example.org/fleet',
    leaseMs: 120_000,
    at: NOW,
    workers: [workerSeen()],
    accounts: [accountFacts()],
    queues: [queueFacts()],
    tasks: [],
    unreadable: [],
    ...changes,
  };
}
