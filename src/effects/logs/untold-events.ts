import type { RalphEvent } from '../../core/machine/events.ts';
import { MB, readPieces, withRegularFile } from '../files/bounded-read.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { journalLine } from './journal.ts';

/** Only this much of the end of the journal (of events) is searched: less was written since the task's process died. */
const SEARCHED_BYTES = 64 * MB;

/** Returns the events of a task's last saved step that are missing from the journal. Never throws. */
export function untoldEvents(
  journal: string,
  events: readonly RalphEvent[],
): readonly RalphEvent[] {
  if (events.length === 0) return [];
  const untold = new Map(events.map((event) => [journalLine(event), event]));
  const lengths = new Set([...untold.keys()].map((line) => Buffer.byteLength(line)));
  readLastLines(journal, (line) => {
    // Nearly all lines have another length and need not be decoded.
    if (lengths.has(line.length)) untold.delete(line.toString());
  });
  return [...untold.values()];
}

/** Passes the journal's newest lines to `onLine`; none if the journal cannot be read. */
function readLastLines(journal: string, onLine: (line: Buffer) => void): void {
  try {
    withRegularFile(journal, 0, (descriptor, size) => {
      const splitter = createLineSplitter({ onLine });
      readPieces(descriptor, Math.max(0, size - SEARCHED_BYTES), size, splitter.push);
      splitter.end();
    });
  } catch {
    // Then all events of the step count as missing, and are published again.
  }
}
