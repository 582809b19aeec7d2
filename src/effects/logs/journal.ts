import { closeSync, fstatSync } from 'node:fs';
import type { Activity, RalphEvent } from '../../core/machine/events.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { appendLines, openForAppend } from '../files/append-lines.ts';
import { syncFile } from '../files/write-file.ts';
import { monotonicMs } from '../time/monotonic.ts';

/** The append-only record of every event, one JSON object per line. */
export interface Journal {
  /** Whether one more activity of the agent would be recorded. */
  hasRoom(kind: Activity['kind']): boolean;
  append(event: RalphEvent): void;
  /** Resolves once everything written so far would survive a power cut. Never rejects. */
  sync(): Promise<void>;
  close(): void;
}

/** Formats an event as a line of the journal. */
export function journalLine(event: RalphEvent): string {
  return safeJson(event);
}

/** Limit for the agent's texts in the journal; its logs contain all of them. */
const WORDS = { burst: 50, perSecond: 5 };
/** Limit for the agent's tool calls in the journal. */
const TOOLS = { burst: 1_000, perSecond: 100 };
/** Collected lines are written at this size, so that memory does not grow. */
const BUFFERED_CHARS = 8_000;
/** Events that could not be written wait for the next try: the newest, up to this size. */
const WAITING_CHARS = 200_000;

/** A rate limit: allows a burst of events, and then `perSecond` more each second. */
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
 * Creates a journal that opens its file at the first event. Each `write` holds whole lines, so that
 * two processes do not mix theirs. A failed write is reported once to `onFailure`, and tried again
 * with each further event. Activities are collected until the event loop turns; otherwise an agent
 * with fast output would cost one system call per tool.
 */
export function createJournal(file: string, onFailure: (error: unknown) => void): Journal {
  let descriptor: number | null = null;
  let hasFailed = false;
  let buffered = '';
  /** Complete lines, oldest first; empty unless a write has failed. */
  let waiting: readonly string[] = [];
  let isDurable = true;
  let turn: NodeJS.Immediate | undefined;
  const words = createAllowance(WORDS);
  const tools = createAllowance(TOOLS);
  const roomFor = (kind: Activity['kind']) => (kind === 'tool' ? tools : words);

  const flush = (): void => {
    clearImmediate(turn);
    turn = undefined;
    if (buffered !== '') waiting = [...waiting, buffered];
    buffered = '';
    try {
      for (const lines of waiting) {
        appendLines(opened(), lines);
        isDurable = false;
        waiting = waiting.slice(1);
      }
    } catch (error) {
      close();
      waiting = newest(waiting);
      const isFirst = !hasFailed;
      hasFailed = true;
      if (isFirst) onFailure(error);
    }
  };

  /** Returns the open file; opens a new one if it was deleted, since writes would be lost. */
  const opened = (): number => {
    if (descriptor !== null && fstatSync(descriptor).nlink === 0) close();
    descriptor ??= openForAppend(file);
    return descriptor;
  };

  const close = (): void => {
    const open = descriptor;
    descriptor = null;
    try {
      if (open !== null) closeSync(open);
    } catch {
      // A network file system may report an earlier failure only now; it is too late to act.
    }
  };

  return {
    hasRoom: (kind) => waiting.length === 0 && roomFor(kind).hasRoom(),
    append(event) {
      const isActivity = event.event === 'agent_activity';
      if (isActivity && (waiting.length > 0 || !roomFor(event.activity.kind).take())) return;
      buffered += `${journalLine(event)}\n`;
      if (!isActivity || buffered.length > BUFFERED_CHARS) flush();
      else turn ??= setImmediate(flush);
    },
    async sync() {
      if (isDurable) return;
      isDurable = true;
      // If the disk fails, saving the state file fails, too, and that failure is reported.
      await syncFile(file, null).catch(() => undefined);
    },
    close() {
      flush();
      close();
    },
  };
}

/** Drops the oldest lines until the rest fits. */
function newest(waiting: readonly string[]): readonly string[] {
  let chars = waiting.reduce((sum, { length }) => sum + length, 0);
  return waiting.filter(({ length }) => {
    const fits = chars <= WAITING_CHARS;
    if (!fits) chars -= length;
    return fits;
  });
}
