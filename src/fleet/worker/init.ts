import type { FleetToInit, initFleet } from '../database/init-fleet.ts';

/** What was done to a fleet's tables. */
export interface InitDone extends Awaited<ReturnType<typeof initFleet>> {
  /** The name of the fleet: `fleet HOST/DATABASE`. */
  readonly name: string;
}

/**
 * Makes or updates the tables of a fleet. The modules for the database are loaded only when this is called. Rejects
 * with a `FleetError`, or with a `FleetAwayError`.
 */
export async function initFleetAt(fleet: FleetToInit): Promise<InitDone> {
  const [{ initFleet }, { fleetAddress }] = await Promise.all([
    import('../database/init-fleet.ts'),
    import('../database/fleet-address.ts'),
  ]);
  const done = await initFleet(fleet);
  return { ...done, name: fleetAddress(fleet.url, fleet.env).name };
}
