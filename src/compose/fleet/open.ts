import type { FleetQueue } from '../../effects/fleet/fleet-queue.ts';

/** The fleet to open. */
export interface FleetToOpen {
  /** The URL of its database; what it leaves out comes from `PGHOST`, `PGUSER` and so on in `env`. */
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  readonly purpose: 'worker' | 'command';
}

/**
 * Connects to a fleet. What knows the database is loaded only here. Rejects with a `FleetError` if the package or
 * the tables are missing, and with a `FleetAwayError` if the database cannot be reached.
 */
export async function openFleetAt(fleet: FleetToOpen): Promise<FleetQueue> {
  const { openFleet } = await import('../../effects/fleet/open-fleet.ts');
  return openFleet(fleet);
}
