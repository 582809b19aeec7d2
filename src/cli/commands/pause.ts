import { leaveRequest } from '../../effects/state/requests.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import {
  findOpenTask,
  notLive,
  refuseInsideOwnLoop,
  resumeCommandHere,
} from '../tasks/find-task.ts';
import { foldersOf, type StoreOptions } from '../tasks/named-folders.ts';
import { steeredTask } from '../tasks/named-task.ts';
import { say } from '../terminal/outlet.ts';

/** `ralph pause ID`: asks the running task to pause after the current iteration. Does not wait for the pause. */
export async function pause(word: string, options: StoreOptions): Promise<number> {
  const done = ifOnFleet(options, async () => {
    const { fleetPause } = await import('../../fleet/cli/steer.ts');
    return (fleet) => fleetPause(fleet, word);
  });
  if (done !== null) return done;
  const place = foldersOf(options);
  const taskId = steeredTask(word, place);
  const found = findOpenTask(taskId, place);
  const { paths, standing } = found;
  refuseInsideOwnLoop('pause', taskId, paths.stateFile, process.env);
  if (standing !== 'live') throw notLive(found);
  await leaveRequest(paths.folder, { kind: 'pause' }, new Date().toISOString());
  say(`${taskId} pauses after its current iteration\nto continue: ${resumeCommandHere(found)}`);
  return 0;
}
