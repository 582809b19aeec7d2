import { monotonicMs } from '../time/monotonic.ts';
import type { ProcessIdentity } from './process-table.ts';
import {
  createTree,
  type LeftoverProcess,
  type ProcessTree,
  type Schedule,
  type TreeSigns,
  type TreeSweep,
  withCommands,
} from './process-tree.ts';

export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

export interface EscalationStep {
  readonly atMs: number;
  readonly signal: EndSignal;
  readonly to: 'agent-group' | 'everything';
}

/*
 * How an agent is ended. It stops as soon as no process of the tree is alive.
 *
 *   0 s      0.7 s              2 s             3 s ─ ─ ─ ─ ─ ─ ─ ─ 5 s
 *   │        │                  │               │ every 50 ms       │
 *   SIGINT   SIGINT             SIGTERM         SIGKILL, look again │ survivors
 *   agent's  again: one can be  everything      everything          │ are reported
 *   group    swallowed in       that is left    that is left
 *      │     start-up              ▲               ▲
 *      │                           │               │
 *      └── group empty? ───────────┘               └── killNow()
 *
 * `claude` ends its tools and reports the cost only on SIGINT; on SIGTERM it leaves the tools
 * running. The whole group is signalled because npm's wrapper or a shell shim may stand in front of
 * `claude`. Its tools have their own sessions, which no signal to the group reaches.
 */
const AGENT_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGINT', to: 'agent-group' },
  { atMs: 700, signal: 'SIGINT', to: 'agent-group' },
  { atMs: 2000, signal: 'SIGTERM', to: 'everything' },
  { atMs: 3000, signal: 'SIGKILL', to: 'everything' },
];

/** A dev server gets the usual signal and one second to react. */
const LEFTOVER_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGTERM', to: 'everything' },
  { atMs: 1000, signal: 'SIGKILL', to: 'everything' },
];

/** Nobody is left to read a report, and all must be over within 5 s, Node's start-up included. */
export const ORPHAN_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGINT', to: 'everything' },
  { atMs: 700, signal: 'SIGINT', to: 'everything' },
  { atMs: 1500, signal: 'SIGTERM', to: 'everything' },
  { atMs: 2500, signal: 'SIGKILL', to: 'everything' },
];

const LOOK_EVERY_MS = process.platform === 'linux' ? 50 : 100;
const KILL_FOR_MS = 2000;

/** The clock, timer and signals, replaceable in tests. */
export interface EndOptions {
  readonly steps?: readonly EscalationStep[];
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number;
  readonly schedule?: Schedule;
  /** `process.kill`; a negative pid means a process group. */
  readonly kill?: (pid: number, signal: EndSignal) => void;
}

interface EndReport {
  /** The last signal sent; null if nothing was alive to begin with. */
  readonly endedBy: EndSignal | null;
  /** Processes that outlived two seconds of SIGKILL: another user's, or stuck in the kernel. */
  readonly survivors: readonly LeftoverProcess[];
}

/** A process tree that is being ended. */
export interface Ending {
  /** Resolves when nothing is alive or nothing more can be done. Never rejects. */
  readonly done: Promise<EndReport>;
  /** Sends SIGKILL at once, for a second Ctrl-C. */
  killNow(): void;
}

