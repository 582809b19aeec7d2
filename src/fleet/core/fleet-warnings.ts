import { isLastClaim } from '../../core/supervisor/lease.ts';
import { msBetween } from '../../core/task/task-state.ts';
import type { AccountFacts, QueueFacts, UnreadableTask, WorkerSeen } from './fleet-facts.ts';
import type { FleetTaskFacts } from './fleet-task.ts';

/** The facts about a fleet that `ralph fleet status` reads. */
export interface FleetView {
  /** The name of the fleet: `fleet HOST/DATABASE`. */
  readonly fleet: string;
  readonly leaseMs: number;
  /** The database's current time, as an ISO instant. */
  readonly at: string;
  readonly workers: readonly WorkerSeen[];
  readonly accounts: readonly AccountFacts[];
  readonly queues: readonly QueueFacts[];
  /** The tasks in trouble: those that failed in the last day, and open ones that do not get through an iteration. */
  readonly tasks: readonly FleetTaskFacts[];
  readonly unreadable: readonly UnreadableTask[];
}

/** Something that a person has to look at, since the fleet cannot fix it by itself. */
export type FleetWarning =
  /** A queue has tasks, but no living worker takes them. */
  | { readonly kind: 'no-worker'; readonly queue: string; readonly tasks: number }
  /** Workers take the queue, but all of them are too old for the schema (stored form) of its tasks. */
  | {
      readonly kind: 'unknown-schema';
      readonly queue: string;
      readonly tasks: number;
      readonly schema: number;
    }
  /** There are living workers, but all of them claim only for other accounts. */
  | { readonly kind: 'no-worker-for-account'; readonly account: string; readonly tasks: number }
  | {
      readonly kind: 'silent';
      readonly worker: string;
      readonly host: string;
      readonly forMs: number;
      readonly running: readonly string[];
    }
  /** A living worker claims nothing at present. */
  | {
      readonly kind: 'idle';
      readonly worker: string;
      readonly host: string;
      readonly why: string;
    }
  | { readonly kind: 'versions'; readonly versions: readonly string[] }
  | { readonly kind: 'waits-long'; readonly queue: string; readonly forMs: number }
  /** No worker claims for the account; `until` is null if the pause lasts until somebody resumes the account. */
  | {
      readonly kind: 'account-paused';
      readonly account: string;
      readonly until: string | null;
      readonly why: string | null;
    }
  | {
      readonly kind: 'claimed-again';
      readonly taskId: string;
      readonly claims: number;
      /** Whether the task fails if the next worker loses it, too. */
      readonly isNextLast: boolean;
      readonly hosts: readonly string[];
    }
  | { readonly kind: 'parked-again'; readonly taskId: string; readonly parks: number }
  | { readonly kind: 'failed'; readonly taskIds: readonly string[] }
  /** `ralph submit` did not write the rows of these tasks: somebody else has written to the database. */
  | { readonly kind: 'unreadable'; readonly taskIds: readonly string[] };

/** The state of a fleet, and the warnings that follow from it. */
export interface FleetPicture {
  readonly view: FleetView;
  readonly warnings: readonly FleetWarning[];
  /** The ids of workers that have sent no sign of life (beat) for longer than a claim lasts (a lease). */
  readonly silent: ReadonlySet<string>;
  /** The names of paused accounts, for which no worker claims. */
  readonly paused: ReadonlySet<string>;
}

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** A task with this many claims but no finished attempt is probably passed from worker to worker. */
const CLAIMS_SUSPECT = 3;
/** A task that was parked (left to wait without a worker) this often probably never gets through an iteration. */
const PARKS_SUSPECT = 3;

/** Returns a fleet's facts with the warnings that follow from them, for `ralph fleet status`. */
export function fleetPicture(view: FleetView): FleetPicture {
  const silent = view.workers.filter((worker) => !isAlive(worker, view));
  const paused = view.accounts.filter((account) => isPaused(account, view.at));
  return {
    view,
    warnings: fleetWarnings(view),
    silent: new Set(silent.map(({ id }) => id)),
    paused: new Set(paused.map(({ account }) => account)),
  };
}

/** Whether a warning tells why an open task does not go on. */
export function concerns(warning: FleetWarning, task: FleetTaskFacts): boolean {
  const { spec, worker, paused, ended_at } = task;
  if (ended_at !== null) return false;
  const waits = worker === null && !paused;
  switch (warning.kind) {
    case 'no-worker':
    case 'waits-long':
      return waits && warning.queue === spec.queue;
    case 'unknown-schema':
      return waits && warning.queue === spec.queue && warning.schema === spec.schema;
    case 'no-worker-for-account':
    case 'account-paused':
      return waits && warning.account === spec.account;
    case 'claimed-again':
    case 'parked-again':
      return warning.taskId === spec.task_id;
    case 'silent':
      return warning.running.includes(spec.task_id);
    default:
      return false;
  }
}

