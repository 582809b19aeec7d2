import { jsonText, standardOutlet } from '../../cli/terminal/outlet.ts';
import { terminalOf } from '../../cli/terminal/terminal-look.ts';
import { type FleetPicture, fleetPicture } from '../core/fleet-warnings.ts';
import { fleetStatus, fleetStatusJson } from '../report/fleet-status.ts';
import { framesOf, type ShowOptions } from './frames.ts';
import type { OpenFleet } from './on-fleet.ts';

/** `ralph fleet status`: shows workers, queues and accounts, and the warnings that a person has to look at. */
export async function showFleet(fleet: OpenFleet, options: ShowOptions): Promise<number> {
  const terminal = await terminalOf(process.stdout, process.env);
  const frame = async () => {
    const picture = await readPicture(fleet);
    const { view, warnings } = picture;
    const text =
      options.json === true ? jsonText(fleetStatusJson(picture)) : fleetStatus(picture, terminal());
    const key = JSON.stringify([
      view.workers.map(withoutBeat),
      view.queues,
      view.accounts,
      warnings.length,
    ]);
    return { text, key, isLast: false };
  };
  return framesOf(frame, options.watch ?? false, standardOutlet());
}

/** How many tasks in trouble are read, and how many tasks are searched for unreadable rows; the newest of each. */
const TASKS_READ = 500;

/** Reads the present state of a fleet. */
export async function readPicture({ queue }: Pick<OpenFleet, 'queue'>): Promise<FleetPicture> {
  const [at, workers, accounts, queues, tasks, unreadable] = await Promise.all([
    queue.readClock(),
    queue.workers(),
    queue.accounts(),
    queue.queues(),
    queue.tasks({ troubled: true, limit: TASKS_READ, lean: true }),
    queue.unreadable({ limit: TASKS_READ }),
  ]);
  return fleetPicture({
    fleet: queue.name,
    leaseMs: queue.leaseMs,
    ...{ at, workers, accounts, queues, tasks, unreadable },
  });
}

function withoutBeat(worker: object): object {
  return { ...worker, seenAt: null };
}
