import { closeSync, readSync } from 'node:fs';
import type { RalphEvent } from '../../core/machine/events.ts';
import { MB, openRegular } from '../files/bounded-read.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { journalLine } from './journal.ts';

/** What was told before a driver died may have other tasks' events behind it by now, but not so many. */
const SEARCHED_BYTES = 64 * MB;
const PIECE_BYTES = MB;

/** Of the events that were saved to be told, those that the journal does not hold. Never throws. */
export function untoldEvents(
  journal: string,
  events: readonly RalphEvent[],
): readonly RalphEvent[] {
  if (events.length === 0) return [];
  const untold = new Map(events.map((event) => [journalLine(event), event]));
  const lengths = new Set([...untold.keys()].map((line) => Buffer.byteLength(line)));
  readLastLines(journal, (line) => {
    // Nearly all lines are others, and need not be decoded.
    if (lengths.has(line.length)) untold.delete(line.toString());
  });
  return [...untold.values()];
}

/** Hands out the newest lines, piece by piece. A journal that cannot be read has none. */
function readLastLines(journal: string, onLine: (line: Buffer) => void): void {
  try {
    const { descriptor, size } = openRegular(journal, 0);
    try {
      const splitter = createLineSplitter({ onLine });
      // They take turns, since a line may go over from one to the next.
      let [piece, spare] = [Buffer.allocUnsafe(PIECE_BYTES), Buffer.allocUnsafe(PIECE_BYTES)];
      for (let at = Math.max(0, size - SEARCHED_BYTES); ; ) {
        const length = readSync(descriptor, piece, 0, PIECE_BYTES, at);
        if (length === 0) break;
        splitter.push(piece.subarray(0, length));
        at += length;
        [piece, spare] = [spare, piece];
      }
      splitter.end();
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // What is not known to have been told is told once more.
  }
}
