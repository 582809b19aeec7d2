import type { WorkerPolicy } from '../core/worker-policy.ts';
import type { FleetQueue } from '../database/fleet-queue.ts';

/** What the legs of a worker, its runs of tasks, share. */
export interface LegWorld {
  readonly queue: FleetQueue;
  readonly id: string;
  readonly host: string;
  /** The worker's folder: see `worker-home.ts`. */
  readonly home: string;
  readonly policy: WorkerPolicy;
  /** The variables for each account's agents; null if the worker takes every account. */
  readonly accounts: ReadonlyMap<string, Readonly<Record<string, string>>> | null;
  /** Files and folders that no agent in the sandbox may read. */
  readonly hidden: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly keepTrees: 'failed' | 'all' | 'none';
  /** How long a failing git call to the task's repository (the origin) is repeated, in milliseconds. */
  readonly originPatienceMs: number;
  /** How old a leg may get before its task is handed over to another worker, in milliseconds. */
  readonly longestLegMs: number;
  /** How old a leg may get before it is ended even in the middle of an iteration, in milliseconds. */
  readonly oldestLegMs: number;
  /** Returns the free space for the worker's folder in bytes; null if unknown. */
  readonly roomLeft: () => number | null;
  /** Lets the worker claim nothing for a while, since it could not run a task here. */
  readonly rest: (why: string) => void;
  readonly say: (line: string) => void;
}
