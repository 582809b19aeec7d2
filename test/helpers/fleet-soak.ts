import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from './fault-scene.ts';
import type { FleetScene, FleetWorker } from './fleet-scene.ts';
import { PATIENCE_MS } from './patience.ts';
import { isDead, until } from './processes.ts';

/** What is done to a host. */
export type Disturbance =
  /** The worker is killed, and one is started in its place. */
  | 'killed'
  /** All that runs on the host is killed, its guards too, and a worker is started. */
  | 'lost'
  /** The worker alone is stopped for longer than a lease. */
  | 'stopped'
  /** The link of the host is down for longer than a lease. */
  | 'cut';

/** How workers are disturbed. */
export interface Soak {
  readonly seed: number;
  readonly slots: number;
  readonly leaseMs: number;
  /** Milliseconds between two disturbances on the average; the seed says when each comes. */
  readonly everyMs: number;
  readonly kinds: readonly Disturbance[];
  /** Whether another disturbance follows, after so many of them and so many milliseconds. */
  goesOn(count: number, sinceMs: number): boolean;
  /** A sign that is waited for before the first one; without it, that comes when it comes. */
  readonly firstWhen?: (worker: FleetWorker) => boolean;
  /** How long the tasks may take after the last one, in milliseconds. */
  readonly patienceMs: number;
  /** Is told of each disturbance, one line. */
  readonly tell: (line: string) => void;
}

/** What came of a soak. */
export interface Soaked {
  /** What workers did that they must not, one sentence each. */
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<Disturbance, number>>;
}

/** How long a host stays without a worker after it was killed, in milliseconds. */
const AWAY_MS = 1_000;

/**
 * Starts a worker on each host of a scene, disturbs one after another, and waits until all tasks have ended and the
 * workers were told to stop.
 */
export async function soakFleet(scene: FleetScene, soak: Soak): Promise<Soaked> {
  const random = seeded(soak.seed);
  const counts = { killed: 0, lost: 0, stopped: 0, cut: 0 };
  const problems: string[] = [];
  const workers = new Map<string, FleetWorker>();
  const start = async (host: FleetScene['hosts'][number]): Promise<void> => {
    workers.set(host.name, await scene.startWorker(host, ['--slots', String(soak.slots)]));
  };
  await Promise.all(scene.hosts.map(start));

  /** The hosts to which something is being done, until it is over. */
  const busy = new Map<string, Promise<void>>();
  const disturb = async (worker: FleetWorker, kind: Disturbance): Promise<void> => {
    const { host } = worker;
    const longMs = soak.leaseMs * (1.1 + random());
    if (kind === 'stopped') {
      worker.signal('SIGSTOP');
      await sleep(longMs);
      worker.signal('SIGCONT');
    } else if (kind === 'cut') {
      await host.cut();
      await sleep(longMs);
      await host.heal();
    } else {
      if (kind === 'killed') worker.signal('SIGKILL');
      else host.signalAll('SIGKILL');
      await worker.ended;
      await sleep(AWAY_MS);
      await start(host);
    }
  };

  const beganMs = performance.now();
  const sinceMs = (): number => performance.now() - beganMs;
  const count = (): number => Object.values(counts).reduce((sum, each) => sum + each);
  while (soak.goesOn(count(), sinceMs())) {
    await sleep(soak.everyMs * (0.5 + random()));
    for (const worker of workers.values()) {
      if (worker.isAlive() || busy.has(worker.host.name)) continue;
      problems.push(`a worker ended by itself: ${await worker.ended}\n${tail(worker)}`);
      await start(worker.host);
    }
    const free = [...workers.values()].filter(({ host }) => !busy.has(host.name));
    const worker = free[Math.floor(random() * free.length)];
    const kind = soak.kinds[Math.floor(random() * soak.kinds.length)];
    if (worker === undefined || kind === undefined) continue;
    const { firstWhen } = soak;
    if (firstWhen !== undefined && count() === 0) {
      await until(
        () => firstWhen(worker),
        () => `the sign before the first disturbance; ${tail(worker)}`,
      );
    }
    const { name } = worker.host;
    counts[kind] += 1;
    soak.tell(`${Math.round(sinceMs() / 1_000)} s: ${name} is ${kind}`);
    const over = disturb(worker, kind)
      .catch((error) => void problems.push(`${name}, ${kind}: ${error}`))
      .finally(() => busy.delete(name));
    busy.set(name, over);
  }
  await Promise.all(busy.values());
  await scene
    .untilEmpty(soak.patienceMs)
    .catch((error) => void problems.push(error instanceof Error ? error.message : String(error)));
  for (const worker of workers.values()) {
    if (!worker.isAlive()) {
      problems.push(`a worker ended by itself: ${await worker.ended}\n${tail(worker)}`);
      continue;
    }
    worker.signal('SIGTERM');
    const end = await Promise.race([worker.ended, sleep(PATIENCE_MS, 'not ended')]);
    if (end !== 0) problems.push(`a worker that was told to stop: ${end}\n${tail(worker)}`);
  }
  for (const host of scene.hosts) {
    // A guard ends by itself, soon after its worker.
    const left = (): number => host.pids().filter((pid) => !isDead(pid)).length;
    await until(
      () => left() === 0,
      () => `the end of ${left()} processes on ${host.name}`,
    ).catch((error) => void problems.push(String(error)));
  }
  return { problems, counts };
}

function tail(worker: FleetWorker): string {
  return worker.said().split('\n').slice(-5).join('\n');
}
