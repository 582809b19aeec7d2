import { NO_USAGE } from '../../core/agent/attempt.ts';
import { type EventBody, type RalphEvent, stamped } from '../../core/machine/events.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { CLAIMS_AT_MOST } from '../../core/supervisor/lease.ts';
import { NOTHING_IN_GIT } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { messageOf } from '../../errors.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import { RunDropped } from '../../loop/run-dropped.ts';
import type { FleetClaim, FleetSettlement, WrittenBeside } from '../database/fleet-queue.ts';
import type { LegFailed } from './leg-failed.ts';
import { NOT_LANDED } from './leg-git.ts';
import type { LegState } from './leg-state.ts';
import { whenThere } from './when-there.ts';
import type { WorkerSick } from './worker-sick.ts';

/*
 * How a worker's run of a task (a leg) ends if its loop did not come to an end: the task goes to another worker, has
 * failed, or was stopped by a person. Its stored state (checkpoint) stays as it was.
 */

const NOTHING_BESIDE: WrittenBeside = { events: [], requestsDone: [] };

/**
 * Gives up the claim of a dropped leg, of which nothing runs any more, so that another worker may go on at once. If the
 * fleet is away, the claim runs out instead, and counts as lost.
 */
export async function giveBack(
  { claim, world, dropped }: LegState,
  why = messageOf(dropped.reason),
): Promise<void> {
  const parking = { kind: 'handover', why } as const;
  const isOurs = await world.queue.park(claim, null, NOTHING_BESIDE, parking).catch(() => false);
  world.say(`${claim.taskId}: ${isOurs ? 'handed over' : 'dropped'}, since ${parking.why}`);
}

/**
 * Gives a task to another worker, since this one cannot work. If an agent has worked in vain, or workers often gave
 * the task up without an iteration, the claim is left to run out and counts as lost. After several lost claims the task
 * fails: otherwise a task that fills every disk would cost money, and stop one worker after the other.
 */
export async function leaveToAnother(state: LegState, sick: WorkerSick): Promise<void> {
  const { claim, world, mayHaveRun } = state;
  const why = oneLine(maskSecrets(messageOf(sick)), 300);
  world.rest(why);
  const isRepeated = claim.task.parks_without_iteration >= CLAIMS_AT_MOST;
  if (!mayHaveRun && !isRepeated) return giveBack(state, why);
  world.say(`${claim.taskId}: goes to another worker once its lease is over, since ${why}`);
}

/** Ends a task as failed, since its run could not begin or could not be stored. */
export async function settleFailed(
  state: LegState,
  failed: LegFailed,
  where: string,
): Promise<void> {
  const { claim, world } = state;
  const sentence = maskSecrets(`${failed.message}${where}`);
  world.say(`${claim.taskId}: ${failed.exitReason}: ${sentence}`);
  const settlement: FleetSettlement = {
    status: 'failed',
    exitReason: failed.exitReason,
    exitCode: exitCodeFor('failed', failed.exitReason),
    ...{ ...NOT_LANDED, warning: sentence, note: null },
  };
  await settleAsItWas(state, settlement, [failedEvent(claim, settlement, sentence)]);
}

function failedEvent(
  { taskId, task }: FleetClaim,
  { exitReason, exitCode }: FleetSettlement,
  error: string,
): RalphEvent {
  const body: EventBody = {
    event: 'task_failed',
    ...{ status: 'failed', exit_reason: exitReason, exit_code: exitCode },
    ...{ iterations_used: task.iterations, usage: { ...NO_USAGE, cost_usd: task.cost_usd } },
    ...{ evidence: null, changes: null, git: NOTHING_IN_GIT, final_message: null, note: null },
    ...{ state_file: '', log_dir: '', error },
  };
  return stamped(body, systemClock.now(), taskId);
}

/**
 * Ends a task that a person stopped while no run could notice. A resume continues from its last checkpoint; what an
 * agent has done since then is only in the work tree, if that is kept.
 */
export async function settleStopped(state: LegState, where: string): Promise<void> {
  const [status, exitReason] = ['stopped', 'stopped:request'] as const;
  const warning = state.mayHaveRun
    ? `What its last iteration changed is not at the origin${where}`
    : null;
  const { taskId } = state.claim;
  state.world.say(`${taskId}: ${exitReason}${warning === null ? '' : `: ${warning}`}`);
  await settleAsItWas(state, {
    ...{ status, exitReason, exitCode: exitCodeFor(status, exitReason) },
    ...{ ...NOT_LANDED, warning, note: null },
  });
}

async function settleAsItWas(
  state: LegState,
  settlement: FleetSettlement,
  events: readonly RalphEvent[] = [],
): Promise<void> {
  const { claim, world, dropped } = state;
  const beside = { ...NOTHING_BESIDE, events };
  state.settling = true;
  await whenThere(dropped, () => world.queue.settle(claim, null, beside, settlement)).catch(
    (error) => {
      if (!(error instanceof RunDropped)) throw error;
      return giveBack(state);
    },
  );
}
