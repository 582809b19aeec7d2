import { createRequire } from 'node:module';
import path from 'node:path';
import { MB, tryReadText } from '../../effects/files/bounded-read.ts';
import { installedPackage, OWN_FILE } from '../../effects/files/installed-package.ts';
import { numberAt, objectAt, parseObject } from '../../effects/files/json-fields.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { FleetError } from '../../errors.ts';

/** The engine that runs the queue's jobs: a peer dependency, loaded only by commands that use a fleet. */
const PACKAGE = 'pg-boss';
const SERIES = '12.38';

/** The schema of the database in which the engine has its tables. */
export const ENGINE_SCHEMA = 'ralph_queue';

/** Runs statements: on any connection of a pool, or on the one connection of a transaction. */
export interface SqlRunner {
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape that each statement selects
  executeSql(text: string, values?: unknown[]): Promise<{ rows: any[] }>;
}

interface WithinTransaction {
  readonly db?: SqlRunner;
}

/** A job as `fetch` returns it. Its `retryCount` tells one attempt at it from another. */
export interface FetchedJob {
  readonly id: string;
  readonly retryCount: number;
  readonly heartbeatSeconds: number | null;
  readonly data: unknown;
}

/** Identifies one attempt at a job. */
export type JobAttempt = Pick<FetchedJob, 'id' | 'retryCount'>;

interface Affected {
  readonly affected: number;
  readonly settled?: readonly string[];
}

interface NewJob {
  readonly id: string;
  readonly data: object;
  readonly priority: number;
  readonly singletonKey: string;
  readonly group: { readonly id: string };
  readonly startAfter?: string;
}

/** The methods of pg-boss that ralph uses. */
export interface Boss {
  on(event: 'error' | 'warning', listener: (what: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean; close: boolean }): Promise<void>;
  isInstalled(): Promise<boolean>;
  schemaVersion(): Promise<number | null>;
  createQueue(name: string, options: object): Promise<void>;
  getJobById(name: string, id: string): Promise<object | null>;
  /** Makes jobs, except for tasks that already have one in this queue. Resolves to the ids of the jobs made. */
  insert(
    name: string,
    jobs: readonly NewJob[],
    options: WithinTransaction & { readonly returnId: true },
  ): Promise<readonly string[] | null>;
  fetch(
    name: string,
    options: WithinTransaction & { readonly ignoreGroups: readonly string[] },
  ): Promise<readonly FetchedJob[]>;
  touch(name: string, jobs: readonly JobAttempt[]): Promise<Affected>;
  complete(
    name: string,
    job: JobAttempt,
    data: null,
    options: WithinTransaction,
  ): Promise<Affected>;
  fail(
    name: string,
    jobs: readonly JobAttempt[],
    data: null,
    options: WithinTransaction,
  ): Promise<Affected>;
  deleteJob(name: string, id: string, options: WithinTransaction): Promise<Affected>;
}

interface BossModule {
  readonly PgBoss: new (options: object) => Boss;
  getConstructionPlans(schema: string): string;
  getMigrationPlans(schema: string, version: number): string;
}

/** One connection of `pg`. */
export interface PgClient {
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape that each statement selects
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount: number | null }>;
  release(broken?: boolean): void;
  on(event: 'error', listener: (error: Error) => void): void;
}

interface PgPool {
  connect(): Promise<PgClient>;
  on(event: 'error', listener: (error: Error) => void): void;
  on(event: 'connect', listener: (client: PgClient) => void): void;
  end(): Promise<void>;
}

interface PgModule {
  readonly Pool: new (options: object) => PgPool;
  readonly types: {
    getTypeParser(type: number, format: 'text' | 'binary'): (value: string) => unknown;
  };
}

export interface Engine extends BossModule, PgModule {
  /** The version of the tables that this pg-boss works with. */
  readonly tables: number;
}

/**
 * Loads pg-boss and its `pg`, which are searched for in the folder of `from` and the folders above it; by default from
 * ralph's own file. Rejects with a `FleetError` if they are missing or of another version.
 */
export async function loadEngine(from: string = OWN_FILE): Promise<Engine> {
  const found = installedPackage(PACKAGE, from);
  if (found === null || !found.version.startsWith(`${SERIES}.`)) {
    const what = found === null ? 'it is not installed' : `${found.version} is installed`;
    throw new FleetError(
      `A fleet needs ${PACKAGE} ${SERIES} beside ralph, and ${what}; run: npm install -g ${PACKAGE}@~${SERIES}.0 (without -g where ralph is installed in a project).`,
    );
  }
  const folder = realPath(found.place);
  const description = parseObject(tryReadText(path.join(folder, 'package.json'), MB) ?? '') ?? {};
  const tables = numberAt(objectAt(description, 'pgboss') ?? {}, 'schema');
  const main = path.join(folder, 'dist', 'index.js');
  const pg = installedPackage('pg', main);
  if (pg === null || tables === null) {
    throw new FleetError(
      `${folder} is not a whole installation of ${PACKAGE}; install it again: npm install ${PACKAGE}@~${SERIES}.0.`,
    );
  }
  // `pg` warns of features that its next major version drops, such as ~/.pgpass; the version in use still has them.
  process.noDeprecation = true;
  // A bundled script has no `import` for other files, but can require; every supported Node can require ES modules.
  const load = createRequire(main);
  const boss: BossModule = load(main);
  const { Pool, types }: PgModule = load(path.join(realPath(pg.place), 'lib', 'index.js'));
  return {
    PgBoss: boss.PgBoss,
    getConstructionPlans: boss.getConstructionPlans,
    getMigrationPlans: boss.getMigrationPlans,
    tables,
    Pool,
    types,
  };
}