/** Ends a whole process tree. The first signal is sent at once; it takes at most about 5 s. */
export function endTree(tree: ProcessTree, options: EndOptions = {}): Ending {
  const { steps = AGENT_ENDING, clock = monotonicMs } = options;
  const { schedule = scheduleFirmly, kill = killByPid } = options;
  const firstForAll = steps.findIndex(({ to }) => to === 'everything');
  let beganMs = clock();
  let next = 0;
  let killingSinceMs: number | null = null;
  let endedBy: EndSignal | null = null;
  let over = false;
  let cancel = () => {};

  let settle: (report: EndReport) => void = () => {};
  const done = new Promise<EndReport>((resolve) => {
    settle = resolve;
  });

  function round(): void {
    const seen = lookTwice(tree);
    const givenUp = killingSinceMs !== null && clock() - killingSinceMs >= KILL_FOR_MS;
    if (seen.members.length === 0 || givenUp) {
      over = true;
      settle({ endedBy, survivors: withCommands(seen.members) });
      return;
    }
    if (killingSinceMs !== null) send('SIGKILL', 'everything', seen);
    else takeStep(seen);
    cancel = schedule(round, LOOK_EVERY_MS);
  }

  /** At most one step per round, so that each signal has its time even if rounds come late. */
  function takeStep(seen: TreeSweep): void {
    const agentIsGone = !seen.members.some(({ pgid }) => pgid === tree.agentGroup);
    if (agentIsGone && next <= firstForAll) {
      next = firstForAll;
      beganMs = Math.min(beganMs, clock() - (steps[next]?.atMs ?? 0));
    }
    const step = steps[next];
    if (step === undefined || clock() - beganMs < step.atMs) return;
    next += 1;
    send(step.signal, step.to, seen);
  }

  function send(signal: EndSignal, to: EscalationStep['to'], seen: TreeSweep): void {
    if (signal === 'SIGKILL') killingSinceMs ??= clock();
    endedBy = signal;
    const signalled = new Set<number>();
    for (const { pid, pgid } of seen.members) {
      if (to === 'agent-group' && pgid !== tree.agentGroup) continue;
      // Signals a whole group, including new forks. kill(2) treats 0, 1 and -1 specially.
      const target = seen.ownGroups.has(pgid) && pgid > 1 ? -pgid : pid;
      if (signalled.has(target)) continue;
      signalled.add(target);
      try {
        kill(target, signal);
      } catch {
        // It has just died (ESRCH), or is another user's (EPERM): the next sweep will tell.
      }
    }
  }

  round();
  return {
    done,
    killNow() {
      if (over) return;
      cancel();
      killingSinceMs ??= clock();
      round();
    },
  };
}

/**
 * Ends background processes that an iteration left, and everything they started: SIGTERM, then
 * SIGKILL after a second. With a marker, it also ends every process that carries it and is not
 * older than the oldest of them.
 */
export function endLeftovers(
  processes: readonly ProcessIdentity[],
  options: EndOptions & Partial<Pick<TreeSigns, 'marker' | 'neverPids' | 'spare'>> = {},
): Ending {
  const { marker = null, neverPids = [], spare = () => [], ...rest } = options;
  const oldest = Math.min(...processes.map(({ startedAt }) => Number(startedAt)));
  const since = processes.length === 0 ? null : String(oldest);
  const tree = createTree({ seeds: processes, marker, since, neverPids, spare });
  return endTree(tree, { steps: LEFTOVER_ENDING, ...rest });
}

/**
 * A sweep reads pid and start time, and the signals follow before anything else can run, so a
 * reused pid is never hit. Only two empty sweeps in a row mean that nothing is alive: a process
 * forked during a sweep by a parent that died during it is in neither list.
 */
function lookTwice(tree: ProcessTree): TreeSweep {
  const seen = tree.sweep();
  return seen.members.length > 0 ? seen : tree.sweep();
}

function killByPid(pid: number, signal: EndSignal): void {
  process.kill(pid, signal);
}

/** Keeps ralph alive until the timeout, so that the ending is always completed. */
function scheduleFirmly(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** Returns the pids of all living processes of a run, found by its marker. */
export function findRun(runId: string): readonly number[] {
  if (runId === '') return [];
  const tree = createTree({ seeds: [], marker: runId, since: null });
  return tree.sweep().members.map(({ pid }) => pid);
}

/**
 * Ends all living processes of a dead driver's run, found by its marker; the guard may be doing the
 * same. Resolves to how many there were, once none is left or nothing more can be done.
 */
export async function sweepRun(runId: string): Promise<number> {
  if (runId === '') return 0;
  const tree = createTree({ seeds: [], marker: runId, since: null });
  const found = tree.sweep().members.length;
  if (found > 0) await endTree(tree, { steps: ORPHAN_ENDING }).done;
  return found;
}
