import { runEndCommand } from '../../compose/user-commands.ts';
import type { RalphEvent } from '../../core/machine/events.ts';
import { summaryLine } from '../../core/machine/settling.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import type { CommitFacts } from '../../core/snapshots/commit-message.ts';
import type { EndedStatus } from '../../core/task/endings.ts';
import { MB, tryReadText } from '../../effects/files/bounded-read.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { watchAbort } from '../../effects/processes/signals.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { RunDropped } from '../../loop/run-dropped.ts';
import type { RunEnd } from '../../loop/stop.ts';
import { commandFailed } from '../../report/notices.ts';
import { restUntil } from '../core/parking.ts';
import type { FleetSettlement } from '../database/fleet-queue.ts';
import type { LegCheckpoints } from './leg-checkpoints.ts';
import type { LegEvents } from './leg-events.ts';
import { type LegGit, NOT_LANDED } from './leg-git.ts';
import { isFolderKept, keptAt, type LegState } from './leg-state.ts';
import { whenThere } from './when-there.ts';
import type { LegFolder } from './worker-home.ts';

/** A leg (one worker's run of a task) in which the loop has ended. */
interface EndingLeg {
  readonly state: LegState;
  readonly plan: RunPlan;
  readonly folder: LegFolder;
  readonly git: LegGit;
  readonly events: LegEvents;
  readonly checkpoints: LegCheckpoints;
  flush(): Promise<void>;
}

/**
 * Ends the task, or leaves it to wait without a worker (parks it) if it has paused only to be handed over or because of
 * `--max-usage`. Resolves to the status in which the task ended; null if it was parked.
 */
export async function settleLeg(
  { state, git, checkpoints, events, ...leg }: EndingLeg,
  run: RunEnd,
): Promise<EndedStatus | null> {
  const { claim, world, handingOver } = state;
  const { queue } = world;
  const { fields } = run;
  const end = checkpoints.end();
  if (end === null) throw new Error('the run has ended without a last step');
  await leg.flush().catch(() => undefined);
  // Requests that the run has not taken in stay for the next leg; the end of the task removes them all.
  const { written } = end;
  const isPausedByPerson = [...state.requests.values()].some(({ kind }) => kind === 'pause');
  if (handingOver !== null && fields.status === 'paused' && !isPausedByPerson) {
    const open = { ...end.checkpoint, status: 'running' as const };
    const parking = { kind: 'handover', why: handingOver } as const;
    await keep(state, () => queue.park(claim, open, written, parking));
    world.say(`${claim.taskId}: handed over, since ${handingOver}`);
    return null;
  }
  const rest = restAfter(events.ending());
  if (rest !== null && fields.exit_reason === 'max_usage') {
    const open = { ...end.checkpoint, status: 'running' as const };
    const parking = { kind: 'wait', ...rest, account: true } as const;
    await keep(state, () => queue.park(claim, open, written, parking));
    const until = `until ${rest.until}`;
    world.say(`${claim.taskId}: parked ${until}, since its account has reached --max-usage`);
    return null;
  }
  if (rest !== null) {
    const why = `task ${claim.taskId} is at its usage limit`;
    await whenThere(state.dropped, () =>
      queue.pauseAccount(claim.task.spec.account, rest.inMs ?? rest.until, why),
    );
  }
  const isLeft = fields.status !== 'completed' && isFolderKept(world.keepTrees, fields.status);
  const landed =
    fields.status === 'completed'
      ? await git.land(commitFacts(run))
      : {
          ...NOT_LANDED,
          warning: isLeft ? `What the run has left: ${keptAt(leg.folder, world)}.` : null,
        };
  const settlement: FleetSettlement = {
    status: fields.status,
    exitReason: fields.exit_reason,
    exitCode: fields.exit_code,
    note: fields.note === null ? null : maskSecrets(tryReadText(fields.note, MB) ?? ''),
    ...landed,
  };
  const told = { ...written, events: [...written.events, ...events.ending()] };
  await keep(
    state,
    async () =>
      (await queue.settle(claim, end.checkpoint, told, settlement)) ||
      (await hasSettled(state, settlement)),
  );
  await git.thin();
  // The `--on-end` command may merge or announce the result, so it runs once the result is in its place.
  const ended = events.ending()[0];
  if (ended !== undefined) await runOnEnd({ state, ...leg }, ended);
  return fields.status;
}

/** Runs the `--on-end` command. Its failure is only printed: the task has ended already. */
async function runOnEnd(
  { state, plan, folder }: Pick<EndingLeg, 'state' | 'plan' | 'folder'>,
  ended: RalphEvent,
): Promise<void> {
  const { claim, world, dropped } = state;
  // A stop by a person ended the run, but must not end this command, too.
  const stops = watchAbort(dropped);
  const exitCode = await runEndCommand(plan, folder.runId, stops, ended);
  if (exitCode !== 0) world.say(`${claim.taskId}: ${commandFailed('--on-end', exitCode)}`);
}

/** Returns how long the account has to rest after a run; null if the run did not end at the usage limit. */
function restAfter([ended]: readonly RalphEvent[]): ReturnType<typeof restUntil> | null {
  if (ended?.event !== 'task_usage_limited' || ended.exit_reason === 'outage') return null;
  return restUntil(ended.until, systemClock.now());
}

/** Writes the end or the parking of the task, which gives the claim up. */
async function keep(state: LegState, write: () => Promise<boolean>): Promise<void> {
  // A renewal of the claim during or after this write may find no claim. Then the claim counts as given up, not lost.
  state.settling = true;
  if (!(await whenThere(state.dropped, write))) throw new RunDropped('the claim is lost');
  state.settled = true;
}

/** Whether an earlier try has ended or paused the task, so that only the database's answer was lost. */
async function hasSettled(
  { claim, world }: LegState,
  { status, exitReason }: FleetSettlement,
): Promise<boolean> {
  const task = await world.queue.task(claim.taskId);
  if (task === null || task.fence !== claim.fence || task.status !== status) return false;
  // A paused task has not ended, so `ended_at` is not set.
  return task.paused || (task.ended_at !== null && task.exit_reason === exitReason);
}

function commitFacts({ state, fields }: RunEnd): CommitFacts {
  const { task_id: taskId, current_iteration: iteration } = state.task;
  const summary = summaryLine(fields.final_message ?? '', [state.task.completion_promise]);
  return { taskId, iteration, outcome: fields.status, summary };
}
