import { Socket } from 'node:net';
import { databaseFailure, isOvertaken, leavesConnection } from './database-failure.ts';
import type { FleetAddress } from './fleet-address.ts';
import type { Engine, PgClient, SqlRunner } from './load-engine.ts';

/** A partition shows as silence: nobody waits longer for the server than this. */
const CONNECT_MS = 3_000;
const QUERY_MS = 8_000;
const KEEP_ALIVE_MS = 10_000;
/** How often a transaction that another one overtook is tried. */
const TRIES = 3;

/**
 * Everybody who may create functions in a schema of the search path could have an operator of their own run by others. All
 * tables are named with their schemas.
 */
const ONLY_OWN_NAMES = 'set search_path to pg_catalog';

/** Thrown within a transaction to undo it. It is no failure of the database, so it is passed on as it is. */
export class Undone extends Error {}

/** Thrown within a transaction that saw what another one changed, so that it is tried again. */
export class Overtaken extends Error {
  readonly code = '40001';
}

/** The connections to the database of a fleet. Every method rejects as `databaseFailure` says. */
export interface Database extends SqlRunner {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape that each statement selects
  rows(text: string, values?: readonly unknown[]): Promise<readonly any[]>;
  /**
   * Runs `work` in a transaction, which is rolled back if it rejects, and once more if another one overtook it. Pass the
   * runner to all that belongs to it.
   */
  transaction<T>(work: (tx: SqlRunner) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens at most `connections` connections, each when it is needed. `queryMs`: how long one statement may take. */
export function openDatabase(
  engine: Engine,
  { name, connectionString }: FleetAddress,
  { connections, queryMs = QUERY_MS }: { readonly connections: number; readonly queryMs?: number },
): Database {
  // `pg` leaves a connection open when the log-in fails on its own side, which would keep the process alive.
  const sockets = new Set<Socket>();
  const stream = (): Socket => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const pool = new engine.Pool({
    stream,
    connectionString,
    max: connections,
    application_name: 'ralph',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: queryMs,
    // A host that is gone in mid-transaction, or a statement that nobody waits for, must not hold rows for hours.
    statement_timeout: queryMs,
    lock_timeout: queryMs / 2,
    idle_in_transaction_session_timeout: 2 * queryMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  // A connection that dies while nobody uses it is replaced by the next use; one in use fails its statement.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const guarded = new WeakSet<PgClient>();

  // The pool's own queue counts waiting for a busy connection as a failure to connect.
  const turns = createTurns(connections);
  // A transaction may wait for a row; the beats of a worker go on meanwhile.
  const transactions = createTurns(Math.max(1, connections - 1));

  async function connected<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    const finish = await turns();
    try {
      return await onClient(work);
    } finally {
      finish();
    }
  }

  async function onClient<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let isWhole = false;
    try {
      if (!guarded.has(client)) await client.query(ONLY_OWN_NAMES);
      guarded.add(client);
      const result = await work(client);
      isWhole = true;
      return result;
    } catch (error) {
      isWhole = await isRolledBack(client, error);
      throw error;
    } finally {
      client.release(!isWhole);
    }
  }

  async function inTransaction<T>(work: (tx: SqlRunner) => Promise<T>): Promise<T> {
    const finish = await transactions();
    try {
      return await begun(work);
    } finally {
      finish();
    }
  }

  async function begun<T>(work: (tx: SqlRunner) => Promise<T>): Promise<T> {
    return connected(async (client) => {
      await client.query('begin');
      const result = await work({
        executeSql: (text, values) => client.query(text, storable(values)),
      });
      await client.query('commit');
      return result;
    });
  }

  async function translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof Undone ? error : databaseFailure(name, error);
    }
  }

  const executeSql: SqlRunner['executeSql'] = (text, values) =>
    translated(() => connected((client) => client.query(text, storable(values))));
  return {
    name,
    executeSql,
    rows: async (text, values = []) => (await executeSql(text, [...values])).rows,
    transaction: (work) =>
      translated(async () => {
        for (let tried = 1; ; tried += 1) {
          try {
            return await inTransaction(work);
          } catch (error) {
            if (tried === TRIES || !isOvertaken(error)) throw error;
          }
        }
      }),
    close: async () => {
      await pool.end();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Ends the transaction that a failure has left open: one of ours, or one that a statement of the engine began. Resolves
 * to whether the connection can be used further; closing it has the same effect on the transaction.
 */
async function isRolledBack(client: PgClient, error: unknown): Promise<boolean> {
  // After a timeout the server may still run the statement.
  if (!(error instanceof Undone) && !leavesConnection(error)) return false;
  return client.query('rollback').then(
    () => true,
    () => false,
  );
}

/** Returns a function that waits for one of `count` turns, in the order of its calls, and resolves to what ends the turn. */
function createTurns(count: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let free = count;
  const finish = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    return finish;
  };
}

/** PostgreSQL has no NUL in its texts. */
function storable(values: unknown[] | undefined): unknown[] | undefined {
  return values?.map((value) => (typeof value === 'string' ? value.replaceAll('\0', '') : value));
}
