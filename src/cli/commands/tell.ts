import { HINT_MAX_BYTES } from '../../core/prompt/hints.ts';
import { leaveRequest } from '../../effects/state/requests.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { UsageError } from '../../errors.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import { findOpenTask, refuseInsideOwnLoop, resumeCommandHere } from '../tasks/find-task.ts';
import { foldersOf, type StoreOptions } from '../tasks/named-folders.ts';
import { steeredTask } from '../tasks/named-task.ts';
import { say } from '../terminal/outlet.ts';

/** `ralph tell ID "…"`: adds a hint to the task's next prompt, now or after a resume. */
export async function tell(word: string, text: string, options: StoreOptions): Promise<number> {
  if (text.trim() === '') throw new UsageError(['ralph tell expects a hint; found an empty text.']);
  const bytes = Buffer.byteLength(text);
  if (bytes > HINT_MAX_BYTES) {
    throw new UsageError([
      `ralph tell expects a hint of at most ${HINT_MAX_BYTES / 1024} KB; found ${bytes} bytes. Put it into a file and name that file to the agent.`,
    ]);
  }
  const done = ifOnFleet(options, async () => {
    const { fleetTell } = await import('../../fleet/cli/steer.ts');
    return (fleet) => fleetTell(fleet, word, text);
  });
  if (done !== null) return done;
  const place = foldersOf(options);
  const taskId = steeredTask(word, place);
  const found = findOpenTask(taskId, place);
  const { paths, standing } = found;
  refuseInsideOwnLoop('tell', taskId, paths.stateFile, process.env);
  const at = new Date().toISOString();
  await leaveRequest(paths.folder, { kind: 'tell', text }, at, sealAt(place, true));
  const when =
    standing === 'live'
      ? `the next iteration of ${taskId} gets the hint`
      : `${taskId} is ${standing} and gets the hint when it is resumed: ${resumeCommandHere(found)}`;
  say(when);
  return 0;
}
