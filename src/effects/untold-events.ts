import { closeSync, readSync } from 'node:fs';
import type { RalphEvent } from '../core/events.ts';
import { openRegular } from './bounded-read.ts';
import { journalLine } from './journal.ts';

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
