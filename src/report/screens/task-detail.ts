import type { DayBudget } from '../../core/task/day-budget.ts';
import type { ShownTask } from '../../core/task/shown-task.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { askedText } from '../../core/text/untrusted-text.ts';
import type { TaskPlace } from '../../printed-command.ts';
import { agentsText, costText, judgeText, untoldText } from '../agent-words.ts';
import { aligned, fitted, padded, wrapped } from '../columns.ts';
import { dayText } from '../day-text.ts';
import { furtherFindings, proofText } from '../ending-lines.ts';
import { formatCost, formatDuration, formatInstant, toldCost } from '../format.ts';
import { lookBackOf, ownBranchOf, ownBranchText } from '../look-back.ts';
import { plantedFiles, refusedLines, sandboxText } from '../sandbox-words.ts';
import { isForeign, NOT_YOURS, painted, type TableOptions, waitText } from './status.ts';

/** Everything that is shown about one task. Texts are free of control characters. */
export interface TaskDetail {
  readonly shown: ShownTask;
  readonly task: TaskState;
  /** The completion rule in words. */
  readonly completion: string;
  /** The cost limit in US dollars; null if there is none. */
  readonly maxCostUsd: number | null;
  /** The budget of the day that all tasks share; null if there is none. */
  readonly day: DayBudget | null;
  /** The current time, as an ISO instant. */
  readonly at: string;
  /** What a command needs to find the task. */
  readonly place: TaskPlace;
  /** Whether the task's own work tree is gone, so that nothing can be put back into it. */
  readonly isTreeGone: boolean;
  /** Set if this is a copy of a task on another machine, so that its folders here mean nothing. */
  readonly isElsewhere?: true;
}

const ERRORS_SHOWN = 5;
const GAP = '  ';

/** Shows a task in detail: what was asked, its progress, what is left, and its iterations. */
export function taskDetail(detail: TaskDetail, options: TableOptions): string {
  const lines = fieldLines(taskFields(detail, options.paint), options);
  return [...lines, '', ...iterationLines(detail, options.width)]
    .map((line) => `${line}\n`)
    .join('');
}

/** A label and its text; null if there is nothing to say. */
export type Field = readonly [name: string, text: string | null];

/** Returns the lines of fields: each label, with the text beside it. */
export function fieldLines(fields: readonly Field[], options: TableOptions): readonly string[] {
  return fields.flatMap(([name, text]) => field(name, text, options));
}

/** Returns what there is to say about a task besides its iterations. */
export function taskFields(
  detail: TaskDetail,
  paint: TableOptions['paint'] = null,
): readonly Field[] {
  const { shown, task, place } = detail;
  const { progress } = task;
  const { proof } = task.evidence ?? {};
  // `ralph diff`, `undo` and `land` refuse a task of another user, and do not find one on another machine.
  const isHere = !isForeign(shown) && detail.isElsewhere !== true;
  const back = isHere ? lookBackOf(task.git, place) : null;
  const branch = isHere ? ownBranchOf(task.git, place) : null;
  return [
    ['task', shown.taskId],
    ['state', painted(shown, shown.state, paint)],
    ['trust', isForeign(shown) ? `${NOT_YOURS}: ralph runs nothing from it without --trust` : null],
    ['asked', askedText(task.task_prompt).trim()],
    ['type', task.task_type === 'default' ? null : task.task_type],
    ['done when', detail.completion],
    ['iterations', iterationsOf(task, shown)],
    ['time', timeOf(detail)],
    ['cost', costOf(detail)],
    ['today', detail.day && dayText(detail.day)],
    ['agents', agentsText(task)],
    ['judge', task.judge === undefined ? null : judgeText(task.judge)],
    ['sandbox', sandboxText(task)],
    ...refusedLines(task).map((line): Field => ['refused', line]),
    ...plantedFiles(task).map((file): Field => ['planted', file]),
    ['waits', shown.wait === null ? null : waitText(shown.wait)],
    [
      'progress',
      progress === null
        ? null
        : `${progress.steps_completed} of ${progress.steps_total} steps (${progress.percentage}%)${progress.current_step === '' ? '' : `: ${progress.current_step}`}`,
    ],
    ['last', shown.last === null ? null : `"${shown.last}"`],
    ['reason', task.exit_reason],
    [
      'evidence',
      task.evidence === null
        ? null
        : `${task.evidence.kind.replaceAll('-', ' ')}: ${task.evidence.detail}${task.evidence.agent === undefined ? '' : ` (${task.evidence.agent})`}`,
    ],
    ['proof', proof === undefined ? null : proofText(proof)],
    ...furtherFindings(proof).map((finding): Field => ['finding', finding]),
    ...task.errors
      .slice(-ERRORS_SHOWN)
      .map(
        ({ at, iteration, agent, kind, message }): Field => [
          'error',
          `${formatInstant(at)} iteration ${iteration}, ${agent === undefined ? '' : `${agent}, `}${kind}: ${message}`,
        ],
      ),
    ['look', back?.diff ?? null],
    ['undo', back && !detail.isTreeGone ? back.undo : null],
    ['branch', branch && ownBranchText(branch)],
    ['land', branch?.land ?? null],
    ...(detail.isElsewhere === true ? [] : placesOf(detail)),
  ];
}

