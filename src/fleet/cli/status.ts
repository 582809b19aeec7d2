import { viewTask } from '../../cli/tasks/task-view.ts';
import { jsonText, standardOutlet } from '../../cli/terminal/outlet.ts';
import { terminalOf } from '../../cli/terminal/terminal-look.ts';
import type { Frame } from '../../cli/terminal/watch-view.ts';
import { inShownOrder, isLive } from '../../core/task/shown-task.ts';
import { taskPaths } from '../../effects/state/task-folder.ts';
import { readStateObject } from '../../effects/state/task-list.ts';
import type { TableOptions } from '../../report/screens/status.ts';
import type { TaskDetail } from '../../report/screens/task-detail.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import { concerns, type FleetWarning } from '../core/fleet-warnings.ts';
import {
  type FleetTaskDetail,
  fleetFields,
  fleetTaskDetail,
  fleetTaskJson,
  fleetTaskTable,
  type ShownFleetTask,
  shownFleetTask,
} from '../report/fleet-tasks.ts';
import { type TaskCopies, withTaskCopies } from '../worker/task-copy.ts';
import { framesOf, type ShowOptions } from './frames.ts';
import { type OpenFleet, requireTask } from './on-fleet.ts';
import { readPicture } from './overview.ts';

/** `ralph status [ID]` on a fleet: shows open tasks and those that ended last, or one task in detail. */
export async function fleetTasks(
  fleet: OpenFleet,
  taskId: string | undefined,
  options: ShowOptions,
): Promise<number> {
  const terminal = await terminalOf(process.stdout, process.env);
  const json = options.json ?? false;
  const frame =
    taskId === undefined
      ? () => listFrame(fleet, json, terminal())
      : taskFrames(fleet, taskId, json, terminal);
  return framesOf(frame, options.watch ?? false, standardOutlet());
}

/** How many open and how many ended tasks are listed: a fleet may have ten thousand. */
const OPEN_SHOWN = 100;
const ENDED_SHOWN = 10;

async function listFrame(fleet: OpenFleet, isJson: boolean, options: TableOptions): Promise<Frame> {
  const { queue } = fleet;
  const { view, warnings } = await readPicture(fleet);
  const tasks = (await listed(fleet)).map((facts) =>
    shownFleetTask(facts, view.at, warningsOf(facts, warnings)),
  );
  const inOrder = inShownOrder(tasks);
  const text = isJson
    ? jsonText(inOrder.map((task) => fleetTaskJson(queue.name, task)))
    : fleetTaskTable(queue.name, inOrder, options);
  const key = JSON.stringify(inOrder.map((task) => [task.facts, kindsOf(task)]));
  return { text, key, isLast: false };
}

function warningsOf(facts: FleetTaskFacts, all: readonly FleetWarning[]): readonly FleetWarning[] {
  return all.filter((warning) => concerns(warning, facts));
}

function kindsOf({ warnings }: ShownFleetTask): readonly string[] {
  return warnings.map(({ kind }) => kind);
}

/** Returns the running tasks, the newest open ones, and those that ended last. */
async function listed({ queue }: OpenFleet): Promise<readonly FleetTaskFacts[]> {
  const open = await queue.tasks({ open: true, limit: OPEN_SHOWN });
  const newest = await queue.tasks({ limit: OPEN_SHOWN });
  const ended = newest
    .filter(({ ended_at }) => ended_at !== null)
    .toSorted((one, other) => ((one.ended_at ?? '') < (other.ended_at ?? '') ? 1 : -1))
    .slice(0, ENDED_SHOWN);
  const tasks = new Map([...open, ...ended].map((task) => [task.spec.task_id, task]));
  // The oldest tasks are claimed first, so running tasks may be missing among the newest.
  for (const { running } of await queue.workers()) {
    for (const taskId of running) {
      const task = tasks.has(taskId) ? null : await queue.task(taskId);
      if (task !== null) tasks.set(taskId, task);
    }
  }
  return [...tasks.values()];
}

/** Returns a function that shows a task as it is now. It reads the task's stored state again only after a change. */
function taskFrames(
  fleet: OpenFleet,
  taskId: string,
  isJson: boolean,
  terminal: () => TableOptions,
): () => Promise<Frame> {
  let last: { readonly key: string; readonly seen: SeenTask } | null = null;
  return async () => {
    const facts = await requireTask(fleet, taskId);
    const key = JSON.stringify(facts);
    if (last?.key !== key) last = { key, seen: await seenTask(fleet, facts) };
    const { view, warnings } = await readPicture(fleet);
    const shown = shownFleetTask(facts, view.at, warningsOf(facts, warnings));
    const { seen } = last;
    const { name } = fleet.queue;
    const detail = { ...seen.detail, at: view.at };
    const text = isJson
      ? jsonText({ ...seen.state, ...NOWHERE, fleet: fleetFields(name, shown) })
      : fleetTaskDetail({ fleet: name, shown, snapshot: seen.snapshot, detail }, terminal());
    const isLast = !isLive(facts.status);
    return { text, key: JSON.stringify([key, kindsOf(shown)]), isLast };
  };
}

const NOWHERE = { state_file: null, log_dir: null } as const;

interface SeenTask {
  readonly detail: TaskDetail;
  readonly state: object;
  readonly snapshot: FleetTaskDetail['snapshot'];
}

async function seenTask({ queue }: OpenFleet, facts: FleetTaskFacts): Promise<SeenTask> {
  const kept = await queue.checkpoint(facts.spec.task_id);
  return withTaskCopies(async (copies) => {
    await copies.add(facts, kept);
    return {
      detail: detailOf(copies, facts),
      state: stateOf(copies, facts),
      snapshot: kept?.snapshot ?? null,
    };
  });
}

function detailOf(copies: TaskCopies, facts: FleetTaskFacts): TaskDetail {
  const detail = viewTask(copies, facts.spec.task_id);
  const { runBy, exitReason } = shownFleetTask(facts, detail.at);
  const state = facts.status;
  const wait = isLive(state) && runBy === null ? detail.task.wait : null;
  return { ...detail, shown: { ...detail.shown, state, status: state, runBy, exitReason, wait } };
}

function stateOf({ stateDir }: TaskCopies, { spec, status }: FleetTaskFacts): object {
  const { sum, ...fields } = readStateObject(taskPaths(stateDir, spec.task_id).stateFile) ?? {};
  return { ...fields, state: status, own: true };
}
