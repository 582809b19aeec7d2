import { closeSync, writeSync } from 'node:fs';
import type { RalphEvent } from '../core/events.ts';
import { openForAppend } from './task-folder.ts';

/** The append-only record of every event, one JSON object a line. */
export interface Journal {
  append(event: RalphEvent): void;
  close(): void;
}

/** So often at most what the agent says or thinks is noted. */
const ACTIVITY_EVERY_MS = 1_000;

/** Opens the journal at the first event. One `write` a line, so that two drivers do not mix lines. */
export function createJournal(file: string): Journal {
  let descriptor: number | null = null;
  let broken = false;
  let activityAtMs = Number.NEGATIVE_INFINITY;
  return {
    append(event) {
      if (broken) return;
      // An agent may say a thousand things a second; the logs have every byte of it.
      if (event.event === 'agent_activity' && event.activity.kind !== 'tool') {
        if (performance.now() - activityAtMs < ACTIVITY_EVERY_MS) return;
        activityAtMs = performance.now();
      }
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