function placesOf({ shown, task, isTreeGone }: TaskDetail): readonly Field[] {
  return [
    ['work tree', isTreeGone ? 'gone' : (task.git.work_tree?.path ?? null)],
    ['run by', shown.runBy ?? (task.finished_at === null ? 'nobody' : null)],
    ['state file', shown.stateFile],
    ['logs', shown.logDir],
  ];
}

const NAME_COLUMNS = 10;
const UNCUT = new Set([
  ...['task', 'state', 'state file', 'logs'],
  ...['look', 'undo', 'branch', 'land', 'work tree'],
  ...['repository', 'snapshot', 'result'],
]);
const LINES_SHOWN = 4;

/** Returns the lines of a label and its wrapped text; none without a text. Paths stay whole, so they can be copied. */
function field(
  name: string,
  text: string | null,
  { width, paint }: TableOptions,
): readonly string[] {
  if (text === null || text === '') return [];
  const label = padded(name, NAME_COLUMNS);
  const heads = [paint === null ? label : paint.dim(label)];
  const lines = UNCUT.has(name)
    ? [text.replace(/\n/g, ' ')]
    : folded(text, Math.max(20, width - NAME_COLUMNS - GAP.length));
  return lines.map((line, index) => `${heads[index] ?? ' '.repeat(NAME_COLUMNS)}${GAP}${line}`);
}

function folded(text: string, columns: number): readonly string[] {
  const lines = wrapped(text.replace(/\s+/g, ' '), columns);
  const kept = lines.slice(0, LINES_SHOWN);
  if (lines.length > LINES_SHOWN) kept[LINES_SHOWN - 1] += ' …';
  return kept.map((line) => fitted(line, columns));
}

function iterationsOf(
  { metrics, max_iterations, current_iteration }: TaskState,
  { state }: ShownTask,
): string {
  const left = Math.max(0, max_iterations - metrics.iterations);
  const runs =
    state === 'running' && current_iteration > metrics.iterations
      ? `, iteration ${current_iteration} runs`
      : '';
  return `${metrics.iterations} of ${max_iterations} used, ${left} left${runs}`;
}

function timeOf({ shown, task, at }: TaskDetail): string {
  const started = `${formatDuration(shown.elapsedMs ?? 0)} since ${formatInstant(task.started_at)}`;
  if (task.finished_at !== null) return `${started}, ended ${formatInstant(task.finished_at)}`;
  const leftMs = Date.parse(task.timeout_at) - Date.parse(at);
  const left = leftMs > 0 ? `${formatDuration(leftMs)} left` : 'none left';
  return shown.runBy === null
    ? started
    : `${started}, ${left} until ${formatInstant(task.timeout_at)}`;
}

function costOf({ task, maxCostUsd }: TaskDetail): string {
  const used = task.usage.cost_usd;
  if (maxCostUsd === null) return `${toldCost(used)}${untoldText(task)}`;
  return `${formatCost(used)} of ${formatCost(maxCostUsd)} used, ${formatCost(Math.max(0, maxCostUsd - used))} left`;
}

function iterationLines({ task }: TaskDetail, width: number): readonly string[] {
  if (task.iterations.length === 0) return ['No iteration has ended yet.'];
  const left = task.metrics.iterations - task.iterations.length;
  const isOfSeveral = Object.keys(task.agents).length > 0;
  const agent = isOfSeveral ? ['AGENT'] : [];
  const rows = [
    ['#', ...agent, 'WHEN', 'TIME', 'OUTCOME', 'COST', 'FILES', 'FIRST WORDS'],
    ...task.iterations.map((record) => [
      String(record.number),
      ...(isOfSeveral ? [record.agent ?? '–'] : []),
      formatInstant(record.started_at).slice('2026-'.length).replace('T', ' '),
      formatDuration(record.duration_ms),
      record.near_miss ? `${record.outcome}, near miss` : record.outcome,
      costText(record),
      record.files_changed === null ? '–' : String(record.files_changed),
      record.output_preview,
    ]),
  ];
  const lines = aligned(rows).map((line) => fitted(line, width));
  return left > 0 ? [`The first ${left} iterations are not shown.`, ...lines] : lines;
}
