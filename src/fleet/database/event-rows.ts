import { randomUUID } from 'node:crypto';
import type { RalphEvent } from '../../core/machine/events.ts';
import type { NumberedEvent } from './fleet-queue.ts';
import type { SqlRunner } from './load-engine.ts';

/** Most bytes of an event; longer texts in it are cut. */
const EVENT_BYTES = 8_192;
/** To how many characters texts are cut, in turn, until the event fits. */
const CUTS = [2_000, 500, 100, 20];

/**
 * The ids of events, so that a write whose answer got lost can be repeated: the same event is stored once, whether or
 * not the first write came through.
 */
export type EventIds = WeakMap<RalphEvent, string>;

/** The claim of which events are. */
interface EventWriter {
  readonly task_id: string;
  readonly worker: string | null;
  readonly host: string | null;
  readonly fence: number;
}

/** Writes events in order. What the agent does at each moment is left out: the log of its iteration has that. */
export async function insertEvents(
  tx: SqlRunner,
  ids: EventIds,
  { task_id, worker, host, fence }: EventWriter,
  events: readonly RalphEvent[],
): Promise<void> {
  const rows = events
    .filter(({ event }) => event !== 'agent_activity')
    .map((event) => ({ id: idOf(ids, event), body: bounded(event) }));
  if (rows.length === 0) return;
  await tx.executeSql(
    `insert into ralph.event (task_id, id, worker, host, fence, body)
     select $1, id, $3, $4, $5, body::json from json_to_recordset($2) as x (id uuid, body text)
     on conflict (task_id, id) do nothing`,
    [task_id, JSON.stringify(rows), worker, host, fence],
  );
}

/** Returns the event of a row. */
export function eventOfRow(row: {
  number: string;
  worker: string | null;
  host: string | null;
  fence: number | null;
  body: RalphEvent;
}): NumberedEvent {
  return {
    number: Number(row.number),
    event: {
      ...row.body,
      ...(row.worker === null ? {} : { worker: row.worker }),
      ...(row.host === null ? {} : { host: row.host }),
      ...(row.fence === null ? {} : { fence: row.fence }),
    },
  };
}

function idOf(ids: EventIds, event: RalphEvent): string {
  const id = ids.get(event) ?? randomUUID();
  ids.set(event, id);
  return id;
}

/** Returns the event as JSON of at most 8 KB, with its longest texts cut if it is longer. */
export function bounded(event: RalphEvent): string {
  let text = JSON.stringify(event);
  for (const most of CUTS) {
    if (Buffer.byteLength(text) <= EVENT_BYTES) return text;
    text = JSON.stringify(event, (_, value: unknown) =>
      typeof value === 'string' && value.length > most ? `${value.slice(0, most)}…` : value,
    );
  }
  if (Buffer.byteLength(text) <= EVENT_BYTES) return text;
  // A list of thousands: only what names the event is left.
  const { event: name, at, task_id } = event;
  return JSON.stringify({ event: name, at, task_id });
}
