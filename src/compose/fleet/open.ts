import type { FleetQueue } from '../../effects/fleet/fleet-queue.ts';
import type { FleetToOpen } from '../../effects/fleet/open-fleet.ts';

/** Connects to a fleet, as `openFleet` does. What knows the database is loaded only here. */
export async function openFleetAt(fleet: FleetToOpen): Promise<FleetQueue> {
  const { openFleet } = await import('../../effects/fleet/open-fleet.ts');
  return openFleet(fleet);
}
