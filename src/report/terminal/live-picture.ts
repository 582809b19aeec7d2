import type { ChalkInstance } from 'chalk';
import { columnsOf, fitted } from '../columns.ts';
import { formatClock, formatCost, formatCountdown, plural } from '../format.ts';

/** The progress of a task, as the live display shows it. */
export interface LiveFacts {
  readonly iteration: number;
  readonly maxIterations: number;
  readonly attempt: number;
  /** The agent at work; null in a task with only one agent. */
  readonly agent: string | null;
  readonly subAgents: number;
  readonly elapsedMs: number;
  /** Milliseconds left until the time limit of the whole task; null until the limit is known. */
  readonly leftMs: number | null;
  readonly costUsd: number;
  readonly now: string;
  readonly tick: number;
}

/** The characters of the live display. */
export interface Signs {
  readonly spinner: readonly string[];
  /** The bar's characters for done, in progress and remaining. */
  readonly bar: readonly [string, string, string];
  readonly done: string;
  readonly failed: string;
  readonly dot: string;
}

const SIGNS: Signs = {
  spinner: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'],
  bar: ['█', '▒', '░'],
  done: '✔',
  failed: '✘',
  dot: '•',
};
/** The signs for the Linux console, whose font lacks those above. */
const PLAIN_SIGNS: Signs = {
  spinner: [...'|/-\\'],
  bar: ['#', '+', '.'],
  done: '+',
  failed: 'x',
  dot: '*',
};

export function signsFor(term: string | undefined): Signs {
  return term === 'linux' ? PLAIN_SIGNS : SIGNS;
}

/** The widths that the bar can have; the widest that fits is used. */
const BARS = [20, 10, 5] as const;
/** The spinner takes two columns. The last one stays free, since some terminals wrap a line that fills it. */
const MARK_AND_FREE = 3;

/** Returns the part of the live display that is redrawn, for a terminal of the given size. */
export function pictureOf(
  facts: LiveFacts,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  signs: Signs,
  colors: ChalkInstance,
): readonly string[] {
  const { spinner } = signs;
  const mark = colors.yellow(spinner[facts.tick % spinner.length] ?? ' ');
  const lines = [`${mark} ${standing(facts, columns - MARK_AND_FREE, signs, colors)}`];
  if (rows > 2) lines.push(`  ${colors.dim(fitted(facts.now, columns - MARK_AND_FREE))}`);
  return lines;
}

function standing(facts: LiveFacts, columns: number, signs: Signs, colors: ChalkInstance): string {
  const { attempt, agent, subAgents, leftMs, costUsd } = facts;
  const head = `iteration ${facts.iteration}/${facts.maxIterations}${agent === null ? '' : ` ${agent}`}${attempt > 1 ? `, attempt ${attempt}` : ''}${subAgents > 0 ? `, ${plural(subAgents, 'sub-agent')}` : ''}`;
  const elapsed = formatClock(facts.elapsedMs);
  const left = leftMs === null ? [] : [`${formatCountdown(leftMs)} left`];
  const cost = costUsd > 0 ? [formatCost(costUsd)] : [];
  for (const parts of [[elapsed, ...left, ...cost], [elapsed, ...cost], cost]) {
    const text = parts.join(' · ');
    const free = columns - columnsOf(head) - columnsOf(text) - 4;
    const width = BARS.find((each) => each <= free);
    if (width !== undefined) return `${head}  ${bar(facts, width, signs, colors)}  ${text}`;
    if (free >= -2) return `${head}  ${text}`;
  }
  return fitted(head, columns);
}

function bar(
  { iteration, maxIterations }: LiveFacts,
  width: number,
  signs: Signs,
  colors: ChalkInstance,
): string {
  const upTo = (iterations: number): number =>
    Math.min(width, Math.round((width * iterations) / Math.max(1, maxIterations)));
  const done = Math.min(upTo(iteration - 1), width - 1);
  const working = Math.max(1, upTo(iteration) - done);
  const [full, half, empty] = signs.bar;
  return [
    colors.green(full.repeat(done)),
    colors.yellow(half.repeat(working)),
    colors.dim(empty.repeat(Math.max(0, width - done - working))),
  ].join('');
}
