import type { Readable } from 'node:stream';
import { startBeatClock } from './beat-clock.ts';
import { endTree, KILLING } from './end-process.ts';
import type { ProcessIdentity } from './process-table.ts';
import { createTree } from './process-tree.ts';

export interface WatchedRun {
  readonly runId: string;
  /** The driver, the process of ralph that runs the task; null if it could not be read. */
  readonly driver: ProcessIdentity | null;
  readonly leaseMs: number;
  /** The driver's lines: `note PID:START …` (what runs), `beat AGE_MS` (its claim was renewed), and `bye` (the end). */
  readonly input: Readable;
}

export type WatchEnd =
  | { readonly kind: 'dismissed' }
  /** The pipe closed without `bye`. */
  | {
      readonly kind: 'closed';
      readonly noted: readonly ProcessIdentity[];
      /** Whether the last beat is too old by now. */
      isOver(): boolean;
    };

/** How often the age of the last beat is checked: often enough for the shortest lease. */
const LOOK_AT_LEAST_EVERY_MS = 250;
const LOOKS_A_LEASE = 40;
/** How often, once the time is up, all of /proc is searched for processes with the run's id in their environment. */
const SWEEP_EVERY_MS = 500;

/*
 * A driver that is suspended, or whose machine is cut off, keeps its pipe open, and its agent works on while another
 * worker claims the task. So the guard counts by itself:
 *
 *   beat ────► young ──── 0.8 × lease without a beat ────► over: kills what was noted and what has the marker,
 *               ▲                                          at once, every 500 ms, and with each note
 *               └───────────── beat ──────────────────────── │
 */
/** Kills the processes of a run while its last beat is too old. Resolves when the driver says `bye` or is gone. */
export function watchLease({ runId, driver, leaseMs, input }: WatchedRun): Promise<WatchEnd> {
  const beats = startBeatClock(leaseMs, process.uptime() * 1_000);
  let noted: readonly ProcessIdentity[] = [];
  let isKilling = false;
  let sweptAtMs = Number.NEGATIVE_INFINITY;

  const killAll = async (marker: string | null): Promise<void> => {
    const since = driver?.startedAt ?? null;
    const neverPids = driver === null ? [] : [driver.pid];
    const tree = createTree({ seeds: noted, marker, since, neverPids });
    await endTree(tree, {
      steps: KILLING,
      kill(pid, signal) {
        // If a beat has come meanwhile, the driver may start an agent again.
        if (beats.isOver()) process.kill(pid, signal);
      },
    }).done;
  };
  const kill = (): void => {
    if (isKilling) return;
    isKilling = true;
    // Searching all processes for the run's id takes seconds on a busy machine, so the noted ones are killed first.
    const both = Promise.all([killAll(null), killAll(runId)]);
    void both.finally(() => {
      isKilling = false;
      sweptAtMs = performance.now();
    });
  };

  return new Promise((resolve) => {
    const everyMs = Math.min(LOOK_AT_LEAST_EVERY_MS, leaseMs / LOOKS_A_LEASE);
    const timer = setInterval(() => {
      const isDue = performance.now() - sweptAtMs >= SWEEP_EVERY_MS;
      if (isDue && beats.isOver()) kill();
      // Node reads the pipe between its timers and its immediates, so by then the pipe is empty.
      setImmediate(beats.emptied);
    }, everyMs);
    const end = (how: WatchEnd): void => {
      clearInterval(timer);
      resolve(how);
    };
    const take = (line: string): void => {
      const [word, ...rest] = line.split(' ');
      if (word === 'bye') end({ kind: 'dismissed' });
      if (word === 'beat') beats.beat(Number(rest[0]));
      if (word !== 'note') return;
      noted = rest.flatMap(identityOf);
      if (beats.isOver()) kill();
    };
    let text = '';
    input.setEncoding('utf8');
    input.on('data', (chunk: string) => {
      const lines = `${text}${chunk}`.split('\n');
      text = lines.pop() ?? '';
      lines.forEach(take);
    });
    // A broken pipe counts as closed.
    for (const event of ['end', 'error'] as const) {
      input.on(event, () => end({ kind: 'closed', noted, isOver: beats.isOver }));
    }
  });
}

/** Parses `PID:START`; returns an empty list for any other form. */
export function identityOf(name: string): ProcessIdentity[] {
  const [, pid, startedAt] = /^(\d+):(\d+)$/.exec(name) ?? [];
  return pid === undefined || startedAt === undefined ? [] : [{ pid: Number(pid), startedAt }];
}
