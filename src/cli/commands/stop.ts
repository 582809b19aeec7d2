import { setTimeout as sleep } from 'node:timers/promises';
import type { Driver } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { thisPlace } from '../../effects/lock/driver-identity.ts';
import { liveClaim } from '../../effects/lock/task-lock.ts';
import { leaveRequest } from '../../effects/state/requests.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import {
  type FoundTask,
  findOpenTask,
  findTask,
  notLive,
  refuseInsideOwnLoop,
  resumeCommandHere,
  type Standing,
  standingOf,
} from '../tasks/find-task.ts';
import { foldersOf, type StoreOptions } from '../tasks/named-folders.ts';
import { steeredTask } from '../tasks/named-task.ts';
import { say } from '../terminal/outlet.ts';

/** How long to wait for the driver (the task's process), which ends its agent within 5 s after the request to stop. */
const ENDS_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 50;

/** `ralph stop ID`: asks the task's process to end the iteration and stop, and waits for that. Sends no signals. */
export async function stopTask(word: string, options: StoreOptions): Promise<number> {
  const done = ifOnFleet(options, async () => {
    const { fleetStop } = await import('../../fleet/cli/steer.ts');
    return (fleet) => fleetStop(fleet, word);
  });
  if (done !== null) return done;
  const place = foldersOf(options);
  const taskId = steeredTask(word, place);
  const found = findOpenTask(taskId, place);
  refuseInsideOwnLoop('stop', taskId, found.paths.stateFile, process.env);
  if (found.standing !== 'live') throw notLive(found);
  await leaveRequest(found.paths.folder, { kind: 'stop' }, new Date().toISOString());
  const isFree = (): boolean =>
    liveClaim(place.stateDir, taskId, thisPlace(new Date().toISOString())) === null;
  const look = (): FoundTask | null => findTask(taskId, place);
  const standing = await untilItEnds(found, look, isFree);
  say(outcome({ ...found, standing }));
  return standing === 'live' ? EXIT_FAILED : 0;
}

/** Waits for the task's driver to end. Resolves to the task's state then, which is `live` if the wait was too long. */
async function untilItEnds(
  found: FoundTask,
  look: () => FoundTask | null,
  isFree: () => boolean,
): Promise<Standing> {
  const startedMs = performance.now();
  for (;;) {
    const standing = lookAgain(found, look);
    // The driver saves the task's end, may run a last command, and only then releases the task.
    const isOver = standing !== 'live' && isFree();
    if (isOver || performance.now() - startedMs > ENDS_WITHIN_MS) return standing;
    await sleep(LOOK_EVERY_MS);
  }
}

function lookAgain(found: FoundTask, look: () => FoundTask | null): Standing {
  try {
    const seen = look();
    // What was found may be an older task of the same id in the history.
    if (seen?.state.started_at === found.state.started_at) return seen.standing;
  } catch {
    // The state cannot be read, but the driver may be about to rewrite it.
  }
  // Without the state, only the driver's process shows whether the task is live.
  return standingOf(found.state);
}

function outcome(found: FoundTask): string {
  const { standing, state } = found;
  const { task_id: taskId, driver } = state;
  const next = `to continue: ${resumeCommandHere(found)}`;
  switch (standing) {
    case 'live':
      return hangs(taskId, driver);
    case 'completed':
      return `${taskId} was completed before the request reached it`;
    case 'stopped':
      return `${taskId} is stopped\n${next}`;
    case 'interrupted':
      return `the driver of ${taskId} is dead, so the task is interrupted\n${next}`;
    default:
      return `${taskId} ended before the request reached it, and is ${standing}\n${next}`;
  }
}

function hangs(taskId: string, driver: Driver | null): string {
  const host = oneLine(driver?.host ?? '', 60);
  const pid = driver?.pid ?? 0;
  return `the driver of ${taskId} (pid ${pid} on ${host}) has not reacted for ${ENDS_WITHIN_MS / 1_000}s and seems to hang; end it there with kill -KILL ${pid}; its guard then ends the agent`;
}
