import { Socket } from 'node:net';
import { databaseFailure, isOvertaken, leavesConnection } from './database-failure.ts';
import type { FleetAddress } from './fleet-address.ts';
import type { Engine, PgClient, SqlRunner } from './load-engine.ts';

/** Behind a broken network, a server just stays silent. So every wait for an answer has a limit. */
const CONNECT_MS = 3_000;
const QUERY_MS = 8_000;
const KEEP_ALIVE_MS = 10_000;
/** How often a transaction is tried if other transactions change its rows first. */
const TRIES = 3;

/**
 * Anyone who may create functions in a schema of the search path could replace an operator in ralph's statements. So
 * the path has only PostgreSQL's own schema, and every statement names its tables with their schemas.
 */
const ONLY_OWN_NAMES = 'set search_path to pg_catalog';

/** Thrown within a transaction to roll it back. The caller gets this error unchanged: it is no database failure. */
export class Undone extends Error {}

/** Thrown within a transaction that finds its rows changed by another transaction, so that it is tried again. */
export class Overtaken extends Error {
  readonly code = '40001';
}

/** The connections to the database of a fleet. A method that fails rejects with the error from `databaseFailure`. */
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
  // If `pg` itself breaks off the log-in, it leaves the socket open, which would keep the process alive.
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
    types: withIsoInstants(engine.types),
  });
  // Without these listeners, a dead connection would end the process. The pool replaces an idle connection; on a busy
  // one, the statement fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const guarded = new WeakSet<PgClient>();

  // The pool would report a wait for a busy connection as a failure to connect, so callers wait here instead.
  const turns = createTurns(connections);
  // A transaction may wait for a locked row. So one of a worker's two connections stays free to renew its claims.
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

const INSTANT = 1184;

/** Returns the readers of column values. The reader of instants returns ISO text, and null for `infinity`. */
function withIsoInstants(types: Engine['types']): Engine['types'] {
  const readInstant = types.getTypeParser(INSTANT, 'text');
  const readIso = (value: string): string | null => {
    const at = readInstant(value);
    return at instanceof Date ? at.toISOString() : null;
  };
  return {
    getTypeParser: (type, format) =>
      type === INSTANT ? readIso : types.getTypeParser(type, format),
  };
}

/**
 * Rolls back the transaction that a failure has left open, be it ralph's or one of pg-boss. Resolves to whether the
 * connection can be used further; otherwise the caller closes it, which rolls back, too.
 */
async function isRolledBack(client: PgClient, error: unknown): Promise<boolean> {
  // After a timeout the server may still run the statement, so the connection is closed.
  if (!(error instanceof Undone) && !leavesConnection(error)) return false;
  return client.query('rollback').then(
    () => true,
    () => false,
  );
}

/** Returns a function that waits for one of `count` turns, in order, and resolves to a function that ends the turn. */
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
