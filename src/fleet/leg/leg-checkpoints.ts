import type { RalphEvent } from '../../core/machine/events.ts';
import { isAtWork, type LoopState, type Step } from '../../core/machine/loop-state.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { RunDropped } from '../../loop/run-dropped.ts';
import type { FleetSpec } from '../core/fleet-task.ts';
import { askedFor, parkingOf } from '../core/parking.ts';
import type {
  Checkpoint,
  CheckpointSnapshot,
  FleetClaim,
  FleetQueue,
  WrittenBeside,
} from '../database/fleet-queue.ts';
import { whenThere } from './when-there.ts';

/** The steps of the loop in which something runs that may change the work tree. */
const CHANGING: ReadonlySet<Step['kind']> = new Set([
  ...(['new', 'working', 'asking-back', 'measuring', 'verifying', 'examining'] as const),
  ...(['settling', 'following'] as const),
]);

/** The data and functions that the checkpoints of a leg (one worker's run of a task) need. */
export interface CheckpointWorld {
  readonly claim: FleetClaim;
  readonly queue: FleetQueue;
  /** Aborts when the worker has lost its claim, its exclusive hold on the task. */
  readonly dropped: AbortSignal;
  /** Drops the leg if the last renewal of the claim is so old that a guard process may have killed the agent. */
  readonly dropIfStale: () => void;
  /** Returns a step, which was just saved, in packed form. */
  readonly pack: (state: LoopState) => Uint8Array;
  /** Pushes the work tree to the task's repository (the origin) as a snapshot, if it differs from the newest one. */
  readonly keepTree: (iteration: number, isStarting: boolean) => Promise<CheckpointSnapshot>;
  /** Stores the logs of the iterations up to this one that are not stored yet. */
  readonly keepLogs: (iteration: number) => Promise<void>;
  readonly requestsDone: () => readonly string[];
  readonly written: (events: readonly RalphEvent[]) => void;
}

/** The checkpoints of one leg. */
export interface LegCheckpoints {
  /** Stores in the fleet a step that was just saved here. Rejects, to end the run, if the claim is lost or given up. */
  saved(state: LoopState, events: readonly RalphEvent[]): Promise<void>;
  /** The checkpoint of the task's end with its events; null while the task is open. */
  end(): { readonly checkpoint: Checkpoint; readonly written: WrittenBeside } | null;
}

/*
 * A step is stored in this order, so that a worker that dies at any moment loses one iteration at most:
 *
 *   saved here ──► snapshot pushed ──► checkpoint written, if the claim still holds ──► the next step begins
 */
export function createCheckpoints(world: CheckpointWorld): LegCheckpoints {
  const { claim, queue, dropped } = world;
  const { spec } = claim.task;
  let snapshot: CheckpointSnapshot | null = claim.checkpoint?.snapshot ?? null;
  let mayDiffer = true;
  let wasAtWork = false;
  let isAnswered = claim.answer !== null;
  let ended: ReturnType<LegCheckpoints['end']> = null;

  const checkpointOf = (state: LoopState): Checkpoint => ({
    packed: world.pack(state),
    status: state.task.status,
    iterations: state.task.metrics.iterations,
    costUsd: state.task.usage.cost_usd,
    snapshot,
  });

  // A request for approval expires by the database's clock, which also decides when the waiting task is woken.
  const openUntil = async (state: LoopState) => {
    if (state.step.kind !== 'approving' || isAnswered || askedFor(state) === null) {
      return { now: systemClock.now() };
    }
    return whenThere(dropped, async () => {
      const asked = (await queue.approvals()).find(({ taskId }) => taskId === claim.taskId);
      return { now: await queue.readClock(), expiresAt: asked?.expiresAt ?? null };
    });
  };

  return {
    async saved(state, events) {
      world.dropIfStale();
      dropped.throwIfAborted();
      // Changes of the work tree by a step are pushed before the state that depends on them is stored.
      const isStarting = isAtWork(state.step);
      if (mayDiffer || isStarting) {
        snapshot = await world.keepTree(state.task.current_iteration, isStarting);
      }
      mayDiffer = CHANGING.has(state.step.kind);
      const { metrics, current_iteration } = state.task;
      // The iteration in which the task ends may not be counted, but its log tells why the task ended.
      await world.keepLogs(state.step.kind === 'ended' ? current_iteration : metrics.iterations);
      const checkpoint = checkpointOf(state);
      const written: WrittenBeside = {
        events,
        requestsDone: [...world.requestsDone(), ...answered(state)],
        agentEnded: wasAtWork,
      };
      wasAtWork = isStarting;
      world.written(events);
      if (state.step.kind === 'ended') {
        ended = { checkpoint, written };
        return;
      }
      ended = null;
      const parking = parkingOf(state, { ...(await openUntil(state)), isAnswered });
      if (parking === null) await pauseAccount(queue, spec, state, dropped);
      if (state.step.kind !== 'approving') isAnswered = false;
      const isOurs = await whenThere(dropped, () =>
        parking === null
          ? queue.save(claim, checkpoint, written)
          : queue.park(claim, checkpoint, written, parking),
      );
      if (!isOurs) throw new RunDropped('the claim is lost');
      if (parking !== null) throw new RunDropped(`parked (${parking.kind})`);
    },
    end: () => ended,
  };
}

/** Returns the id of the approval whose answer the state has taken in, if any. */
function answered({ task: { approval } }: LoopState): readonly string[] {
  return approval === null || approval.decision === null ? [] : [approval.id];
}

/** Pauses the account while this leg waits for a usage limit to end, so that no other worker claims for it. */
async function pauseAccount(
  queue: FleetQueue,
  { account, task_id }: FleetSpec,
  { step, task }: LoopState,
  dropped: AbortSignal,
): Promise<void> {
  if (step.kind !== 'waiting' || task.wait?.kind !== 'usage-limit') return;
  const { until } = task.wait;
  await whenThere(dropped, async () => {
    await queue.pauseAccount(account, until, `task ${task_id} is at its usage limit`);
    return true;
  });
}
