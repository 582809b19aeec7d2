import { existsSync } from 'node:fs';
import { conditionSettings } from '../../core/completion/conditions/conditions.ts';
import { progressOf } from '../../core/completion/progress-report.ts';
import { settingsIn } from '../../core/policy/policy-of.ts';
import { writeCheck } from '../../core/settings/checks.ts';
import { SETTINGS } from '../../core/settings/settings.ts';
import type { DayBudget } from '../../core/task/day-budget.ts';
import type { Here } from '../../core/task/driver.ts';
import {
  inShownOrder,
  isLive,
  type ShownTask,
  showBroken,
  showTask,
} from '../../core/task/shown-task.ts';
import type { Evidence, TaskState } from '../../core/task/task-state.ts';
import { oneLine, withoutControls } from '../../core/text/untrusted-text.ts';
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
import { StateTooNewError } from '../../errors.ts';
import type { TaskDetail } from '../../report/screens/task-detail.ts';
import { StateCorruptedError } from '../../task-errors.ts';
import { dayOf, dayOfAll } from './day-view.ts';
import type { TaskFolders } from './named-folders.ts';
import { unknownTask } from './unknown-task.ts';

/** How many tasks of the history are shown. */
const ENDED_SHOWN = 10;

/** What `ralph status` shows of a state folder. */
interface TasksView {
  /** In display order. */
  readonly tasks: readonly ShownTask[];
  /** The budget of the day; null if no open or recent task has one. */
  readonly day: DayBudget | null;
  /** How many ended tasks are not among them. */
  readonly more: number;
}

/**
 * Returns the open tasks of a state folder and the newest that ended, or all that ended, and what was spent today if a
 * limit holds for the day.
 */
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

/**
 * Returns one task in detail, without the lines that its iterations changed. Throws `TaskNotFoundError`, or `StateTooNewError` or `StateCorruptedError` if
 * the state cannot be read.
 */
export function viewTask(place: TaskFolders, taskId: string): TaskDetail {
  const { stateDir } = place;
  const at = new Date().toISOString();
  const entry = findTaskEntry(stateDir, taskId, sealAt(place));
  if (entry === null) throw unknownTask(taskId, stateDir);
  const { found, stateFile } = entry;
  if (found.kind === 'too-new') throw new StateTooNewError(stateFile, found.version);
  if (found.kind !== 'task') {
    const why = found.kind === 'corrupt' ? 'not a ralph state file' : 'not readable';
    throw new StateCorruptedError(taskId, stateFile, why);
  }
  const settings = readStoredRun(entry.folder)?.settings;
  const inState = settingsIn(found.state);
  const { work_tree: workTree } = found.state.git;
  const names = [...conditionSettings().filter((name) => !(name in inState)), ...GATE_SETTINGS];
  return {
    shown: shownOf(entry, thisPlace(at)),
    task: withoutControlsIn(upToDate(found.state, entry)),
    conditions: [
      ...names.flatMap((name) => conditionText(SETTINGS[name].flag, settings?.[name])),
      ...conditionText(SETTINGS.verify.flag, settings?.verify.map(writeCheck)),
    ],
    maxCostUsd: settings?.maxCost ?? null,
    day: dayOf(settings?.maxCostPerDay ?? null, stateDir, at),
    at,
    place: { ...place, taskId: entry.name, keyFlag: keyFlag(place.keyFile, process.env) },
    lines: {},
    isTreeGone: workTree !== null && !existsSync(workTree.path),
  };
}

/** The settings of the gates that a claim of completion has to pass. The state does not contain them. */
const GATE_SETTINGS = ['confirm', 'minIterations', 'protect', 'abortPromise'] as const;

function conditionText(flag: string, value: unknown): readonly string[] {
  if (typeof value === 'number') return value > 1 ? [`${flag} ${value}`] : [];
  const texts = Array.isArray(value) ? value : [value];
  return texts
    .filter((text) => typeof text === 'string')
    .map((text) => `${flag} '${oneLine(text, 200)}'`);
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

/** Adds the progress reported since the driver last saved the state. */
function upToDate(task: TaskState, { folder, archived }: TaskEntry): TaskState {
  const report = archived || !isLive(task.status) ? null : pendingProgress(folder);
  return report === null ? task : { ...task, progress: progressOf(report) };
}

/** Removes control characters, since anybody may have edited the state and it is shown on a terminal. */
function withoutControlsIn(task: TaskState): TaskState {
  const line = (text: string): string => oneLine(text, 1_000);
  const tree = task.git.work_tree;
  return {
    ...task,
    task_prompt: withoutControls(task.task_prompt),
    task_type: line(task.task_type),
    completion_promise: task.completion_promise === null ? null : line(task.completion_promise),
    watch_glob: task.watch_glob.map(line),
    watch_file: task.watch_file === null ? null : line(task.watch_file),
    done_folder: line(task.done_folder),
    exit_reason: task.exit_reason === null ? null : line(task.exit_reason),
    evidence: task.evidence && evidenceInLines(task.evidence, line),
    progress:
      task.progress === null
        ? null
        : { ...task.progress, current_step: line(task.progress.current_step) },
    git: {
      ...task.git,
      work_tree: tree && {
        ...tree,
        path: line(tree.path),
        branch: line(tree.branch),
        onto: tree.onto === null ? null : line(tree.onto),
      },
    },
    errors: task.errors.map((error) => ({
      ...error,
      kind: line(error.kind),
      message: line(error.message),
    })),
    iterations: task.iterations.map((record) => ({
      ...record,
      outcome: line(record.outcome),
      output_preview: line(record.output_preview),
    })),
  };
}

function evidenceInLines(evidence: Evidence, line: (text: string) => string): Evidence {
  const { detail, proof } = evidence;
  const shown = { ...evidence, detail: line(detail) };
  if (proof === undefined) return shown;
  const { text, findings } = proof;
  return { ...shown, proof: { ...proof, text: line(text), findings: findings.map(line) } };
}
