import { DEFAULT_LEASE_MS } from '../../core/supervisor/lease.ts';
import { FleetError } from '../../errors.ts';
import type { InitDone, Migrated } from '../core/fleet-facts.ts';
import { type Database, openDatabase } from './connection.ts';
import { fleetAddress } from './fleet-address.ts';
import { ENGINE_SCHEMA, type Engine, loadEngine, type SqlRunner } from './load-engine.ts';
import { MIGRATIONS, newerTables, TABLES_VERSION } from './migrations.ts';
import { engineOn, newerEngine } from './open-fleet.ts';

/** The longest time of a migration, which may take longer than any other statement. */
const MIGRATION_MS = 10 * 60_000;
const OLDEST_SERVER = 130_000;

/** The fleet whose tables are to be made or updated. */
export interface FleetToInit {
  /** The URL of the database; its gaps are filled from `env`. */
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  /** How long claims last (the lease, in milliseconds) for workers that start later; null: as stored, or by default. */
  readonly leaseMs: number | null;
  /** The file whose folder, and the folders above it, are searched for pg-boss. Default: ralph's own file. */
  readonly engineFrom?: string;
}

/**
 * Makes the tables of a fleet, or updates them; running it again changes nothing. Rejects with a `FleetError` if the
 * tables are newer than this ralph, and with a `FleetAwayError` if the database cannot be reached.
 */
export async function initFleet(given: FleetToInit): Promise<InitDone> {
  const address = fleetAddress(given.url, given.env);
  const engine = await loadEngine(given.engineFrom);
  // One connection holds the lock of the transaction while the other makes the tables of pg-boss.
  const database = openDatabase(engine, address, { connections: 2, queryMs: MIGRATION_MS });
  try {
    await refuseOldServer(database);
    return await alone(database, async (tx) => {
      const engineTables = await migrateEngine(engine, database);
      const tables = await migrate(tx, database.name);
      const leaseMs = await setLease(tx, given.leaseMs);
      return { name: address.name, engine: engineTables, tables, leaseMs };
    });
  } finally {
    await database.close();
  }
}

/** Runs `work` in a transaction, after any other `ralph fleet init` on this database has finished. */
async function alone<T>(database: Database, work: (tx: SqlRunner) => Promise<T>): Promise<T> {
  const [meta] = await database.rows("select to_regclass('ralph.meta') is not null as there");
  // Anyone who may log in could hold this advisory lock for ever. So it is taken only before `ralph.meta` exists. The
  // end of the connection frees it.
  if (meta?.there !== true) await database.rows("select pg_advisory_lock(hashtext('ralph.init'))");
  return database.transaction(async (tx) => {
    // Only the owner of the table can take this lock, so nobody else can block an init.
    if (meta?.there === true)
      await tx.executeSql('lock table ralph.meta in share row exclusive mode');
    return work(tx);
  });
}

async function refuseOldServer(database: Database): Promise<void> {
  const [row] = await database.rows(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  );
  if (row?.number >= OLDEST_SERVER) return;
  throw new FleetError(
    `${database.name} is PostgreSQL ${row?.version}; a fleet needs PostgreSQL 13 or newer.`,
  );
}

/** Makes or updates the tables of pg-boss. Its statements are a transaction of their own. */
async function migrateEngine(engine: Engine, database: Database): Promise<Migrated> {
  const boss = engineOn(engine, database, false);
  const to = engine.tables;
  const from = (await boss.isInstalled()) ? await boss.schemaVersion() : null;
  if (from !== null && from > to) throw newerEngine(database.name, from, to);
  if (from === null) await database.executeSql(engine.getConstructionPlans(ENGINE_SCHEMA));
  else if (from < to) await database.executeSql(engine.getMigrationPlans(ENGINE_SCHEMA, from));
  return { from, to };
}

async function migrate(tx: SqlRunner, fleet: string): Promise<Migrated> {
  await tx.executeSql(
    `create schema if not exists ralph;
     create table if not exists ralph.meta (key text primary key, value text not null)`,
  );
  const { rows } = await tx.executeSql("select value from ralph.meta where key = 'tables'");
  const from = rows[0] === undefined ? null : Number(rows[0].value);
  if (from !== null && from > TABLES_VERSION) throw newerTables(fleet, from);
  for (const migration of MIGRATIONS.slice(from ?? 0)) await tx.executeSql(migration);
  await setMeta(tx, 'tables', TABLES_VERSION);
  return { from, to: TABLES_VERSION };
}

async function setLease(tx: SqlRunner, leaseMs: number | null): Promise<number> {
  const { rows } = await tx.executeSql("select value from ralph.meta where key = 'lease_ms'");
  const lease = leaseMs ?? Number(rows[0]?.value ?? DEFAULT_LEASE_MS);
  await setMeta(tx, 'lease_ms', lease);
  return lease;
}

async function setMeta(tx: SqlRunner, key: string, value: number): Promise<void> {
  await tx.executeSql(
    'insert into ralph.meta (key, value) values ($1, $2) on conflict (key) do update set value = $2',
    [key, String(value)],
  );
}
