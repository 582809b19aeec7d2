import { FleetError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { type Database, openDatabase } from './connection.ts';
import { fleetAddress } from './fleet-address.ts';
import type { FleetQueue } from './fleet-queue.ts';
import { createJobs } from './jobs.ts';
import { type Boss, ENGINE_SCHEMA, type Engine, loadEngine } from './load-engine.ts';
import { newerTables, TABLES_VERSION } from './migrations.ts';
import { pgFleetQueue } from './pg-fleet-queue.ts';

/** How often, in seconds, pg-boss looks for claims that have run out, which frees the tasks of dead workers. */
const SUPERVISE_S = 10;

export interface FleetToOpen {
  /** The URL of the database; its gaps are filled from `env`. */
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  /** A worker uses two connections and has pg-boss do its background work; a command uses one. */
  readonly purpose: 'worker' | 'command';
  /** The file whose folder, and the folders above it, are searched for pg-boss. Default: ralph's own file. */
  readonly engineFrom?: string;
}

/**
 * Connects to a fleet. Rejects with a `FleetAwayError` if its database cannot be reached, and with a `FleetError` if
 * pg-boss is missing, or if the tables are missing, older or newer than this ralph.
 */
export async function openFleet(given: FleetToOpen): Promise<FleetQueue> {
  const address = fleetAddress(given.url, given.env);
  const engine = await loadEngine(given.engineFrom);
  const isWorker = given.purpose === 'worker';
  const database = openDatabase(engine, address, { connections: isWorker ? 2 : 1 });
  const boss = engineOn(engine, database, isWorker);
  try {
    const leaseMs = await checkTables(engine, database, boss);
    await boss.start();
    return pgFleetQueue(database, createJobs(boss, leaseMs), leaseMs);
  } catch (error) {
    await boss.stop({ graceful: false, close: false }).catch(() => {});
    await database.close();
    throw error;
  }
}

/** Creates pg-boss on ralph's own connections. It never makes or changes tables: only `ralph fleet init` does. */
export function engineOn(engine: Engine, database: Database, supervise: boolean): Boss {
  const boss = new engine.PgBoss({
    db: { executeSql: database.executeSql },
    schema: ENGINE_SCHEMA,
    migrate: false,
    schedule: false,
    supervise,
    superviseIntervalSeconds: SUPERVISE_S,
    monitorIntervalSeconds: SUPERVISE_S,
    // Workers are listed in ralph's own table, with the facts that people want to know.
    registerInstance: false,
  });
  // These errors are ignored: pg-boss repeats background work that failed at its next interval.
  boss.on('error', () => {});
  boss.on('warning', () => {});
  return boss;
}

/** Checks the versions of the tables. Resolves to how long a claim lasts in this fleet (the lease), in milliseconds. */
async function checkTables(engine: Engine, database: Database, boss: Boss): Promise<number> {
  const { name } = database;
  const [made] = await database.rows("select to_regclass('ralph.meta') is not null as there");
  const isInstalled = made?.there === true && (await boss.isInstalled());
  if (!isInstalled) {
    throw new FleetError(`${name} has no tables yet; run ralph fleet init.`, EXIT_FAILED);
  }
  const meta = new Map(
    (await database.rows('select key, value from ralph.meta')).map(({ key, value }) => [
      key,
      value,
    ]),
  );
  const tables = Number(meta.get('tables'));
  if (tables > TABLES_VERSION) throw newerTables(name, tables);
  const found = await boss.schemaVersion();
  if (found !== null && found > engine.tables) throw newerEngine(name, found, engine.tables);
  if (tables < TABLES_VERSION || found !== engine.tables) {
    throw new FleetError(
      `${name} has tables of an older ralph; run ralph fleet init.`,
      EXIT_FAILED,
    );
  }
  return Number(meta.get('lease_ms'));
}

/** The error if the tables belong to a newer pg-boss. */
export function newerEngine(fleet: string, found: number, known: number): FleetError {
  return new FleetError(
    `${fleet} has tables of a newer pg-boss (schema ${found}, the one beside ralph knows ${known}); update ralph and pg-boss here.`,
    EXIT_FAILED,
  );
}
