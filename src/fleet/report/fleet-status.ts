import { oneLine } from '../../core/text/untrusted-text.ts';
import { wrapped } from '../../report/columns.ts';
import { fleetPlace, formatClock, formatDuration, formatInstant } from '../../report/format.ts';
import { plainTable } from '../../report/plain-table.ts';
import type { TableOptions } from '../../report/screens/status.ts';
import type { AccountFacts, QueueFacts, WorkerSeen } from '../core/fleet-facts.ts';
import type { FleetPicture } from '../core/fleet-warnings.ts';
import { fleetWarningText, warningsJson, warningText } from './fleet-words.ts';

/** The longest name of a worker, queue or account on the screen, in characters. */
const NAME_CHARS = 60;
const NOTHING = '–';

/** Returns the status of a fleet as text: first the warnings, then its workers, queues and accounts. */
export function fleetStatus(picture: FleetPicture, options: TableOptions): string {
  const { view, warnings } = picture;
  const { fleet, leaseMs, workers, accounts, queues } = view;
  const { width } = options;
  const told = warnings.flatMap((warning) => warningText(fleetWarningText(warning), options));
  const lines = [
    ...wrapped(`${oneLine(fleet, 200)}, lease ${formatDuration(leaseMs)}`, width),
    ...(told.length === 0 ? [] : ['', ...told]),
    '',
    ...(workers.length === 0
      ? wrapped('no worker is running; start one with ralph worker', width)
      : plainTable(
          ['WORKER', 'HOST', 'STATE', 'SLOTS', 'QUEUES', 'VERSION', 'RUNS'],
          workers.map((worker) => workerCells(worker, picture)),
          options,
        )),
    '',
    ...(queues.length === 0
      ? wrapped('no open tasks; queue one with ralph submit', width)
      : plainTable(
          ['QUEUE', 'WAITING', 'RUNNING', 'PARKED', 'OLDEST WAITING'],
          queues.map((queue) => queueCells(queue, queues, view.at)),
          options,
        )),
    ...(accounts.length === 0
      ? []
      : [
          '',
          ...plainTable(
            ['ACCOUNT', 'STATE', 'RUNNING', 'WAITING', 'PARKED'],
            accounts.map((account) => accountCells(account, picture)),
            options,
          ),
        ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function workerCells(worker: WorkerSeen, { view, silent }: FleetPicture): readonly string[] {
  const { id, host, slots, queues, version, running, idle, seenAt } = worker;
  const silentMs = Math.max(0, Date.parse(view.at) - Date.parse(seenAt));
  const awake = idle === null ? 'alive' : `idle: ${name(idle)}`;
  const state = silent.has(id) ? `silent for ${formatClock(silentMs)}` : awake;
  return [
    name(id),
    name(host),
    state,
    `${running.length}/${slots}`,
    queues.map(name).join(', '),
    name(version),
    running.length === 0 ? NOTHING : running.map(name).join(', '),
  ];
}

/** Returns the cells of a queue. The schema (stored form) of its tasks is shown only if they have several. */
function queueCells(
  { queue, schema, waiting, running, parked, oldest_waiting_at: oldest }: QueueFacts,
  all: readonly QueueFacts[],
  at: string,
): readonly string[] {
  const isSplit = all.filter((each) => each.queue === queue).length > 1;
  const since = oldest === null ? null : Date.parse(at) - Date.parse(oldest);
  return [
    isSplit ? `${name(queue)} (schema ${schema})` : name(queue),
    String(waiting),
    String(running),
    String(parked),
    since === null ? NOTHING : formatClock(since),
  ];
}

function accountCells(facts: AccountFacts, { paused }: FleetPicture): readonly string[] {
  const { account, slots, running, waiting, parked, paused_until, held, why } = facts;
  const until =
    held || paused_until === null ? 'until released' : `until ${formatInstant(paused_until)}`;
  const because = why === null || why === '' ? '' : ` (${name(why)})`;
  return [
    name(account),
    paused.has(account) ? `paused ${until}${because}` : 'free',
    slots === 0 ? String(running) : `${running}/${slots}`,
    String(waiting),
    String(parked),
  ];
}

/** Returns the status of a fleet as JSON. Instants are by the database's clock, in ISO 8601 UTC. */
export function fleetStatusJson({ view, warnings, silent }: FleetPicture): object {
  return {
    fleet: fleetPlace(view.fleet),
    at: view.at,
    lease_seconds: view.leaseMs / 1_000,
    workers: view.workers.map((worker) => ({
      id: worker.id,
      host: worker.host,
      version: worker.version,
      state: silent.has(worker.id) ? 'silent' : worker.idle === null ? 'alive' : 'idle',
      idle_because: worker.idle,
      slots: worker.slots,
      busy: worker.running.length,
      running: worker.running,
      queues: worker.queues,
      accounts: worker.accounts,
      schema: worker.schema,
      last_beat_at: worker.seenAt,
    })),
    accounts: view.accounts,
    queues: view.queues,
    warnings: warningsJson(warnings),
  };
}

function name(text: string): string {
  return oneLine(text, NAME_CHARS);
}
