import { closeSync, writeSync } from 'node:fs';
import type { Activity, RalphEvent } from '../core/events.ts';
import { safeJson } from '../core/safe-json.ts';
import { monotonicMs } from './monotonic.ts';
import { openForAppend } from './task-folder.ts';

/** The append-only record of every event, one JSON object a line. */
export interface Journal {
  /** Whether one more thing that the agent does would be taken down. */
  hasRoom(kind: Activity['kind']): boolean;
  append(event: RalphEvent): void;
  close(): void;
}

/** An event as it stands in the journal. */
export function journalLine(event: RalphEvent): string {
  return safeJson(event);
}

/** What an agent says, and what it does: the logs have every byte of it. */
const WORDS = { burst: 50, perSecond: 5 };
const TOOLS = { burst: 1_000, perSecond: 100 };
/** More is not gathered: it would outlive the tidying up of short-lived objects, and memory grow. */
const GATHERED_CHARS = 8_000;

/** Room for a burst of events, and for so many a second from then on. */
function createAllowance({ burst, perSecond }: { burst: number; perSecond: number }) {
  let left = burst;
  let atMs = monotonicMs();
  const hasRoom = (): boolean => {
    const nowMs = monotonicMs();
    left = Math.min(burst, left + ((nowMs - atMs) / 1_000) * perSecond);
    atMs = nowMs;
    return left >= 1;
  };
  return {
    hasRoom,
    take(): boolean {
      if (!hasRoom()) return false;
      left -= 1;
      return true;
    },
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
  const words = createAllowance(WORDS);
  const tools = createAllowance(TOOLS);
  const roomFor = (kind: Activity['kind']) => (kind === 'tool' ? tools : words);

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
    hasRoom: (kind) => !broken && roomFor(kind).hasRoom(),
    append(event) {
      if (broken) return;
      const isActivity = event.event === 'agent_activity';
      if (isActivity && !roomFor(event.activity.kind).take()) return;
      gathered += `${journalLine(event)}\n`;
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
