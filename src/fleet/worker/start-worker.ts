import { chmodSync, realpathSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { writeDuration } from '../../core/settings/duration.ts';
import { LONGEST_LEG_MS } from '../../core/supervisor/lease.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { namesIn } from '../../effects/files/folder.ts';
import { freeBytes } from '../../effects/files/folder-probe.ts';
import { homeFolder } from '../../effects/files/home-folder.ts';
import { makePrivateFolder } from '../../effects/files/write-file.ts';
import { distrustPath } from '../../effects/trust/owner.ts';
import { FleetError, messageOf } from '../../errors.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { FLEET_SCHEMA } from '../core/fleet-task.ts';
import { DEFAULT_POLICY, isSandboxed } from '../core/worker-policy.ts';
import type { FleetQueue } from '../database/fleet-queue.ts';
import { readAccountsFile } from '../worker-files/accounts-file.ts';
import { readPolicyFile } from '../worker-files/policy-file.ts';
import { runWorker, type WorkerOptions } from './worker.ts';

/** A worker's run of a task (a leg) that gets this old is ended even in the middle of an iteration. */
const OLDEST_LEG_MS = 23.5 * 3_600_000;
/** How long a failing git call to a task's repository is repeated, in milliseconds. */
const ORIGIN_PATIENCE_MS = 3_600_000;
/** How long a worker claims nothing after it could not run a task here, in milliseconds. */
const REST_MS = 5 * 60_000;

/** The request that `ralph worker` was started with. */
export interface WorkerRequest
  extends Pick<
    WorkerOptions,
    'queues' | 'slots' | 'pollMs' | 'untilEmpty' | 'drainTimeoutMs' | 'keepTrees' | 'isVerbose'
  > {
  /** The URL of the fleet. */
  readonly fleet: string;
  /** The worker's name; null: made from host and pid. */
  readonly id: string | null;
  /** The worker's folder; null: the default one. */
  readonly home: string | null;
  readonly accountsFile: string | null;
  readonly policyFile: string | null;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly open: (url: string) => Promise<FleetQueue>;
}

/**
 * Opens the fleet and works through its tasks. Resolves as `runWorker` does. Rejects with a `FleetError` or a
 * `UsageError` before it claims anything.
 */
export async function startWorker(
  { fleet, accountsFile, policyFile, open, ...request }: WorkerRequest,
  stops: StopRequests,
  say: (line: string) => void,
): Promise<{ readonly gaveBack: boolean }> {
  const { env } = request;
  const policy = policyFile === null ? DEFAULT_POLICY : readPolicyFile(policyFile);
  const accounts = accountsFile === null ? null : readAccountsFile(accountsFile);
  const home = workerHome(request.home, env);
  if (isSandboxed(policy)) await requireSandbox(home, env, stops.signal);
  const host = hostname();
  const id = request.id ?? `${host}-${process.pid}`;
  const queue = await open(fleet);
  try {
    say(
      `worker ${id} on ${host}, ${queue.name}: queues ${request.queues.join(', ')}, ${request.slots} at once, lease ${writeDuration(queue.leaseMs)}, ${policyFile === null ? 'the default policy' : `policy ${policyFile}`}`,
    );
    return await runWorker({
      ...{ ...request, queue, id, host, home, policy, accounts, stops },
      hidden: hiddenFrom(home, [accountsFile, policyFile, keyFileOf(fleet)], env),
      schema: FLEET_SCHEMA,
      roomLeft: () => freeBytes(home),
      ...{ longestLegMs: LONGEST_LEG_MS, oldestLegMs: OLDEST_LEG_MS },
      ...{ originPatienceMs: ORIGIN_PATIENCE_MS, restMs: REST_MS },
      // A line may quote an agent or a repository, so control characters are removed.
      say: (line) => say(oneLine(line, 1_000)),
    });
  } finally {
    await queue.close();
  }
}

/** Rejects with a `FleetError` if no sandbox works here: otherwise every task would fail for that reason. */
async function requireSandbox(
  home: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const { sandboxRefusals } = await import('../../compose/sandbox/sandbox-refusals.ts');
  const refusals = await sandboxRefusals(home, env, signal);
  if (refusals.length === 0) return;
  throw new FleetError(
    `The policy has sandbox: true, which this worker cannot provide. ${refusals.join(' ')}`,
  );
}

const OWN_NAMES: ReadonlySet<string> = new Set(['legs', 'mirrors']);

/**
 * Returns the worker's folder, which is made if it is missing, and made private to this user. Throws a `FleetError` if
 * others can write to it, or if others can read it and it holds other files than a worker's.
 */
export function workerHome(named: string | null, env: NodeJS.ProcessEnv): string {
  const home = named === null ? defaultHome(env) : path.resolve(named);
  try {
    makePrivateFolder(home);
  } catch (error) {
    throw new FleetError(
      `The worker's home ${home} cannot be made (${messageOf(error)}); name another folder with --home.`,
    );
  }
  const why = distrustPath(home);
  if (why !== null) throw new FleetError(`${home} is not used as the worker's home: ${why}.`);
  const real = realpathSync(home);
  if ((statSync(real).mode & 0o077) === 0) return real;
  if (namesIn(real).some((name) => !OWN_NAMES.has(name))) {
    throw new FleetError(
      `${home} is not used as the worker's home: others can read it, and it has more in it than a worker's; name a folder of its own, or use chmod 700.`,
    );
  }
  chmodSync(real, 0o700);
  return real;
}

function defaultHome(env: NodeJS.ProcessEnv): string {
  const { XDG_STATE_HOME: stateHome = '' } = env;
  if (path.isAbsolute(stateHome)) return path.join(stateHome, 'ralph-worker');
  const home = homeFolder(env);
  if (home !== null) return path.join(home, '.local', 'state', 'ralph-worker');
  throw new FleetError('There is no home folder for the worker; name one with --home DIR.');
}

/** Returns the file with the private key of a certificate, if the fleet's URL names one. */
export function keyFileOf(fleet: string): string | null {
  return new URLSearchParams(fleet.slice(fleet.indexOf('?') + 1)).get('sslkey');
}

/** Returns files and folders for the sandbox to hide: they give access to the database, accounts or other tasks. */
export function hiddenFrom(
  home: string,
  files: readonly (string | null)[],
  env: NodeJS.ProcessEnv,
): readonly string[] {
  const user = homeFolder(env);
  const passwords = [env.PGPASSFILE, user === null ? undefined : path.join(user, '.pgpass')];
  const named = [...files, ...passwords].flatMap((file) => file || []);
  return [home, ...named.map((file) => path.resolve(file))];
}
