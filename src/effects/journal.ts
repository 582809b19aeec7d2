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
/** More is not gathered: it would outlive the tidying up of short-lived objects, and memory grow. */
const GATHERED_CHARS = 8_000;

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

/**
 * Opens the journal at the first event. Whole lines a `write`, so that two drivers do not mix them.
 * What an agent is doing is gathered until the event loop turns: an agent whose output comes in at
 * once would cost a system call for each of its tools.
 */
export function createJournal(file: string): Journal {
  let descriptor: number | null = null;
  let broken = false;
  let gathered = '';
  let turn: NodeJS.Immediate | undefined;
  const mayTell = createAllowance();

  const flush = (): void => {
    clearImmediate(turn);
    turn = undefined;
    const lines = gathered;
    gathered = '';
    if (broken || lines === '') return;
    try {
      descriptor ??= openForAppend(file);
      writeSync(descriptor, lines);
    } catch {
      // The state file meets the same trouble and says it; one sentence is enough.
      broken = true;
    }
  };

  return {
    append(event) {
      if (broken) return;
      const isActivity = event.event === 'agent_activity';
      // An agent may say a thousand things a second; the logs have every byte of it.
      if (isActivity && event.activity.kind !== 'tool' && !mayTell()) return;
      gathered += `${JSON.stringify(event)}\n`;
      if (!isActivity || gathered.length > GATHERED_CHARS) flush();
      else turn ??= setImmediate(flush);
    },
    close() {
      flush();
      if (descriptor !== null) closeSync(descriptor);
      descriptor = null;
    },
  };
}
