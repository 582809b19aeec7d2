import { closeSync, readSync } from 'node:fs';
import type { RalphEvent } from '../core/events.ts';
import { openRegular } from './bounded-read.ts';
import { journalLine } from './journal.ts';
import { parseObject, stringAt } from './json-fields.ts';

/** What was to be told just before a driver died stands at the journal's end, if it stands there at all. */
const TAIL_BYTES = 1024 * 1024;

/** Of the events of the last step that was saved, those that the journal does not hold. Never throws. */
export function untoldEvents(
  journal: string,
  events: readonly RalphEvent[],
): readonly RalphEvent[] {
  if (events.length === 0) return [];
  const told = new Set(lastLines(journal));
  return events.filter((event) => !told.has(journalLine(event)));
}

/** Whether the journal tells that a task has ended, at an instant or after it. Never throws. */
export function endIsTold(journal: string, taskId: string, finishedAt: string): boolean {
  return lastLines(journal).some((line) => {
    // Nearly all lines tell of something else, and need not be parsed.
    if (!line.includes(taskId) || !line.includes('"exit_code"')) return false;
    const event = parseObject(line);
    return (
      event !== null &&
      stringAt(event, 'task_id') === taskId &&
      stringAt(event, 'exit_reason') !== null &&
      (stringAt(event, 'at') ?? '') >= finishedAt
    );
  });
}

function lastLines(journal: string): readonly string[] {
  try {
    const { descriptor, size } = openRegular(journal, 0);
    try {
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      const length = readSync(descriptor, tail, 0, tail.length, size - tail.length);
      return tail.toString('utf8', 0, length).split('\n');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
}
