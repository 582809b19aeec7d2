/** A fleet whose tables are to be made, or brought up to date. */
export interface FleetToInit {
  /** The URL of its database; what it leaves out comes from `PGHOST`, `PGUSER` and so on in `env`. */
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  /** The length of a lease in milliseconds; null leaves it as it is. */
  readonly leaseMs: number | null;
}

/** Versions of tables; `from` is null if there were none. */
interface Migrated {
  readonly from: number | null;
  readonly to: number;
}

/** What was done to a fleet's tables. */
export interface InitDone {
  /** `fleet HOST/DATABASE`. */
  readonly name: string;
  readonly engine: Migrated;
  readonly tables: Migrated;
  readonly leaseMs: number;
}

/** Makes the tables of a fleet. Rejects with a `FleetError`, or with a `FleetAwayError`. */
export async function initFleetAt(fleet: FleetToInit): Promise<InitDone> {
  const [{ initFleet }, { fleetAddress }] = await Promise.all([
    import('../../effects/fleet/init-fleet.ts'),
    import('../../effects/fleet/fleet-address.ts'),
  ]);
  const done = await initFleet(fleet);
  return { ...done, name: fleetAddress(fleet.url, fleet.env).name };
}
