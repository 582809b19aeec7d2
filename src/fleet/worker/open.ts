import type { FleetQueue } from '../database/fleet-queue.ts';
import type { FleetToOpen } from '../database/open-fleet.ts';

/** Connects to a fleet, as `openFleet` does. The modules for it are loaded only when this is called. */
export async function openFleetAt(fleet: FleetToOpen): Promise<FleetQueue> {
  const { openFleet } = await import('../database/open-fleet.ts');
  return openFleet(fleet);
}
