import type { ChalkInstance } from 'chalk';
import { rowOfState } from '../../core/task/endings.ts';
import type { ShownTask } from '../../core/task/shown-task.ts';
import type { Wait } from '../../core/task/task-state.ts';
import { ralphCommand, shellQuote } from '../../printed-command.ts';
import { aligned, columnsOf, fitted } from '../columns.ts';
import { formatDuration, formatInstant, toldCost } from '../format.ts';

/** The colours of the table; a chalk of level 0 leaves the text plain. */
export type Painter = Pick<ChalkInstance, 'bold' | 'dim' | 'green' | 'yellow' | 'red'>;

export interface TableOptions {
  /** The width of the terminal, in columns. */
  readonly width: number;
  readonly paint: Painter | null;
}

const HEADINGS = ['TASK', 'STATE', 'ITERATION', 'ELAPSED', 'COST', 'RUN BY'] as const;
const GAP = '  ';
const NOTHING = '–';

/**
 * Returns the table of tasks; `said` returns a text for the line below a task's row. If the table is too wide, RUN BY
 * moves to that line, or else each task becomes a block. Ids are cut last, since people copy them.
 */
export function statusTable<T extends ShownTask>(
  tasks: readonly T[],
  { width, paint }: TableOptions,
  said: (task: T) => string | null = vaultWords,
): string {
  const rows = [HEADINGS, ...tasks.map((task) => cellsOf(task, paint))];
  for (const columns of [HEADINGS.length, HEADINGS.length - 1]) {
    const [heading = '', ...lines] = aligned(rows.map((cells) => cells.slice(0, columns)));
    if ([heading, ...lines].some((line) => columnsOf(line) > width)) continue;
    const below = tasks.map((task) =>
      second([columns === HEADINGS.length ? null : task.runBy, said(task)], width, paint),
    );
    return [
      `${paint === null ? heading : paint.bold(heading)}\n`,
      ...lines.map((line, index) => `${line}\n${below[index] ?? ''}`),
    ].join('');
  }
  return tasks.map((task) => `${block(task, width)}${second([said(task)], width, paint)}`).join('');
}

function block(task: ShownTask, width: number): string {
  const [id = '', ...facts] = cellsOf(task, null).filter((cell) => cell !== NOTHING);
  return [id, ...facts.map((fact) => `${GAP}${fact}`)]
    .map((line) => `${fitted(line, width)}\n`)
    .join('');
}

/** Returns the line below a task's row; empty if there is nothing to say. */
function second(parts: readonly (string | null)[], width: number, paint: Painter | null): string {
  const text = parts.filter((part) => part !== null).join(' · ');
  if (text === '') return '';
  const line = fitted(`${GAP}${text}`, width);
  return `${paint === null ? line : paint.dim(line)}\n`;
}

function cellsOf(task: ShownTask, paint: Painter | null): readonly string[] {
  return [
    task.taskId,
    painted(task, task.state, paint),
    task.iteration === null ? NOTHING : `iteration ${task.iteration}/${task.maxIterations}`,
    task.elapsedMs === null ? NOTHING : formatDuration(task.elapsedMs),
    task.costUsd === null ? NOTHING : toldCost(task.costUsd),
    task.runBy ?? NOTHING,
  ];
}

/** Returns the words below a task's row: that it is not this user's, what it waits for, what was asked; or null. */
function vaultWords(task: ShownTask): string | null {
  const parts = [
    isForeign(task) ? NOT_YOURS : null,
    task.wait === null ? null : waitText(task.wait),
    task.asked === '' ? null : task.asked,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' · ');
}

/** The words for a task without a valid signature of this user. */
export const NOT_YOURS = 'not written by you here';

/** Whether another user wrote the task's state, or an older version of ralph, which did not sign states. */
export function isForeign({ isOwn, status }: ShownTask): boolean {
  // A state that cannot be read (without a status) is shown as unreadable instead.
  return !isOwn && status !== null;
}

const WAITS: Readonly<Record<Wait['kind'], string>> = {
  delay: 'pauses between iterations',
  'back-off': 'tries again',
  outage: "waits for the agent's service",
  recheck: 'tries again',
  'usage-limit': 'waits for the usage limit',
};

/** Says what a task waits for, and until when. */
export function waitText({ kind, until }: Wait): string {
  return `${WAITS[kind]}, until ${formatInstant(until)}`;
}

/** Returns a text in the colour of the task's state, or unchanged if `paint` is null. */
export function painted(task: ShownTask, text: string, paint: Painter | null): string {
  if (paint === null) return text;
  if (task.state === 'running' || task.state === 'pending') return paint.bold(text);
  return paint[COLOURS[rowOfState(task.state, null)?.needs ?? 'a person']](text);
}

const COLOURS = { nothing: 'green', 'a resume': 'yellow', 'a person': 'red' } as const;

/** Returns the line below the table that says how many tasks are not shown; empty for none. */
export function moreLine(count: number): string {
  return count === 0 ? '' : `… and ${count} more: ${ralphCommand('status', '--all')}\n`;
}

/** Returns the message for a state folder without tasks; `above` is a folder that has some, or null. */
export function noTasks(stateDir: string, above: string | null): string {
  if (above === null) return `no tasks in ${stateDir}; ralph run starts one`;
  return `no tasks in ${stateDir}, but some in ${above}: ${ralphCommand('status', '--vault', shellQuote(above))}`;
}

/** Returns a task as JSON. Durations are in seconds, money in US dollars. */
export function statusJson(task: ShownTask): object {
  return {
    task_id: task.taskId,
    state: task.state,
    status: task.status,
    iteration: task.iteration,
    max_iterations: task.maxIterations,
    started_at: task.startedAt,
    finished_at: task.finishedAt,
    elapsed_seconds: task.elapsedMs === null ? null : Math.round(task.elapsedMs / 100) / 10,
    cost_usd: task.costUsd,
    last: task.last,
    driver: task.driver,
    state_file: task.stateFile,
    log_dir: task.logDir,
    exit_reason: task.exitReason,
    sandbox: task.sandbox,
    own: task.isOwn,
  };
}
