import { existsSync } from 'node:fs';
import path from 'node:path';
import { standOfList } from '../../core/list/list-stand.ts';
import { isLive, type ShownTask } from '../../core/task/shown-task.ts';
import { readStateObject } from '../../effects/state/task-list.ts';
import { tasksAbove } from '../../effects/vault/vault-above.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import { dayJson, dayText } from '../../report/day-text.ts';
import { listStatusLine } from '../../report/screens/list.ts';
import {
  moreLine,
  noTasks,
  statusJson,
  statusTable,
  type TableOptions,
} from '../../report/screens/status.ts';
import { type TaskDetail, taskDetail } from '../../report/screens/task-detail.ts';
import {
  foldersOf,
  type StoreOptions,
  startFolder,
  type TaskFolders,
} from '../tasks/named-folders.ts';
import { shownTask } from '../tasks/named-task.ts';
import { viewTask, viewTasks } from '../tasks/task-view.ts';
import { jsonText, say, standardOutlet } from '../terminal/outlet.ts';
import { terminalOf } from '../terminal/terminal-look.ts';
import { type Frame, watchView } from '../terminal/watch-view.ts';

export interface StatusOptions extends StoreOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
  readonly all?: boolean;
}

/** `ralph status [ID]`: shows running, waiting and ended tasks. Changes nothing. */
export async function status(word: string | undefined, options: StatusOptions): Promise<number> {
  const done = ifOnFleet(options, async () => {
    const { fleetTasks } = await import('../../fleet/cli/status.ts');
    return (fleet) => fleetTasks(fleet, word, options);
  });
  if (done !== null) return done;
  const place = foldersOf(options);
  const { stateDir } = place;
  const taskId = word === undefined ? undefined : shownTask(word, place);
  const terminal = await terminalOf(process.stdout, process.env);
  const json = options.json ?? false;
  const frame = async (): Promise<Frame> =>
    taskId === undefined
      ? await listFrame(place, options, terminal())
      : taskFrame(viewTask(place, taskId), json, terminal());
  if (options.watch) return watchView(frame, process.stdout);
  const { text } = await frame();
  if (text === '') say(noTasks(stateDir, place.isNamed ? null : tasksAbove(place.vault)));
  await standardOutlet().write(text);
  return 0;
}

async function listFrame(
  place: TaskFolders,
  { json = false, all = false }: StatusOptions,
  options: TableOptions,
): Promise<Frame> {
  const { tasks, day, more } = viewTasks(place, all);
  const text = json
    ? jsonText(tasks.map(statusJson))
    : tasks.length === 0
      ? ''
      : `${statusTable(tasks, options)}${moreLine(more)}${day === null ? '' : `\ntoday: ${dayText(day)}\n`}`;
  const lists = json ? '' : await listLines(place);
  const gap = text === '' || lists === '' ? '' : '\n';
  return {
    text: `${text}${gap}${lists}`,
    key: `${keyOf(tasks)}${day?.spentUsd}${lists}`,
    isLast: false,
  };
}

/** Returns a line for each list that `ralph work` has worked on. If there is none, the code for lists is not loaded. */
async function listLines(place: TaskFolders): Promise<string> {
  if (!existsSync(path.join(place.stateDir, 'lists'))) return '';
  const { knownLists } = await import('../../compose/lists/list-keeper.ts');
  return knownLists(place)
    .map((known) => `${listStatusLine(standOfList(known, startFolder()))}\n`)
    .join('');
}

function taskFrame(detail: TaskDetail, json: boolean, options: TableOptions): Frame {
  const { shown, task } = detail;
  const text = json ? jsonText(wholeState(detail)) : taskDetail(detail, options);
  return {
    text,
    key: `${keyOf([shown])}${task.updated_at}${detail.day?.spentUsd}`,
    isLast: !isLive(shown.state),
  };
}

/** Returns everything in the state file, even fields that this version does not know. */
function wholeState({ shown, task, day }: TaskDetail): object {
  const { state, stateFile, logDir, isOwn } = shown;
  const { progress } = task;
  const { sum, ...fields } = readStateObject(stateFile) ?? {};
  const places = { state_file: stateFile, log_dir: logDir };
  const budget = day === null ? {} : { day: dayJson(day) };
  return { ...fields, progress, state, ...places, own: isOwn, ...budget };
}

function keyOf(tasks: readonly ShownTask[]): string {
  return JSON.stringify(tasks.map((task) => ({ ...task, elapsedMs: null, driver: null })));
}
