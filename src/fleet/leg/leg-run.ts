import path from 'node:path';
import { temporaryFolderProblem } from '../../compose/before-start.ts';
import type { RunOptions } from '../../compose/held-run.ts';
import { startRun } from '../../compose/run.ts';
import { isAtWork } from '../../core/machine/loop-state.ts';
import type { EndedStatus } from '../../core/task/endings.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { MB } from '../../effects/files/bounded-read.ts';
import { leadsOut } from '../../effects/files/real-path.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { watchAbort } from '../../effects/processes/signals.ts';
import { openSnapshotIds } from '../../effects/snapshots/snapshot-ids.ts';
import { packStep, unpackState } from '../../effects/state/packed-state.ts';
import { leaveRequest } from '../../effects/state/requests.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { placeInFleet, taskCommand } from '../../printed-command.ts';
import { eventLine } from '../../report/event-line.ts';
import type { FleetSpec } from '../core/fleet-task.ts';
import { createCheckpoints } from './leg-checkpoints.ts';
import { legDesk } from './leg-desk.ts';
import { createLegEvents } from './leg-events.ts';
import { LegFailed, LegStopped } from './leg-failed.ts';
import { earlierSnapshots, type LegGit, openLegGit } from './leg-git.ts';
import { createLegLogs } from './leg-logs.ts';
import { planLeg } from './leg-plan.ts';
import { setUpLeg } from './leg-set-up.ts';
import { handOver, type LegState, pathsOf, sealOf } from './leg-state.ts';
import { repeat } from './repeat.ts';
import { settleLeg } from './settle-leg.ts';
import { whenThere } from './when-there.ts';
import type { LegFolder } from './worker-home.ts';
import { sicknessIn, WorkerSick } from './worker-sick.ts';

/** How often events are written between two stored states of the task (checkpoints), in milliseconds. */
const FLUSH_MS = 1_000;

/** With less free space than this, in bytes, an iteration could not be stored. */
const ROOM_FOR_A_LEG = 64 * MB;

/**
 * Begins a task, or continues it from its last checkpoint. Resolves to the status in which the task ended;
 * null if it waits without a worker or for another. Rejects with `LegFailed`, or `RunDropped` if the task stays open.
 */
export async function runInLeg(
  state: LegState,
  spec: FleetSpec,
  folder: LegFolder,
): Promise<EndedStatus | null> {
  const { claim, world, dropped, lease } = state;
  const git = await openLegGit(state, spec, folder);
  refuseWayOut(spec, folder);
  const plan = await planLeg(spec, folder, world);
  const unusable = temporaryFolderProblem(plan);
  if (unusable !== null) throw new WorkerSick(unusable);
  state.over.throwIfAborted();
  if (spec.setup !== null) await setUpLeg(spec.setup, plan, folder, state);
  const leg = await furnish(state, plan, folder, git);
  const ageLimit = setTimeout(() => handOver(state, 'the leg is old'), world.longestLegMs);
  try {
    const end = await startRun({
      plan,
      view: leg.events.view,
      stops: watchAbort(null),
      ...resumeOf(state, plan),
      leg: {
        ...{ lease, dropped },
        opened(keeper) {
          git.opened(keeper);
          // From here on, the run notices requests that are left in this folder.
          state.place = leg.place;
        },
        async saved(step, events) {
          if ((world.roomLeft() ?? ROOM_FOR_A_LEG) < ROOM_FOR_A_LEG) {
            state.handingOver ??= 'less than 64 MB is free in the home of this worker';
          }
          // The request for a pause is repeated: the run ignores a request that was left before the run began.
          if (state.handingOver !== null) state.onHandOver();
          try {
            await leg.checkpoints.saved(step, events);
          } catch (error) {
            // If this worker cannot work (full disk), its error leaves the task open; any other error may end the task.
            const end = sicknessIn(error, world) ?? error;
            const isLast = end instanceof LegFailed || end instanceof LegStopped;
            if (isLast) await leg.logs.keep(step.task.current_iteration);
            throw end;
          }
          state.mayHaveRun = isAtWork(step.step);
        },
        notes: {
          folder: folder.folder,
          again: taskCommand('resume', placeInFleet(claim.taskId, ['--fleet', 'URL'])),
        },
        approvals: legDesk({
          ...{ claim, plan, logDir: plan.stateDir },
          ask: (key, row) => whenThere(dropped, () => world.queue.askApproval(key, row)),
        }),
      },
    });
    return await settleLeg({ ...leg, folder }, end);
  } finally {
    clearTimeout(ageLimit);
    state.place = null;
    await leg.stopTelling();
  }
}

