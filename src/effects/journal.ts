import { closeSync, writeSync } from 'node:fs';
import type { RalphEvent } from '../core/events.ts';
import { openForAppend } from './task-folder.ts';

/** The append-only record of every event, one JSON object a line. */
export interface Journal {
  append(event: RalphEvent): void;
  close(): void;
}

/** Opens the journal at the first event. One `write` a line, so that two drivers do not mix lines. */
export function createJournal(file: string): Journal {
  let descriptor: number | null = null;
  let broken = false;
  return {
    append(event) {
      if (broken) return;
      try {
        descriptor ??= openForAppend(file);
        writeSync(descriptor, `${JSON.stringify(event)}\n`);
      } catch {
        // The state file meets the same trouble and says it; one sentence is enough.
        broken = true;
      }
    },
    close() {
      if (descriptor !== null) closeSync(descriptor);
      descriptor = null;
    },
  };
}
