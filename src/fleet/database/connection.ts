import { Socket } from 'node:net';
import { databaseFailure, isOvertaken, leavesConnection } from './database-failure.ts';
import type { FleetAddress } from './fleet-address.ts';
import type { Engine, PgClient, SqlRunner } from './load-engine.ts';

/** A server behind a broken network just stays silent, so these limits end every wait for it. */
const CONNECT_MS = 3_000;
const QUERY_MS = 8_000;
const KEEP_ALIVE_MS = 10_000;
/** How often a transaction is tried if others change its rows first. */
const TRIES = 3;

/**
 * Anyone who may create functions in a schema of the search path could have others run an operator of theirs. So only
 * PostgreSQL's own names are looked up; all tables are named with their schemas.
 */
const ONLY_OWN_NAMES = 'set search_path to pg_catalog';

/** Thrown within a transaction to undo it. The caller gets it unchanged, since it is no failure of the database. */
export class Undone extends Error {}

/** Thrown within a transaction that finds its rows changed by another transaction, so that it is tried again. */
export class Overtaken extends Error {
  readonly code = '40001';
}

/** The connections to the database of a fleet. Every method rejects as `databaseFailure` says. */
export interface Database extends SqlRunner {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape that each statement selects
  rows(text: string, values?: readonly unknown[]): Promise<readonly any[]>;
  /**
   * Runs `work` in a transaction, which is rolled back if `work` rejects, and tried again if another transaction
   * changed its rows first. `work` has to run all its statements on `tx`.
   */
  transaction<T>(work: (tx: SqlRunner) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens at most `connections` connections, each when it is needed. `queryMs` limits the time of one statement. */
export function openDatabase(
  engine: Engine,
  { name, connectionString }: FleetAddress,
  { connections, queryMs = QUERY_MS }: { readonly connections: number; readonly queryMs?: number },
): Database {
  // `pg` leaves the socket open if the log-in fails on its own side. Left open, it would keep the process alive.
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
    // A client that is gone in mid-transaction, or that waits no longer, must not keep rows locked for hours.
    statement_timeout: queryMs,
    lock_timeout: queryMs / 2,
    idle_in_transaction_session_timeout: 2 * queryMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  // A dead connection is no reason to end the process: an idle one is replaced, a busy one fails its statement.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const guarded = new WeakSet<PgClient>();

  // The pool would report a wait for a busy connection as a failure to connect, so the turns are taken here.
  const turns = createTurns(connections);
  // A transaction may wait for a locked row, so one connection is kept free to renew a worker's claims.
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
 * Rolls back the transaction that a failure has left open, be it ralph's or one of pg-boss. Resolves to whether the
 * connection can be used further; otherwise the caller closes it, which rolls back, too.
 */
async function isRolledBack(client: PgClient, error: unknown): Promise<boolean> {
  // After a timeout the server may still run the statement.
  if (!(error instanceof Undone) && !leavesConnection(error)) return false;
  return client.query('rollback').then(
    () => true,
    () => false,
  );
}

/** Lets `count` callers in at a time, in order: the returned function waits, and resolves to what ends the turn. */
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

/** Returns the values without NUL characters, which PostgreSQL cannot store in a text. */
function storable(values: unknown[] | undefined): unknown[] | undefined {
  return values?.map((value) => (typeof value === 'string' ? value.replaceAll('\0', '') : value));
}
