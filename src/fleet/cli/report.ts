import {
  gatherBriefing,
  periodOf,
  printBriefing,
  type ReportOptions,
} from '../../cli/tasks/gather-briefing.ts';
import { say } from '../../cli/terminal/outlet.ts';
import type { OpenNote } from '../../core/task/briefing-sources.ts';
import { rowOfState } from '../../core/task/endings.ts';
import type { ShownTask } from '../../core/task/shown-task.ts';
import { StateTooNewError } from '../../errors.ts';
import { placeInFleet, taskCommand } from '../../printed-command.ts';
import { StateCorruptedError } from '../../task-errors.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import { shownFleetTask } from '../report/fleet-tasks.ts';
import { notReported } from '../report/fleet-words.ts';
import { withTaskCopies } from '../worker/task-copy.ts';
import type { OpenFleet } from './on-fleet.ts';

/** `ralph report` on a fleet: shows what happened in a period, and what needs a person. */
export async function fleetReport(fleet: OpenFleet, options: ReportOptions): Promise<number> {
  const { queue, words } = fleet;
  const span = periodOf(options, await queue.readClock());
  const tasks = await queue.tasks({ endedSince: span.since });
  const byId = new Map(tasks.map((task) => [task.spec.task_id, task]));
  await withTaskCopies(async (copies) => {
    // The tasks' stored states (checkpoints) are read one by one, since there may be hundreds.
    for (const task of tasks) {
      const { spec, fence } = task;
      // A task that no worker has claimed has no checkpoint or events, and there may be thousands of such tasks.
      if (fence === 0) {
        await copies.add(task, null);
        continue;
      }
      try {
        await copies.add(task, await queue.checkpoint(spec.task_id));
      } catch (error) {
        const isNewer = error instanceof StateTooNewError;
        if (!isNewer && !(error instanceof StateCorruptedError)) throw error;
        say(notReported(spec.task_id, isNewer));
        continue;
      }
      copies.addEvents(await queue.events(spec.task_id, 0));
    }
    const shown = (task: ShownTask): ShownTask =>
      asInFleet(task, byId.get(task.taskId), span.until);
    const place = { vault: queue.name, stateDir: queue.name, fleetWords: words };
    const notes = tasks.flatMap((task) => notesOf(task, words));
    const briefing = await gatherBriefing(copies, span, { shown, notes, place });
    await printBriefing(briefing, options, `${queue.name}\n\n`);
  });
  return 0;
}

/** Returns the note about a task's end. In place of a file, it names the command that shows the note. */
function notesOf(
  { spec, note, status, exit_reason, ended_at: at }: FleetTaskFacts,
  words: readonly string[],
): readonly OpenNote[] {
  if (note === null || at === null) return [];
  const { task_id: taskId } = spec;
  const reason = rowOfState(status, exit_reason)?.note?.word ?? 'NOTE';
  return [{ file: taskCommand('status', placeInFleet(taskId, words)), taskId, reason, at }];
}

/** Returns a task with the state from its database row: the checkpoint does not tell whether a worker runs the task. */
function asInFleet(task: ShownTask, facts: FleetTaskFacts | undefined, at: string): ShownTask {
  if (facts === undefined) return task;
  const { state, status, runBy, finishedAt } = shownFleetTask(facts, at);
  return { ...task, state, status, runBy, finishedAt, stateFile: '', logDir: '' };
}
