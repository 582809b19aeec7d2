import { DEFAULT_LEASE_MS } from '../../core/supervisor/lease.ts';
import { FleetError } from '../../errors.ts';
import { type Database, openDatabase } from './connection.ts';
import { fleetAddress } from './fleet-address.ts';
import { ENGINE_SCHEMA, type Engine, loadEngine, type SqlRunner } from './load-engine.ts';
import { MIGRATIONS, newerTables, TABLES_VERSION } from './migrations.ts';
import { engineOn, newerEngine } from './open-fleet.ts';

/** A migration may take longer than any other statement. */
const MIGRATION_MS = 10 * 60_000;
const OLDEST_SERVER = 130_000;

/** The fleet whose tables are to be made, or brought up to date. */
export interface FleetToInit {
  /** The URL of the database; its gaps are filled from `env`. */
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  /** The lease in milliseconds for claims of workers that start from now on; null keeps it, or sets the default. */
  readonly leaseMs: number | null;
  /** The file from which pg-boss is looked for upward. Default: ralph's own. */
  readonly engineFrom?: string;
}

/** Versions of tables; `from` is null if there were none. */
export interface Migrated {
  readonly from: number | null;
  readonly to: number;
}

/**
 * Makes the tables of a fleet, or brings them up to date; a second time changes nothing. Rejects with a `FleetError` if
 * they are newer than this ralph, and with a `FleetAwayError` if the database cannot be reached.
 */
export async function initFleet(
  given: FleetToInit,
): Promise<{ engine: Migrated; tables: Migrated; leaseMs: number }> {
  const address = fleetAddress(given.url, given.env);
  const engine = await loadEngine(given.engineFrom);
  // One holds the lock of the transaction while the other one makes the engine's tables.
  const database = openDatabase(engine, address, { connections: 2, queryMs: MIGRATION_MS });
  try {
    await refuseOldServer(database);
    return await alone(database, async (tx) => {
      const engineTables = await migrateEngine(engine, database);
      const tables = await migrate(tx, database.name);
      const leaseMs = await setLease(tx, given.leaseMs);
      return { engine: engineTables, tables, leaseMs };
    });
  } finally {
    await database.close();
  }
}

/** Runs `work` in a transaction while no other init does: that one waits. */
async function alone<T>(database: Database, work: (tx: SqlRunner) => Promise<T>): Promise<T> {
  const [meta] = await database.rows("select to_regclass('ralph.meta') is not null as there");
  // Everybody who may log in could hold this one for ever; it is for the first init alone. It ends with the connection.
  if (meta?.there !== true) await database.rows("select pg_advisory_lock(hashtext('ralph.init'))");
  return database.transaction(async (tx) => {
    // Only the owner of the table can hold this one.
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

/** The engine's statements are a transaction of their own. */
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
