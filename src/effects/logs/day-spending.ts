import {
  type DaySpending,
  type MoneyEvent,
  NOTHING_SPENT,
  type TaskSpending,
  withMoney,
} from '../../core/task/day-budget.ts';
import { ENDED_STATUSES, ENDINGS } from '../../core/task/endings.ts';
import { messageOf } from '../../errors.ts';
import { MB, readBytes, readPieces, withRegularFile } from '../files/bounded-read.ts';
import {
  amountAt,
  type JsonObject,
  numberAt,
  objectAt,
  parseObject,
  stringAt,
} from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { errorCode } from '../files/write-file.ts';
import { type LocalDay, localDay } from '../time/local-day.ts';

/** Counts what the tasks of a journal (the record of events) spent on the day of an ISO instant. Never throws. */
export type DayCounter = (now: string) => DaySpending;

/**
 * Creates a counter that reads only the current day of the journal. If the journal cannot be read, it warns once, and
 * returns the last amount counted on that day.
 */
export function createDayCounter(journal: string, warn: (sentence: string) => void): DayCounter {
  let last = { since: '', spentUsd: 0 };
  let hasWarned = false;
  return (now) => {
    const day = localDay(now);
    if (last.since !== day.since) last = { since: day.since, spentUsd: 0 };
    try {
      last.spentUsd = withRegularFile(journal, 0, (descriptor, size) =>
        spentOn(day, descriptor, size),
      );
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' && !hasWarned) {
        warn(dayNotCounted(journal, messageOf(error)));
        hasWarned = true;
      }
    }
    return { spentUsd: last.spentUsd, until: day.until };
  };
}

function spentOn(day: LocalDay, descriptor: number, size: number): number {
  const tasks = new Map<string, TaskSpending>();
  // An incomplete last line is left to the next call.
  const { push } = createLineSplitter({
    maxLineBytes: LINE_MAX_BYTES,
    onLine(line) {
      const told = readMoney(line, day);
      if (told === null) return;
      const { taskId, event } = told;
      tasks.set(taskId, withMoney(tasks.get(taskId) ?? NOTHING_SPENT, event));
    },
  });
  readPieces(descriptor, findDay(descriptor, size, day.since), size, push);
  return [...tasks.values()].reduce((sum, { endedUsd, openUsd }) => sum + endedUsd + openUsd, 0);
}

/** A final message of 1 MB is on one line, and escapes may make it six times as long. */
const LINE_MAX_BYTES = 8 * MB;
const PIECE_BYTES = MB;

/** A resumed task first writes events that its killed process left unwritten: at most this many, after newer ones. */
const LATE_AT_MOST = 40;

/**
 * Returns a position in the journal before the first event of the day. Searches from the end: the journal
 * may contain years. A piece with more than `LATE_AT_MOST` events, all from before the day, ends the search.
 */
function findDay(descriptor: number, size: number, since: string): number {
  for (let end = size; end > 0; ) {
    const at = Math.max(0, end - PIECE_BYTES);
    const text = readBytes(descriptor, end - at, at).toString('latin1');
    const instants = [...text.matchAll(/^\{"event":"\w+","at":"([^"]{1,40})"/gm)];
    if (instants.length > LATE_AT_MOST && instants.every(([, instant = '']) => instant < since)) {
      return at;
    }
    end = at;
  }
  return 0;
}

const ENDING_EVENTS: readonly string[] = ENDED_STATUSES.map((status) => ENDINGS[status].event);
const HEAD = /^\{"event":"(\w+)","at":"([^"]{1,40})"/;
const HEAD_BYTES = 120;

interface ToldMoney {
  readonly taskId: string;
  readonly event: MoneyEvent;
}

/** Returns what a line says about money on that day; null for nearly all lines. */
function readMoney(line: Buffer, { since, until }: LocalDay): ToldMoney | null {
  const [, name = '', at = ''] = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES)) ?? [];
  // Instants in the future, left by a clock that was wrong, would otherwise count on each day until then.
  if (at < since || at >= until) return null;
  if (!(MONEY_EVENTS.has(name) || ENDING_EVENTS.includes(name))) return null;
  const fields = parseObject(line.toString());
  const taskId = fields === null ? null : stringAt(fields, 'task_id');
  if (fields === null || taskId === null) return null;
  const event = moneyIn(name, fields);
  return event && { taskId, event };
}

const MONEY_EVENTS: ReadonlySet<string> = new Set([
  'task_started',
  'iteration_started',
  'task_iterated',
  'judged',
]);

function moneyIn(name: string, fields: JsonObject): MoneyEvent | null {
  switch (name) {
    case 'task_started':
      return { kind: 'task-started' };
    case 'task_iterated':
      return { kind: 'iterated', costUsd: amountAt(fields, 'cost_usd') };
    case 'judged':
      return { kind: 'judged', costUsd: amountAt(fields, 'cost_usd') };
  }
  const usage = objectAt(fields, 'usage');
  // The event of a request for an approval has no usage.
  if (usage === null) return null;
  const usedUsd = amountAt(usage, 'cost_usd');
  return name === 'iteration_started'
    ? { kind: 'attempt-started', attempt: numberAt(fields, 'attempt') ?? 1, usedUsd }
    : { kind: 'task-ended', usedUsd };
}

function dayNotCounted(journal: string, why: string): string {
  return `Cannot read ${journal} (${why}), so --max-cost-per-day counts only what could be read of today.`;
}
