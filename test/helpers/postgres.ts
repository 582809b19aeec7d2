import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDatabase } from '../../src/fleet/database/connection.ts';
import { fleetAddress } from '../../src/fleet/database/fleet-address.ts';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import { initFleet } from '../../src/fleet/database/init-fleet.ts';
import { loadEngine } from '../../src/fleet/database/load-engine.ts';
import { openFleet } from '../../src/fleet/database/open-fleet.ts';
import { ENGINE_FROM } from './install-engine.ts';
import { installPackage } from './install-package.ts';

const run = promisify(execFile);

const BINARIES = '/usr/lib/postgresql/15/bin';
const PACKAGE = 'postgresql-15';
/** Each cluster has a folder of its own for its socket, so they can all have the same port. */
const PORT = 5432;
const TEMPLATE = 'fleet_template';

/** A private cluster of PostgreSQL, reached over a Unix socket. */
export interface Postgres {
  /** Makes a fleet, with its tables, and returns its URL. Default: a database with a new name. */
  url(database?: string): Promise<string>;
  /** Returns the URL of a new, empty database. */
  emptyUrl(database?: string): Promise<string>;
  /** Returns the URL by which other hosts reach the database. */
  hostUrl(url: string): string;
  /** Runs statements in a database, as its owner, and returns what psql prints: rows with `|` between columns. */
  sql(url: string, statements: string): Promise<string>;
  /** Ends the server as a crash would. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends the server for good and removes its files. */
  stop(): Promise<void>;
}

/** The host on which a cluster runs. */
export interface PostgresHost {
  /** The words before a command that run it there. */
  readonly under: readonly string[];
  /** Where it listens for the other hosts, beside its socket. */
  readonly address: string;
}

/** Starts a cluster of its own. Root has PostgreSQL installed if it is missing; another user gets a clear sentence. */
export async function startPostgres(host?: PostgresHost): Promise<Postgres> {
  await install();
  const folder = await mkdtemp(join(tmpdir(), 'ralph-pg-'));
  const data = join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  const asOwner = (program: string, args: readonly string[]) => {
    // The server refuses to run as root.
    const asUser = isRoot ? ['runuser', '-u', 'postgres', '--'] : [];
    const command = [...asUser, join(BINARIES, program), '-D', data, ...args];
    const [first = '', ...words] = [...(host?.under ?? []), ...command];
    return run(first, words, { cwd: folder });
  };
  if (isRoot) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
    const [uid, gid] = ids.map(({ stdout }) => Number(stdout));
    await chown(folder, uid ?? 0, gid ?? 0);
  }
  await asOwner('initdb', ['-U', 'ralph', '--auth=trust', '-E', 'UTF8', '--no-sync']);
  await appendFile(
    join(data, 'postgresql.conf'),
    // Nothing here has to outlive the machine.
    `listen_addresses='${host?.address ?? ''}'\nport=${PORT}\nunix_socket_directories='${folder}'\nmax_connections=100\nfsync=off\n`,
  );
  if (host !== undefined) {
    await appendFile(join(data, 'pg_hba.conf'), 'host all all samenet trust\n');
  }
  const start = async (): Promise<void> => {
    await asOwner('pg_ctl', ['-l', join(folder, 'server.log'), '-w', '-t', '60', 'start']);
  };
  const crash = async (): Promise<void> => {
    await asOwner('pg_ctl', ['-m', 'immediate', '-w', '-t', '60', 'stop']);
  };
  await start();

  const named = (database: string) =>
    `postgres://ralph@/${database}?host=${encodeURIComponent(folder)}&port=${PORT}`;
  const sql = async (url: string, statements: string): Promise<string> => {
    const args = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url, '-c', statements];
    return (await run(join(BINARIES, 'psql'), args)).stdout.trim();
  };
  let made = 0;
  const create = async (database: string, template: string): Promise<string> => {
    await sql(named('postgres'), `create database "${database}" template ${template}`);
    return named(database);
  };
  let template: Promise<unknown> | null = null;
  const makeTemplate = async (): Promise<void> => {
    const url = await create(TEMPLATE, 'template1');
    await initFleet({ url, env: {}, leaseMs: null, engineFrom: ENGINE_FROM });
  };
  const nextName = (): string => {
    made += 1;
    return `fleet${made}`;
  };
  return {
    async url(database = nextName()) {
      template ??= makeTemplate();
      await template;
      return create(database, TEMPLATE);
    },
    emptyUrl: (database = nextName()) => create(database, 'template1'),
    hostUrl(url) {
      if (host === undefined) return url;
      return `postgres://ralph@${host.address}:${PORT}/${/@\/(\w+)/.exec(url)?.[1]}`;
    },
    sql,
    crash,
    start,
    async stop() {
      await crash().catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens a fleet of `startPostgres` in this process. */
export function openTestFleet(
  url: string,
  purpose: 'worker' | 'command' = 'command',
): Promise<FleetQueue> {
  return openFleet({ url, env: {}, purpose, engineFrom: ENGINE_FROM });
}

/** Runs `work` while the rows of `statement` are locked by another connection. */
export async function whileLocked(
  url: string,
  statement: string,
  work: () => Promise<void>,
): Promise<void> {
  const engine = await loadEngine(ENGINE_FROM);
  const database = openDatabase(engine, fleetAddress(url, {}), { connections: 1 });
  try {
    await database.transaction(async (tx) => {
      await tx.executeSql(`${statement} for update`);
      await work();
    });
  } finally {
    await database.close();
  }
}

async function install(): Promise<void> {
  const isThere = (): boolean => existsSync(join(BINARIES, 'initdb'));
  if (await installPackage(PACKAGE, isThere)) return;
  throw new Error(
    `The tests in test/fleet need ${PACKAGE} in ${BINARIES}: apt install ${PACKAGE}. npm test does without it.`,
  );
}
