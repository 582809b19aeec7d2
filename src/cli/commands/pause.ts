import { leaveRequest } from '../../compose/tasks.ts';
import { findOpenTask, notLive, refuseInsideOwnLoop } from '../find-task.ts';
import { type PlaceOptions, placeOf } from '../place.ts';

/** `ralph pause ID`: asks the task's driver to hold after its running iteration. Waits for nothing. */
export async function pause(taskId: string, options: PlaceOptions): Promise<number> {
  const { paths, standing } = findOpenTask(taskId, placeOf(options));
  refuseInsideOwnLoop('pause', taskId, paths.stateFile, process.env);
  if (standing !== 'live') throw notLive(taskId, standing);
  await leaveRequest(paths.folder, { kind: 'pause' }, new Date().toISOString());
  process.stderr.write(
    `ralph: ${taskId} finishes its iteration and is then held; ralph resume ${taskId} goes on\n`,
  );
  return 0;
}
