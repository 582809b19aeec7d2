import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetTaskFacts } from '../../src/fleet/core/fleet-task.ts';
import type { FleetQueue } from '../../src/fleet/database/fleet-queue.ts';
import type { FleetHost } from './fleet-hosts.ts';
import type { FleetOrigin, FleetSite } from './fleet-site.ts';
import { type FleetStub, makeFleetStub, type StubTurn } from './fleet-stub.ts';
import { PATIENCE_MS } from './patience.ts';
import { openTestFleet } from './postgres.ts';
import { isDead, until } from './processes.ts';
import { type RalphEnd, type RunRalphOptions, runRalph } from './run-ralph.ts';

/** A worker that was started on a host. */
export interface FleetWorker {
  readonly host: FleetHost;
  readonly pid: number;
  /** What it has said so far. */
  said(): string;
  untilSaid(pattern: RegExp, timeoutMs?: number): Promise<void>;
  /** Signals the worker alone: neither its guards nor its agents. */
  signal(signal: NodeJS.Signals): void;
  isAlive(): boolean;
  /** Resolves to its exit code, or to the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** One fleet on a site, with a repository and a stub of an agent of its own. */
export interface FleetScene {
  readonly site: FleetSite;
  readonly hosts: readonly FleetHost[];
  readonly folder: string;
  readonly origin: FleetOrigin;
  readonly stub: FleetStub;
  /** For this process; `hostUrl` is for what runs on the hosts. */
  readonly url: string;
  readonly hostUrl: string;
  readonly queue: FleetQueue;
  /** Runs a command of ralph on a host; default: that of the database. */
  ralph(args: readonly string[], options?: RunRalphOptions, host?: FleetHost): Promise<RalphEnd>;
  /** Queues tasks by `ralph submit --batch`: each with what a short task needs, and then its own keys. */
  submit(tasks: readonly Readonly<Record<string, unknown>>[]): Promise<readonly string[]>;
  /** Starts `ralph worker` on a host, and waits until it has said that it is there. `program`: another ralph. */
  startWorker(host: FleetHost, args?: readonly string[], program?: string): Promise<FleetWorker>;
  /** Returns a task; rejects if there is none of that id. */
  task(taskId: string): Promise<FleetTaskFacts>;
  tasks(): Promise<readonly FleetTaskFacts[]>;
  /** Waits until every task has ended; rejects, and says what is open, after `timeoutMs`, which only a hang reaches. */
  untilEmpty(timeoutMs?: number): Promise<readonly FleetTaskFacts[]>;
  /** Kills the workers and what they started, and closes the connection. */
  end(): Promise<void>;
}

/** What the workers of the tests allow, unless a test says otherwise. */
const POLICY = 'repos: ["git://*", "file:///*"]\nagents: [claude]\ncommands: any\n';

/** No server asks for it; it must be seen nowhere. */
export const PASSWORD = 'word-of-the-fleet';

/** What most tasks of the tests need. */
const TASK = { prompt: 'Do the work.', delay: '0s', max_iterations: 50 };

export interface FleetSceneOptions {
  readonly lease?: string;
  readonly turn?: StubTurn;
  /** The text of the policy file. */
  readonly policy?: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** Makes a fleet on a site. */
export async function makeFleetScene(
  site: FleetSite,
  { lease = '10s', turn, policy = POLICY, files }: FleetSceneOptions = {},
): Promise<FleetScene> {
  const { hosts, base } = site.hosts;
  const folder = mkdtempSync(join(site.folder, 'scene-'));
  const stub = makeFleetStub(join(folder, 'stub'), turn);
  const origin = site.makeOrigin(files);
  const url = await site.postgres.emptyUrl();
  const hostUrl = site.postgres.hostUrl(url).replace('ralph@', `ralph:${PASSWORD}@`);
  const policyFile = join(folder, 'policy.yaml');
  writeFileSync(policyFile, policy, { mode: 0o600 });

  const environment = (host: FleetHost): Record<string, string> => ({
    PATH: [stub.bin, dirname(process.execPath), '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':'),
    HOME: host.home,
    XDG_STATE_HOME: join(host.home, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
    RALPH_FLEET: hostUrl,
    // An agent must not get this either.
    PGAPPNAME: PASSWORD,
    ...host.env,
    ...stub.env(host.name),
  });
  const ralph: FleetScene['ralph'] = (args, options = {}, host = base) =>
    runRalph(args, {
      program: installedRalph(),
      under: host.under,
      cwd: folder,
      home: host.home,
      timeoutMs: PATIENCE_MS,
      ...options,
      env: { ...environment(host), ...options.env },
    });
  const said = await ralph(['fleet', 'init', '--lease', lease]);
  if (said.exitCode !== 0) throw new Error(`ralph fleet init failed: ${said.stderr}`);
  const queue = await openTestFleet(url);
  const workers: FleetWorker[] = [];
  let started = 0;

  const scene: FleetScene = {
    ...{ site, hosts, folder, origin, stub, url, hostUrl, queue, ralph },
    async submit(tasks) {
      const lines = tasks.map((task) => JSON.stringify({ repo: origin.url, ...TASK, ...task }));
      const end = await ralph(['submit', '--batch', '-'], { input: `${lines.join('\n')}\n` });
      if (end.exitCode !== 0) throw new Error(`ralph submit failed: ${end.stderr}`);
      return end.stdout.split('\n').filter(Boolean);
    },
    async startWorker(host, args = [], program = installedRalph()) {
      started += 1;
      const log = join(folder, `worker${started}.log`);
      const worker = spawnWorker(host, environment(host), log, [
        ...[program, 'worker', '--policy', policyFile, '--poll', '500ms', ...args],
      ]);
      workers.push(worker);
      // Several may start at once on a busy machine.
      await worker.untilSaid(/^(?:ralph: )?worker \S+ on /m);
      return worker;
    },
    async task(taskId) {
      const found = await queue.task(taskId);
      if (found === null) throw new Error(`there is no task ${taskId}`);
      return found;
    },
    tasks: () => queue.tasks({}),
    async untilEmpty(timeoutMs = PATIENCE_MS) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        // The database may be away just now.
        const tasks = await queue.tasks({}).catch(() => null);
        if (tasks?.every(({ ended_at }) => ended_at !== null)) return tasks;
        if (performance.now() > deadline) {
          const open = tasks?.filter(({ ended_at }) => ended_at === null) ?? [];
          throw new Error(
            `not ended after ${timeoutMs} ms: ${open.map(shown).join(', ')}\n${workers.map((each) => each.said().slice(-3_000)).join('\n---\n')}`,
          );
        }
        await sleep(250);
      }
    },
    async end() {
      for (const host of hosts) host.signalAll('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      await queue.close().catch(() => {});
    },
  };
  return scene;
}

function shown({ spec, status, iterations, worker, parked }: FleetTaskFacts): string {
  return `${spec.task_id} ${status} ${iterations} ${worker ?? parked?.kind ?? 'queued'}`;
}

/** The `ralph` beside which pg-boss is installed. */
export function installedRalph(): string {
  const { RALPH_TEST_INSTALLATION: place } = process.env;
  if (place === undefined) throw new Error('no installation; see test/helpers/install-engine.ts');
  return join(place, 'node_modules', 'ralph-headless', 'bin', 'ralph.js');
}

function spawnWorker(
  host: FleetHost,
  env: Readonly<Record<string, string>>,
  log: string,
  args: readonly string[],
): FleetWorker {
  const out = openSync(log, 'a');
  const node = [process.execPath, ...args];
  const [program = '', ...words] = [...host.under, ...node];
  mkdirSync(host.home, { recursive: true });
  const child = spawn(program, words, { cwd: host.home, env, stdio: ['ignore', out, out] });
  closeSync(out);
  const { pid = 0 } = child;
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  const said = (): string => readFileSync(log, 'utf8');
  return {
    ...{ host, pid, ended, said },
    isAlive: () => !isDead(pid),
    async untilSaid(pattern, timeoutMs = PATIENCE_MS) {
      await until(
        () => {
          if (pattern.test(said())) return true;
          if (isDead(pid)) throw new Error(`the worker ended without ${pattern}:\n${said()}`);
          return false;
        },
        () => `${pattern} in what the worker says: ${said()}`,
        timeoutMs,
      );
    },
    signal: (signal) => void child.kill(signal),
  };
}
