import { isLive, type ShownTask } from '../../core/task/shown-task.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { readStateObject } from '../../effects/state/task-list.ts';
import { dayJson, dayText } from '../../report/day-text.ts';
import {
  noTasks,
  statusJson,
  statusTable,
  type TableOptions,
} from '../../report/screens/status.ts';
import { type TaskDetail, taskDetail } from '../../report/screens/task-detail.ts';
import { type FolderOptions, foldersOf, type TaskFolders } from '../tasks/named-folders.ts';
import { viewTask, viewTasks } from '../tasks/task-view.ts';
import { say, standardOutlet } from '../terminal/outlet.ts';
import { type Frame, watchView } from '../terminal/watch-view.ts';

export interface StatusOptions extends FolderOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** `ralph status [ID]`: shows running, waiting and ended tasks. Changes nothing. */
export async function status(taskId: string | undefined, options: StatusOptions): Promise<number> {
  const place = foldersOf(options);
  const { stateDir } = place;
  const terminal = await terminalOf(process.stdout, process.env);
  const json = options.json ?? false;
  const addLines = lineCounter();
  const frame = async (): Promise<Frame> =>
    taskId === undefined
      ? listFrame(place, json, terminal())
      : taskFrame(await addLines(viewTask(place, taskId)), json, terminal());
  if (options.watch) return watchView(frame, process.stdout);
  const { text } = await frame();
  if (text === '') say(noTasks(stateDir));
  await standardOutlet().write(text);
  return 0;
}

function listFrame(place: TaskFolders, json: boolean, options: TableOptions): Frame {
  const { tasks, day } = viewTasks(place);
  const text = json
    ? jsonText(tasks.map(statusJson))
    : tasks.length === 0
      ? ''
      : `${statusTable(tasks, options)}${day === null ? '' : `\ntoday: ${dayText(day)}\n`}`;
  return { text, key: `${keyOf(tasks)}${day?.spentUsd}`, isLast: false };
}

/** Returns a function that adds the lines of each iteration. It counts again only after a further iteration. */
function lineCounter(): (detail: TaskDetail) => Promise<TaskDetail> {
  let counted: Pick<TaskDetail, 'task' | 'lines'> | null = null;
  return async (detail) => {
    const { shown, task } = detail;
    if (!shown.isOwn || task.git.snapshots === null) return detail;
    if (counted?.task.metrics.iterations !== task.metrics.iterations) {
      const { linesByIteration } = await import('../../compose/git-commands/iteration-lines.ts');
      counted = { task, lines: await linesByIteration(task, shown.logDir, process.env) };
    }
    return { ...detail, lines: counted.lines };
  };
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

/** Returns everything in the state file, also fields that this version does not know. */
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

function jsonText(value: unknown): string {
  return `${safeJson(withoutControlsIn(value), 2)}\n`;
}

/** The width for a terminal that reports none, or less than `NARROWEST_COLUMNS`. */
const USUAL_COLUMNS = 80;
const NARROWEST_COLUMNS = 20;

/** Returns a function that returns the current width and colours. Loads the colour package only if needed. */
async function terminalOf(
  stream: NodeJS.WriteStream,
  env: NodeJS.ProcessEnv,
): Promise<() => TableOptions> {
  const isColored = stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint = isColored ? new (await import('chalk')).Chalk({ level: 1 }) : null;
  return () => {
    const columns = stream.isTTY ? stream.columns : 0;
    return { width: columns >= NARROWEST_COLUMNS ? columns : USUAL_COLUMNS, paint };
  };
}