/** Throws if `--subdir` is a link, made by the repository or the agent, that leads out of the repository. */
function refuseWayOut({ subdir }: FleetSpec, { tree }: LegFolder): void {
  if (subdir === null || !leadsOut(path.join(tree, subdir), tree)) return;
  throw new LegFailed(
    'failed:repository',
    `--subdir expects a folder in the repository; '${subdir}' is a link that leads out of it`,
  );
}

/** Writes the task's state into the folder of this run, and opens the stores of its events, logs and checkpoints. */
async function furnish(state: LegState, plan: RunPlan, folder: LegFolder, git: LegGit) {
  const { claim, world, dropped } = state;
  const { queue } = world;
  const paths = pathsOf(folder, claim.taskId);
  const seal = sealOf(folder);
  if (claim.checkpoint !== null) {
    const task = unpackState(paths, claim.checkpoint.packed, seal, woken);
    const { snapshot } = claim.checkpoint;
    const ids = openSnapshotIds(
      { folder: paths.folder, seal, task },
      snapshot?.start !== undefined,
    );
    for (const { name, commit } of earlierSnapshots(snapshot)) await ids.add({ name, commit });
  }
  const events = createLegEvents(
    (event) => eventLine(event, { agent: plan.policy.agent, task: null }),
    (line) => world.say(`${claim.taskId}: ${line}`),
  );
  const logs = createLegLogs(paths.folder, (log) => queue.keepLog(claim, log));
  const checkpoints = createCheckpoints({
    ...{ claim, queue, dropped, keepLogs: logs.keep, written: events.written },
    dropIfStale: state.dropIfStale,
    pack: (step) => packStep(paths, seal, step),
    keepTree: git.keepTree,
    requestsDone: () => takenIn(state.requests),
  });
  state.onHandOver = () => {
    void leaveRequest(paths.folder, { kind: 'pause' }, systemClock.now()).catch(() => undefined);
  };
  const flush = (): Promise<void> => events.flush((waiting) => queue.tell(claim, waiting));
  const over = new AbortController();
  const rounds = repeat(FLUSH_MS, over.signal, flush, () => {});
  return {
    ...{ state, plan, git, events, checkpoints, logs, place: { folder: paths.folder, seal } },
    /** Stops the regular writes of events. The last events of a task that has ended are written with its end. */
    async stopTelling() {
      over.abort();
      await rounds;
      if (!state.settling) await flush().catch(() => undefined);
    },
    flush,
  };
}

/** Ends the wait of a state: it is over by the database's clock, with which this host's clock may not agree. */
function woken(task: TaskState): TaskState {
  if (task.wait === null) return task;
  return { ...task, wait: { kind: task.wait.kind, until: systemClock.now() } };
}

function resumeOf({ claim }: LegState, plan: RunPlan): Pick<RunOptions, 'resume'> {
  if (claim.checkpoint === null) return {};
  return {
    resume: {
      previousTimeoutMs: plan.taskTimeoutMs,
      previousCwd: plan.cwd,
      ...{ isTrusted: false, announcesOnly: false },
    },
  };
}

/**
 * Returns the ids of the messages that the state is certain to have taken in: those left before the previous save. A
 * request to stop or to pause is done only once the task has ended by it, so it is not among them.
 */
function takenIn(requests: LegState['requests']): readonly string[] {
  const done: string[] = [];
  for (const [id, request] of requests) {
    if (request.kind === 'tell' && request.saves > 0) done.push(id);
    request.saves += 1;
  }
  return done;
}
