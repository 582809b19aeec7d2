import { closeSync, writeSync } from 'node:fs';
import type { RalphEvent } from '../core/events.ts';
import { openForAppend } from './task-folder.ts';

/** The append-only record of every event, one JSON object a line. */
export interface Journal {
  append(event: RalphEvent): void;
  close(): void;
}

const BURST = 50;
const PER_SECOND = 5;

/** Lets a burst of events through, and a few a second from then on. */
function createAllowance(): () => boolean {
  let left = BURST;
  let atMs = performance.now();
  return () => {
    const nowMs = performance.now();
    left = Math.min(BURST, left + ((nowMs - atMs) / 1_000) * PER_SECOND);
    atMs = nowMs;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** Opens the journal at the first event. One `write` a line, so that two drivers do not mix lines. */
export function createJournal(file: string): Journal {
  let descriptor: number | null = null;
  let broken = false;
  const mayTell = createAllowance();
  return {
    append(event) {
      if (broken) return;
      // An agent may say a thousand things a second; the logs have every byte of it.
      if (event.event === 'agent_activity' && event.activity.kind !== 'tool' && !mayTell()) return;
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
