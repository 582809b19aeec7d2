import { type TaskCopies, withTaskCopies } from '../../compose/fleet/task-copy.ts';
import type { FleetTaskFacts } from '../../core/fleet/fleet-task.ts';
import { inShownOrder, isLive } from '../../core/task/shown-task.ts';
import { taskPaths } from '../../effects/state/task-folder.ts';
import { readStateObject } from '../../effects/state/task-list.ts';
import {
  type FleetTaskDetail,
  fleetFields,
  fleetTaskDetail,
  fleetTaskJson,
  fleetTaskTable,
  shownFleetTask,
} from '../../report/screens/fleet-tasks.ts';
import type { TableOptions } from '../../report/screens/status.ts';
import type { TaskDetail } from '../../report/screens/task-detail.ts';
import { viewTask } from '../tasks/task-view.ts';
import { jsonText, standardOutlet } from '../terminal/outlet.ts';
import { terminalOf } from '../terminal/terminal-look.ts';
import type { Frame } from '../terminal/watch-view.ts';
import { framesOf } from './frames.ts';
import { type OpenFleet, requireTask } from './on-fleet.ts';

/** How a fleet is shown. */
export interface ShowOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** `ralph status [ID]` on a fleet: shows its open tasks and those that ended last, or one in detail. */
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

/** How many tasks of each kind are listed: a fleet may have ten thousand. */
const OPEN_SHOWN = 100;
const ENDED_SHOWN = 10;

async function listFrame(fleet: OpenFleet, isJson: boolean, options: TableOptions): Promise<Frame> {
  const { queue } = fleet;
  const at = await queue.readClock();
  const inOrder = inShownOrder((await listed(fleet)).map((facts) => shownFleetTask(facts, at)));
  const text = isJson
    ? jsonText(inOrder.map((task) => fleetTaskJson(queue.name, task)))
    : fleetTaskTable(queue.name, inOrder, options);
  return { text, key: JSON.stringify(inOrder.map(({ facts }) => facts)), isLast: false };
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
  // The oldest are claimed first, so what runs need not be among the newest.
  for (const { running } of await queue.workers()) {
    for (const taskId of running) {
      const task = tasks.has(taskId) ? null : await queue.task(taskId);
      if (task !== null) tasks.set(taskId, task);
    }
  }
  return [...tasks.values()];
}

/** Returns a function that shows a task as it is now. It reads the checkpoint again only after a change. */
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
    const at = await fleet.queue.readClock();
    const { seen } = last;
    const { name } = fleet.queue;
    const text = isJson
      ? jsonText({ ...seen.state, ...NOWHERE, fleet: fleetFields(name, facts) })
      : fleetTaskDetail(
          { fleet: name, facts, snapshot: seen.snapshot, detail: { ...seen.detail, at } },
          terminal(),
        );
    return { text, key, isLast: !isLive(facts.status) };
  };
}

const NOWHERE = { state_file: null, log_dir: null } as const;

interface SeenTask {
  readonly detail: TaskDetail;
  /** The fields of its state, as JSON. */
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
