import { fleetPicture } from '../src/fleet/core/fleet-warnings.ts';
import { fleetStatus } from '../src/fleet/report/fleet-status.ts';
import {
  accountFacts,
  fleetView,
  minutesAgo,
  NOW,
  queueFacts,
  workerSeen,
} from '../test/helpers/fleet-facts.ts';

/** Returns what `ralph fleet status` shows of a small fleet in which not all is well. */
export function picturedFleet(): string {
  const view = fleetView({
    workers: [
      workerSeen({ id: 'ci-1', host: 'ci', slots: 2, running: ['login', 'search'] }),
      workerSeen({
        id: 'laptop-1',
        host: 'laptop',
        slots: 1,
        seenAt: minutesAgo(4),
        running: ['docs'],
      }),
    ],
    queues: [
      queueFacts({ waiting: 3, running: 3, parked: 2, oldest_waiting_at: minutesAgo(11) }),
      queueFacts({ queue: 'gpu', waiting: 1, oldest_waiting_at: minutesAgo(2) }),
    ],
    accounts: [
      accountFacts({ running: 3, waiting: 4 }),
      accountFacts({
        account: 'work',
        paused_until: new Date(Date.parse(NOW) + 95 * 60_000).toISOString(),
        why: 'usage limit',
        parked: 2,
      }),
    ],
  });
  const screen = fleetStatus(fleetPicture(view), { width: 90, paint: null });
  return `\`\`\`text\n$ ralph fleet status\n${screen}\`\`\``;
}
