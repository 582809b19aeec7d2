import { randomUUID } from 'node:crypto';
import type { RalphEvent } from '../../core/machine/events.ts';
import type { NumberedEvent } from './fleet-queue.ts';
import type { SqlRunner } from './load-engine.ts';

/** The largest event that is stored, in bytes. In a larger one, long texts are cut. */
const EVENT_BYTES = 8_192;
/** Texts are cut to each of these lengths in turn until the event fits. */
const CUTS = [2_000, 500, 100, 20];

/**
 * The ids of events. If the answer to a write got lost, the write can be repeated with the same ids, and each event is
 * stored only once.
 */
const IDS = new WeakMap<RalphEvent, string>();

interface EventWriter {
  readonly task_id: string;
  readonly worker: string | null;
  readonly host: string | null;
  readonly fence: number;
}

/** Writes events in order. `agent_activity` events are left out: the log of the iteration holds what the agent did. */
export async function insertEvents(
  tx: SqlRunner,
  { task_id, worker, host, fence }: EventWriter,
  events: readonly RalphEvent[],
): Promise<void> {
  const rows = events
    .filter(({ event }) => event !== 'agent_activity')
    .map((event) => ({ id: idOf(event), body: bounded(event) }));
  if (rows.length === 0) return;
  await tx.executeSql(
    `insert into ralph.event (task_id, id, worker, host, fence, body)
     select $1, id, $3, $4, $5, body::json from json_to_recordset($2) as x (id uuid, body text)
     on conflict (task_id, id) do nothing`,
    [task_id, JSON.stringify(rows), worker, host, fence],
  );
}

/** Returns the event in a row of `ralph.event`. */
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

function idOf(event: RalphEvent): string {
  const id = IDS.get(event) ?? randomUUID();
  IDS.set(event, id);
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
  // The event is still too large, since it holds a very long list: only the fields that identify the event are kept.
  const { event: name, at, task_id } = event;
  return JSON.stringify({ event: name, at, task_id });
}