/** Whether a worker has sent a beat within one lease. */
function isAlive(worker: WorkerSeen, { at, leaseMs }: FleetView): boolean {
  return msBetween(worker.seenAt, at) <= leaseMs;
}

function fleetWarnings(view: FleetView): readonly FleetWarning[] {
  const alive = view.workers.filter((worker) => isAlive(worker, view));
  const versions = [...new Set(alive.map(({ version }) => version))].sort();
  return [
    ...view.queues.flatMap((queue) => untaken(queue, alive)),
    ...view.accounts.flatMap((account) => untakenAccount(account, alive)),
    ...view.workers
      .filter((worker) => !alive.includes(worker))
      .map(
        ({ id, host, seenAt, running }): FleetWarning => ({
          kind: 'silent',
          worker: id,
          host,
          forMs: msBetween(seenAt, view.at),
          running,
        }),
      ),
    ...alive.flatMap(({ id, host, idle }): readonly FleetWarning[] =>
      idle === null ? [] : [{ kind: 'idle', worker: id, host, why: idle }],
    ),
    ...view.accounts.flatMap((account) => pausedAccount(account, view.at)),
    ...view.queues.flatMap(({ queue, oldest_waiting_at }): readonly FleetWarning[] => {
      const forMs = oldest_waiting_at === null ? 0 : msBetween(oldest_waiting_at, view.at);
      return forMs > HOUR_MS ? [{ kind: 'waits-long', queue, forMs }] : [];
    }),
    ...view.tasks.flatMap(claimedAgain),
    ...view.tasks.flatMap(parkedAgain),
    ...failedLately(view),
    ...(view.unreadable.length === 0
      ? []
      : [{ kind: 'unreadable' as const, taskIds: view.unreadable.map(({ taskId }) => taskId) }]),
    ...(versions.length > 1 ? [{ kind: 'versions' as const, versions }] : []),
  ];
}

function untaken(
  { queue, schema, waiting, parked }: QueueFacts,
  alive: readonly WorkerSeen[],
): readonly FleetWarning[] {
  const tasks = waiting + parked;
  if (tasks === 0) return [];
  const polling = alive.filter(({ queues }) => queues.includes(queue));
  if (polling.length === 0) return [{ kind: 'no-worker', queue, tasks }];
  const isKnown = polling.some((worker) => worker.schema >= schema);
  return isKnown ? [] : [{ kind: 'unknown-schema', queue, tasks, schema }];
}

/** Warns of an account whose tasks no living worker can take. Without any living worker, `untaken` warns instead. */
function untakenAccount(
  { account, waiting, parked }: AccountFacts,
  alive: readonly WorkerSeen[],
): readonly FleetWarning[] {
  const tasks = waiting + parked;
  const isTaken = alive.some(({ accounts }) => accounts === null || accounts.includes(account));
  if (tasks === 0 || alive.length === 0 || isTaken) return [];
  return [{ kind: 'no-worker-for-account', account, tasks }];
}

function pausedAccount(facts: AccountFacts, at: string): readonly FleetWarning[] {
  const { account, why, held, paused_until } = facts;
  if (!isPaused(facts, at)) return [];
  return [{ kind: 'account-paused', account, until: held ? null : paused_until, why }];
}

function isPaused({ held, paused_until }: AccountFacts, at: string): boolean {
  return held || (paused_until !== null && msBetween(at, paused_until) > 0);
}

function claimedAgain(task: FleetTaskFacts): readonly FleetWarning[] {
  const { claims_without_iteration: claims, hosts, ended_at } = task;
  if (ended_at !== null || claims < CLAIMS_SUSPECT) return [];
  const isNextLast = isLastClaim(claims + 1);
  return [{ kind: 'claimed-again', taskId: task.spec.task_id, claims, isNextLast, hosts }];
}

function parkedAgain({ spec, ended_at, ...task }: FleetTaskFacts): readonly FleetWarning[] {
  const parks = task.parks_without_iteration;
  if (ended_at !== null || parks < PARKS_SUSPECT) return [];
  return [{ kind: 'parked-again', taskId: spec.task_id, parks }];
}

function failedLately({ tasks, at }: FleetView): readonly FleetWarning[] {
  const taskIds = tasks
    .filter(
      ({ status, ended_at }) =>
        status === 'failed' && ended_at !== null && msBetween(ended_at, at) <= DAY_MS,
    )
    .map(({ spec }) => spec.task_id);
  return taskIds.length === 0 ? [] : [{ kind: 'failed', taskIds }];
}
