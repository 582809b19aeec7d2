import type { LogItem } from '../../core/agent/log-item.ts';
import { formatBytes, formatCost, plural } from '../format.ts';

/** Returns the line above an iteration's output. */
export function iterationHeader(number: number): string {
  return `── iteration ${number} ──\n`;
}

export const STDERR_HEADER = 'stderr:\n';

/** Returns the lines that show one item of a log. */
export function logText(item: LogItem): string {
  return `${words(item)}\n`;
}

function words(item: LogItem): string {
  switch (item.kind) {
    case 'text':
    case 'line':
      return item.text;
    case 'tool':
      return item.target === '' ? `> ${item.tool}` : `> ${item.tool}: ${item.target}`;
    case 'tool-error':
      return item.text === '' ? '! the tool failed' : `! ${item.text}`;
    case 'result':
      return `= ${[
        item.how,
        item.turns === null ? '' : plural(item.turns, 'turn'),
        item.costUsd === null ? '' : formatCost(item.costUsd),
      ]
        .filter((part) => part !== '')
        .join(', ')}`;
    case 'torn':
      return '[this line is incomplete]';
    case 'skipped':
      return `[a line of ${formatBytes(item.bytes)} was left out; --raw shows it]`;
  }
}

/** Returns the message for a task without output. */
export function noLogsYet(taskId: string): string {
  return `task ${taskId} has no output yet`;
}

/** Returns the message for an iteration without a log. `there` are the numbers of iterations that have one. */
export function noSuchIteration(taskId: string, number: number, there: readonly number[]): string {
  const [first, last] = [there[0], there.at(-1)];
  const range =
    first === undefined || last === undefined
      ? 'it has no output yet'
      : first === last
        ? `only iteration ${first} has one`
        : `iterations ${first} to ${last} have one`;
  return `Task ${taskId} has no log of iteration ${number}; ${range}.`;
}
