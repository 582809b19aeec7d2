import { monotonicMs } from './monotonic.ts';
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

/** The signals a process tree is ended with. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

/** One step of an escalation. */
export interface EscalationStep {
  readonly atMs: number;
  readonly signal: EndSignal;
  readonly to: 'agent-group' | 'everything';
}

/*
 * How an agent is ended; it is over as soon as nothing of it is alive.
 *
 *   0 s      0.7 s              2 s             3 s ─ ─ ─ ─ ─ ─ ─ ─ 5 s
 *   │        │                  │               │ every 50 ms       │
 *   SIGINT   SIGINT             SIGTERM         SIGKILL, look again │ survivors
 *   agent's  again: one can be  everything      everything          │ are reported
 *   group    swallowed in       that is left    that is left
 *      │     start-up              ▲               ▲
 *      │                           │               │
 *      └── nobody in that group? ──┘               └── killNow()
 *
 * `claude` ends its tools and reports the cost on SIGINT only: it leaves them running on SIGTERM. The
 * group, since npm's wrapper or a shell shim may stand in front of it. Its tools have sessions of
 * their own, where no signal to the group reaches them.
 */
const AGENT_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGINT', to: 'agent-group' },
  { atMs: 700, signal: 'SIGINT', to: 'agent-group' },
  { atMs: 2000, signal: 'SIGTERM', to: 'everything' },
  { atMs: 3000, signal: 'SIGKILL', to: 'everything' },
];

/** A dev server gets the usual signal and a second for it. */
const LEFTOVER_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGTERM', to: 'everything' },
  { atMs: 1000, signal: 'SIGKILL', to: 'everything' },
];

/** Nobody is left to read a report, and all is to be over within 5 s, node's own start included. */
export const ORPHAN_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGINT', to: 'everything' },
  { atMs: 700, signal: 'SIGINT', to: 'everything' },
  { atMs: 1500, signal: 'SIGTERM', to: 'everything' },
  { atMs: 2500, signal: 'SIGKILL', to: 'everything' },
];

const LOOK_EVERY_MS = process.platform === 'linux' ? 50 : 100;
const KILL_FOR_MS = 2000;

/** The outside of an ending, and its times. */
export interface EndOptions {
  readonly steps?: readonly EscalationStep[];
  /** Milliseconds since some moment, never going back. */
  readonly clock?: () => number;
  readonly schedule?: Schedule;
  /** `process.kill`: a negative pid is a process group. */
  readonly kill?: (pid: number, signal: EndSignal) => void;
}

/** How an ending went. */
interface EndReport {
  /** The last signal that was sent; null if nothing was alive in the first place. */
  readonly endedBy: EndSignal | null;
  /** What SIGKILL did not end in two seconds: another user's, or stuck in the kernel. */
  readonly survivors: readonly LeftoverProcess[];
}

/** An ending under way. */
export interface Ending {
  /** Settles when nothing is alive or nothing more can be done. Never rejects. */
  readonly done: Promise<EndReport>;
  /** SIGKILL at once, for whoever pressed Ctrl-C a second time. */
  killNow(): void;
}

/** Ends a whole process tree: the first signal is sent at once, and all is over within about 5 s. */
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

  /** One step a round at the most, so that each signal has its time however late the rounds come. */
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
      // A group at one go, newborns included. Numbers up to 1 mean "everybody" to kill(2).
      const target = seen.ownGroups.has(pgid) && pgid > 1 ? -pgid : pid;
      if (signalled.has(target)) continue;
      signalled.add(target);
      try {
        kill(target, signal);
      } catch {
        // Gone in this very moment (ESRCH), or another user's (EPERM): the next look tells.
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
 * Ends background processes that an iteration left, with whatever they started: SIGTERM, and SIGKILL
 * after a second. With a marker also what carries it and is not older than the oldest of them.
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
 * A look tells pid and start time of what is alive, and the signals follow before anything else can
 * run: a pid that another process has by now is never hit. That nothing is alive takes two looks
 * running, since a process forked during one, by a parent that died during it, is in neither list.
 */
function lookTwice(tree: ProcessTree): TreeSweep {
  const seen = tree.sweep();
  return seen.members.length > 0 ? seen : tree.sweep();
}

function killByPid(pid: number, signal: EndSignal): void {
  process.kill(pid, signal);
}

/** Keeps the process open until its time: an ending is to be seen through. */
function scheduleFirmly(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
