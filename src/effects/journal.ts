import { closeSync, fstatSync } from 'node:fs';
import type { Activity, RalphEvent } from '../core/events.ts';
import { safeJson } from '../core/safe-json.ts';
import { messageOf } from '../errors.ts';
import { appendLines } from './append-lines.ts';
import { monotonicMs } from './monotonic.ts';
import { openForAppend } from './task-folder.ts';
import { syncFile } from './write-file.ts';

/** The append-only record of every event, one JSON object a line. */
export interface Journal {
  /** Whether one more thing that the agent does would be taken down. */
  hasRoom(kind: Activity['kind']): boolean;
  append(event: RalphEvent): void;
  /** Resolves once a power cut takes nothing any more of what was written so far. Never rejects. */
  sync(): Promise<void>;
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
/** Events that could not be written wait for the next try, the newest of them up to so much. */
const WAITING_CHARS = 200_000;

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
 * Opens the journal at the first event. Whole lines a `write`, so that two drivers do not mix them. A write
 * that fails is said once through `warn`, and tried again with each further event.
 * What an agent is doing is gathered until the event loop turns: an agent whose output comes in at
 * once would cost a system call for each of its tools.
 */
export function createJournal(file: string, warn: (sentence: string) => void): Journal {
  let descriptor: number | null = null;
  let warned = false;
  let gathered = '';
  /** Whole lines, the oldest first; none but where a write has failed. */
  let waiting: readonly string[] = [];
  let isDurable = true;
  let turn: NodeJS.Immediate | undefined;
  const words = createAllowance(WORDS);
  const tools = createAllowance(TOOLS);
  const roomFor = (kind: Activity['kind']) => (kind === 'tool' ? tools : words);

  const flush = (): void => {
    clearImmediate(turn);
    turn = undefined;
    if (gathered !== '') waiting = [...waiting, gathered];
    gathered = '';
    try {
      for (const lines of waiting) {
        appendLines(opened(), lines);
        isDurable = false;
        waiting = waiting.slice(1);
      }
    } catch (error) {
      close();
      waiting = newest(waiting);
      if (!warned) warn(notWritten(file, error));
      warned = true;
    }
  };

  /** The agent may have deleted the folder: what is written to a file without a name is lost. */
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
      // A network's file system may tell an earlier failure only now: too late to do anything.
    }
  };

  return {
    hasRoom: (kind) => waiting.length === 0 && roomFor(kind).hasRoom(),
    append(event) {
      const isActivity = event.event === 'agent_activity';
      if (isActivity && (waiting.length > 0 || !roomFor(event.activity.kind).take())) return;
      gathered += `${journalLine(event)}\n`;
      if (!isActivity || gathered.length > GATHERED_CHARS) flush();
      else turn ??= setImmediate(flush);
    },
    async sync() {
      if (isDurable) return;
      isDurable = true;
      // A disk that fails here fails for the state, too, and there it is said.
      await syncFile(file, null).catch(() => undefined);
    },
    close() {
      flush();
      close();
    },
  };
}

/** Leaves out the oldest lines, until no more wait than may. */
function newest(waiting: readonly string[]): readonly string[] {
  let chars = waiting.reduce((sum, { length }) => sum + length, 0);
  return waiting.filter(({ length }) => {
    const fits = chars <= WAITING_CHARS;
    if (!fits) chars -= length;
    return fits;
  });
}

function notWritten(file: string, error: unknown): string {
  return `Events cannot be written to ${file} (${messageOf(error)}). ralph tries again with each further event; until then \`ralph report\` knows nothing of them.`;
}
