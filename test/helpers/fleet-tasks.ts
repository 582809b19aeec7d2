import { createHash } from 'node:crypto';
import type { RalphEvent } from '../../src/core/machine/events.ts';
import type { FleetSpec } from '../../src/fleet/core/fleet-task.ts';
import type {
  Checkpoint,
  ClaimRequest,
  FleetClaim,
  FleetQueue,
  FleetSettlement,
  NewFleetTask,
  WrittenBeside,
} from '../../src/fleet/database/fleet-queue.ts';
import { fleetSpec } from './fleet-facts.ts';

/** A task as `ralph submit` hands it over. Its content is its prompt. */
export function newFleetTask(
  taskId: string,
  spec: Partial<FleetSpec> = {},
  options: Partial<NewFleetTask> = {},
): NewFleetTask {
  const whole = fleetSpec({ task_id: taskId, branch: `ralph/${taskId}`, ...spec });
  const contentSha256 = createHash('sha256').update(whole.prompt).digest('hex');
  return { spec: whole, contentSha256, notBefore: null, again: false, ...options };
}

/** What a worker asks for that takes everything of the queue `default`. */
export const ANY: ClaimRequest = {
  ...{ workerId: 'w1', host: 'host1', queues: ['default'], accounts: null, schema: 1 },
};

export const NOTHING: WrittenBeside = { events: [], requestsDone: [] };

export function checkpointAt(iterations: number, fields: Partial<Checkpoint> = {}): Checkpoint {
  return {
    ...{ packed: Buffer.from([1, 2, iterations]), status: 'running', iterations },
    ...{ costUsd: iterations / 4, snapshot: null, ...fields },
  };
}

/** As a worker parks a task for an approval of an hour. */
export const ASKING = {
  ...({ kind: 'approval', until: '2026-01-01T01:00:00.000Z' } as const),
  inMs: 3_600_000,
};

export const COMPLETED: FleetSettlement = {
  ...{ status: 'completed', exitReason: 'completed', exitCode: 0, warning: null, note: null },
  ...{ resultCommit: 'c2', resultRef: 'refs/heads/x', branchCommit: 'c2' },
};

export function fleetEvent(line: string): RalphEvent {
  return {
    ...{ at: '2026-01-01T00:00:00.000Z', task_id: 'a', event: 'near_miss', iteration: 1 },
    ...{ line, why: 'a test' },
  } as RalphEvent;
}

/** An instant before which everything has ended. */
export const LATE = '9999-01-01T00:00:00.000Z';

/** Claims, and fails if there is nothing to claim. */
export async function claimed(
  queue: FleetQueue,
  request: Partial<ClaimRequest> = {},
): Promise<FleetClaim> {
  const claim = await queue.claim({ ...ANY, ...request });
  if (claim === null) throw new Error('there is nothing to claim');
  return claim;
}
