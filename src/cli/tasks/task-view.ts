import { existsSync } from 'node:fs';
import { doneWhen } from '../../core/completion/conditions/conditions.ts';
import { progressOf } from '../../core/completion/progress-report.ts';
import { storedPolicy } from '../../core/policy/policy-of.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import type { DayBudget } from '../../core/task/day-budget.ts';
import type { Here } from '../../core/task/driver.ts';
import {
  inShownOrder,
  isLive,
  type ShownTask,
  showBroken,
  showTask,
} from '../../core/task/shown-task.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { withoutControls, withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { thisPlace } from '../../effects/lock/driver-identity.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import { pendingProgress } from '../../effects/state/requests.ts';
import {
  countEnded,
  findTaskEntry,
  listTasks,
  listTasksSince,
  type TaskEntry,
} from '../../effects/state/task-list.ts';
import { keyFlag } from '../../effects/trust/key.ts';
import { type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import type { TaskDetail } from '../../report/screens/task-detail.ts';
import { dayOf, dayOfAll } from './day-view.ts';
import { requireState } from './find-task.ts';
import type { TaskFolders } from './named-folders.ts';
import { unknownTask } from './unknown-task.ts';

const ENDED_SHOWN = 10;

interface TasksView {
  /** In display order. */
  readonly tasks: readonly ShownTask[];
  /** The daily budget; null if no open or recent task has one. */
  readonly day: DayBudget | null;
  /** How many ended tasks are not in `tasks`. */
  readonly more: number;
}

/** Returns the open tasks of a state folder, and its newest ended tasks (with `all`, every one). */
export function viewTasks(place: SealedPlace, all = false): TasksView {
  const at = new Date().toISOString();
  const { stateDir } = place;
  const seal = sealAt(place);
  const { open, ended } = all
    ? listTasksSince(stateDir, 0, seal)
    : listTasks(stateDir, ENDED_SHOWN, seal);
  const entries = [...open, ...ended];
  return {
    tasks: inShownOrder(entries.map((entry) => shownOf(entry, thisPlace(at)))),
    day: dayOfAll(entries, stateDir, at),
    more: ended.length < ENDED_SHOWN || all ? 0 : countEnded(stateDir) - ended.length,
  };
}

/** Returns one task in detail. Throws if there is no such task, or if its state cannot be read. */
export function viewTask(place: TaskFolders, taskId: string): TaskDetail {
  const { stateDir } = place;
  const at = new Date().toISOString();
  const entry = findTaskEntry(stateDir, taskId, sealAt(place));
  if (entry === null) throw unknownTask(taskId, stateDir);
  const { state } = requireState(entry);
  const settings = readStoredRun(entry.folder)?.settings;
  const { work_tree: workTree } = state.git;
  return {
    shown: shownOf(entry, thisPlace(at)),
    task: withoutControlsIn(upToDate(state, entry)),
    completion: completionOf(entry),
    maxCostUsd: settings?.maxCost ?? null,
    day: dayOf(settings?.maxCostPerDay ?? null, stateDir, at),
    at,
    place: { ...place, taskId: entry.name, keyFlag: keyFlag(place.keyFile, process.env) },
    isTreeGone: workTree !== null && !existsSync(workTree.path),
  };
}

/** Returns the completion rule of a task in words; empty if its state file cannot be read. */
export function completionOf({ found, folder }: TaskEntry): string {
  if (found.kind !== 'task') return '';
  const stored = readStoredRun(folder) ?? resolveSettings([]);
  return withoutControls(doneWhen(storedPolicy(found.state, stored)));
}

/** Returns a task as it is shown, even if its state file cannot be read. */
export function shownOf(entry: TaskEntry, here: Here): ShownTask {
  const { name, stateFile, folder, archived, found } = entry;
  const isOwn = found.kind === 'task' && found.isOwn;
  const places = { taskId: name, stateFile, logDir: folder, archived, isOwn };
  switch (found.kind) {
    case 'task':
      return showTask(upToDate(found.state, entry), places, here);
    case 'too-new':
      return showBroken('newer ralph', places);
    default:
      return showBroken(found.kind, places);
  }
}

/** Adds the progress that was reported since the state was last saved. */
function upToDate(task: TaskState, { folder, archived }: TaskEntry): TaskState {
  const report = archived || !isLive(task.status) ? null : pendingProgress(folder);
  return report === null ? task : { ...task, progress: progressOf(report) };
}
