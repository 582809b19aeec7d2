import { randomUUID } from 'node:crypto';
import { CLAIMS_AT_MOST, KILL_AFTER } from '../../core/supervisor/lease.ts';
import { createClaimLease } from '../../effects/processes/lease.ts';
import { leaveRequest } from '../../effects/state/requests.ts';
import { systemClock } from '../../effects/time/clock.ts';
import type { ClockReading } from '../../effects/time/clock-reading.ts';
import { messageOf, SandboxError, UsageError } from '../../errors.ts';
import { RunDropped } from '../../loop/run-dropped.ts';
import { judgeByPolicy } from '../core/judge-by-policy.ts';
import { withNamedCommands } from '../core/named-commands.ts';
import type { FleetClaim, FleetRequest } from '../database/fleet-queue.ts';
import { giveBack, leaveToAnother, settleFailed, settleStopped } from './leg-endings.ts';
import { LegFailed, LegStopped } from './leg-failed.ts';
import { runInLeg } from './leg-run.ts';
import { handOver, isFolderKept, keptAt, type LegState } from './leg-state.ts';
import type { LegWorld } from './leg-world.ts';
import { orAborted } from './repeat.ts';
import { keepLegFolder, type LegFolder, makeLegFolder, removeLegFolder } from './worker-home.ts';
import { sicknessIn } from './worker-sick.ts';

/** This worker's run of a task (a leg), from its claim until the task has ended, waits without a worker, or is lost. */
export interface RunningLeg {
  readonly claim: FleetClaim;
  /** Resolves when nothing of the leg runs any more. */
  readonly ended: Promise<void>;
  /** Records that a renewal of the claim (a beat), sent at `sentAt`, reached the database. */
  beaten(sentAt: ClockReading): void;
  /** Drops the leg if its guard, a separate process, has killed the agent by now because no beat came through. */
  dropIfStale(): void;
  /** Ends at once all that the leg runs. A claim that still holds is given up for another worker, and not lost. */
  drop(why: string): void;
  /** Gives the task to another worker after the running iteration; at once if no run has begun. */
  handOver(why: string): void;
  /** Whether the claim is being given up, so that a beat may no longer find it. */
  isSettling(): boolean;
  /** Passes a request on to the run, once. Before the run begins, only a stop counts. Rejects with `CommandError`. */
  take(request: FleetRequest): Promise<void>;
}

/** Starts to work on a claim, for which the worker asked at `askedAt`, as soon as `mayBegin` resolves. */
export function openLeg(
  claim: FleetClaim,
  askedAt: ClockReading,
  world: LegWorld,
  mayBegin: Promise<void>,
): RunningLeg {
  const dropping = new AbortController();
  const lease = createClaimLease(world.queue.leaseMs, askedAt, dropping.signal);
  const drop = (why: string): void => dropping.abort(new RunDropped(why));
  const dropIfStale = (): void => {
    if (!state.settled && lease.ageMs() >= lease.ms * KILL_AFTER) {
      drop('no heartbeat has reached the database');
    }
  };
  const stop = new AbortController();
  const state: LegState = {
    ...{ claim, world, lease, dropped: dropping.signal, dropIfStale, requests: new Map() },
    ...{ stop, over: AbortSignal.any([dropping.signal, stop.signal]), hasMore: false },
    ...{ handingOver: null, onHandOver: () => {}, settling: false, place: null },
    ...{ mayHaveRun: false, settled: false },
  };
  // pg-boss would give a job to another worker when it is 24 h old.
  const tooOld = setTimeout(() => drop('the leg is too old'), world.oldestLegMs).unref();
  const ended = runLeg(state, mayBegin).finally(() => clearTimeout(tooOld));
  // The worker prints the error: this only avoids an unhandled rejection.
  ended.catch(() => undefined);
  return {
    claim,
    ended,
    beaten(sentAt) {
      // After too long without a beat, the guard has killed the agent, and a late beat does not change that.
      dropIfStale();
      lease.beaten(sentAt);
    },
    dropIfStale,
    drop,
    handOver(why) {
      if (state.place === null && !state.settling) drop(why);
      else handOver(state, why);
    },
    isSettling: () => state.settling,
    async take(request) {
      const { id, kind } = request;
      const { place, requests } = state;
      if (kind === 'stop') stop.abort(new LegStopped());
      if (place === null || requests.has(id)) return;
      const asked = kind === 'tell' ? { kind, text: request.text } : { kind };
      await leaveRequest(place.folder, asked, systemClock.now(), place.seal);
      requests.set(id, { kind, saves: 0 });
    },
  };
}

async function runLeg(state: LegState, mayBegin: Promise<void>): Promise<void> {
  const { claim, world } = state;
  const { home, keepTrees } = world;
  let folder: LegFolder | null = null;
  let isKept = isFolderKept(keepTrees, null);
  const place = (): string => (isKept && folder !== null ? `; ${keptAt(folder, world)}` : '');
  try {
    refuseLost(claim);
    await orAborted(mayBegin, state.over);
    const spec = allowed(claim, world);
    folder = makeLegFolder(home, claim.taskId, claim.fence, randomUUID());
    const status = await runInLeg(state, spec, folder);
    isKept = isFolderKept(keepTrees, status) || (state.hasMore && keepTrees === 'failed');
  } catch (error) {
    // When a leg is dropped, whatever runs in it may fail in any way, so its error says nothing.
    const sick = state.dropped.aborted ? null : sicknessIn(error, world);
    if (state.dropped.aborted) await giveBack(state);
    else if (sick !== null) await leaveToAnother(state, sick);
    else if (error instanceof LegStopped) {
      isKept ||= keepTrees === 'failed' && state.mayHaveRun;
      await settleStopped(state, place());
    } else if (isParked(error)) world.say(`${claim.taskId}: ${error.message}`);
    else {
      const failed = asFailure(error);
      isKept ||= keepTrees === 'failed' && failed.keepsTree;
      await settleFailed(state, failed, place());
    }
  } finally {
    folder?.endBeats();
    if (folder !== null && isKept) keepLegFolder(folder.folder);
    else if (folder !== null) await removeLegFolder(folder.folder);
  }
}

/** Whether the run was dropped because the task is parked or its claim lost: nothing is to be stored any more. */
function isParked(error: unknown): error is RunDropped {
  return error instanceof RunDropped && !(error instanceof LegFailed);
}

/** Throws if several workers in a row lost the task: it may kill its workers, and would be passed on for ever. */
function refuseLost({ task }: FleetClaim): void {
  if (task.claims_without_iteration <= CLAIMS_AT_MOST) return;
  const hosts = [...new Set(task.hosts)].join(', ');
  throw new LegFailed(
    'failed:worker-died',
    `${CLAIMS_AT_MOST} workers in a row lost the task before its agent came to an end, on ${hosts}`,
  );
}

/** Returns the spec with the commands of the policy filled in. Throws if the policy does not allow the task. */
function allowed({ task }: FleetClaim, { policy }: LegWorld) {
  const refusal = judgeByPolicy(task.spec, policy);
  if (refusal !== null) throw new LegFailed('failed:policy', refusal);
  return withNamedCommands(task.spec, policy);
}

function asFailure(error: unknown): LegFailed {
  if (error instanceof LegFailed) return error;
  // The worker's policy asks for the sandbox, so the task fails by the policy.
  if (error instanceof SandboxError) return new LegFailed('failed:policy', error.message);
  const why = error instanceof UsageError ? 'failed:bad-option' : 'failed:bug';
  return new LegFailed(why, messageOf(error));
}
