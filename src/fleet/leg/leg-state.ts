import type { EndedStatus } from '../../core/task/endings.ts';
import type { ClaimLease } from '../../effects/processes/lease.ts';
import { type TaskPaths, taskPaths } from '../../effects/state/task-folder.ts';
import { type Seal, sealAt } from '../../effects/trust/seal.ts';
import type { FleetClaim, FleetRequest } from '../database/fleet-queue.ts';
import type { LegWorld } from './leg-world.ts';
import { keepLegFolder, type LegFolder } from './worker-home.ts';

/** The folder in which requests to a run are left, with the seal that signs them. */
interface RequestPlace {
  readonly folder: string;
  readonly seal: Seal;
}

/** What the parts of a leg, one worker's run of a task, share. */
export interface LegState {
  readonly claim: FleetClaim;
  readonly world: LegWorld;
  readonly lease: ClaimLease;
  /** Aborts when the leg is dropped: the worker has lost its claim of the task, or gives the claim up. */
  readonly dropped: AbortSignal;
  /** Drops the leg if no renewal of the claim (beat) came through for so long that a guard process killed the agent. */
  readonly dropIfStale: () => void;
  /** Aborts when a person stops the task. */
  readonly stop: AbortController;
  /** Aborts with the first of `dropped` and `stop`. */
  readonly over: AbortSignal;
  /** Why another worker is to continue the task; null if this one does. */
  handingOver: string | null;
  /** Called when another worker is to continue the task: lets the loop pause. */
  onHandOver: () => void;
  settling: boolean;
  /** Whether the end of the leg is stored: then no beat is needed any more. */
  settled: boolean;
  /** Whether an agent may have run since the task was last stored: then the work tree has work that is nowhere else. */
  mayHaveRun: boolean;
  place: RequestPlace | null;
  /** People's requests to the run by id, with the number of saves since each was left. */
  readonly requests: Map<string, { readonly kind: FleetRequest['kind']; saves: number }>;
  /** Whether the work tree has files that are missing in the result of a completed task. */
  hasMore: boolean;
}

/** Lets the running iteration end, and gives the task to another worker. */
export function handOver(state: LegState, why: string): void {
  state.handingOver ??= why;
  state.onHandOver();
}

/** Returns the paths of the run's state. */
export function pathsOf({ stateDir }: LegFolder, taskId: string): TaskPaths {
  return taskPaths(stateDir, taskId);
}

/** Whether a leg's folder is kept after the task has ended with this status; null if the task has not ended. */
export function isFolderKept(
  keepTrees: LegWorld['keepTrees'],
  status: EndedStatus | null,
): boolean {
  return keepTrees === 'all' || (keepTrees === 'failed' && status === 'failed');
}

/**
 * Returns where a person finds what a leg has left, as the end of a sentence. Marks the folder first: a worker that dies
 * after it has told this must not have its folder removed.
 */
export function keptAt({ folder, tree, stateDir }: LegFolder, { host }: LegWorld): string {
  keepLegFolder(folder);
  return `its work tree is ${tree} on ${host}, and its logs are in ${stateDir}`;
}

/** Returns this machine's seal, which signs the state of a leg. */
export function sealOf(folder: LegFolder): Seal {
  return sealAt({ stateDir: folder.stateDir, keyFile: null }, true);
}
