import { monotonicMs } from '../time/monotonic.ts';
import type { ProcessEntry, ProcessIdentity } from './process-table.ts';
import { createTree, type ProcessTree, type TreeSigns, type TreeSweep } from './process-tree.ts';
import type { Schedule } from './tree-watch.ts';

export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

export interface EscalationStep {
  readonly atMs: number;
  readonly signal: EndSignal;
  readonly to: 'agent-group' | 'everything';
}

/*
 * How an agent is ended. The steps stop as soon as no process of its tree is alive.
 *
 *   0 s      0.7 s              2 s             3 s ─ ─ ─ ─ ─ ─ ─ ─ 5 s
 *   │        │                  │               │ every 50 ms       │
 *   SIGINT   SIGINT             SIGTERM         SIGKILL, and again  given up
 *   agent's  again: one can be  everything      everything
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

/**
 * For an agent in a sandbox: a signal to the wrappers around the agent would end everything before the agent can report
 * its cost, so only the last step reaches them. It ends the outermost wrapper, with which the kernel ends the rest.
 */
const INNER_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGINT', to: 'agent-group' },
  { atMs: 700, signal: 'SIGINT', to: 'agent-group' },
  { atMs: 2000, signal: 'SIGTERM', to: 'agent-group' },
  { atMs: 3000, signal: 'SIGKILL', to: 'everything' },
];

/** For background processes: a dev server gets SIGTERM and one second to react. */
const LEFTOVER_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGTERM', to: 'everything' },
  { atMs: 1000, signal: 'SIGKILL', to: 'everything' },
];

/** For what a killed ralph has left running: all ends within 5 s, including the start of the program that ends it. */
export const ORPHAN_ENDING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGINT', to: 'everything' },
  { atMs: 700, signal: 'SIGINT', to: 'everything' },
  { atMs: 1500, signal: 'SIGTERM', to: 'everything' },
  { atMs: 2500, signal: 'SIGKILL', to: 'everything' },
];

/** For processes that must not run a moment longer. */
export const KILLING: readonly EscalationStep[] = [
  { atMs: 0, signal: 'SIGKILL', to: 'everything' },
];

const LOOK_EVERY_MS = process.platform === 'linux' ? 50 : 100;
const KILL_FOR_MS = 2000;

/** The steps of an ending. Tests replace the clock, the timer and the signals. */
export interface EndOptions {
  readonly steps?: readonly EscalationStep[];
  readonly clock?: () => number;
  readonly schedule?: Schedule;
  /** Sends a signal; by default `process.kill`. A negative pid means a process group. */
  readonly kill?: (pid: number, signal: EndSignal) => void;
}

export interface ProcessEnding {
  /**
   * Resolves when no process is alive, or after two seconds of SIGKILL, which only processes of another user or stuck
   * in the kernel survive. Never rejects.
   */
  readonly done: Promise<void>;
  /** Sends SIGKILL at once, for a second Ctrl-C. */
  killNow(): void;
}

/** Ends a whole process tree within about 5 s. Sends the first signal at once. */
export function endTree(tree: ProcessTree, options: EndOptions = {}): ProcessEnding {
  const { clock = monotonicMs } = options;
  const { steps = tree.isInner === undefined ? AGENT_ENDING : INNER_ENDING } = options;
  const { schedule = scheduleFirmly, kill = killByPid } = options;
  const firstForAll = steps.findIndex(({ to }) => to === 'everything');
  let beganMs = clock();
  let next = 0;
  let killingSinceMs: number | null = null;
  let over = false;
  let cancel = () => {};

  const isAgent = tree.isInner ?? (({ pgid }: ProcessEntry): boolean => pgid === tree.agentGroup);

  let settle: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    settle = resolve;
  });

  function round(): void {
    const seen = lookTwice(tree);
    const givenUp = killingSinceMs !== null && clock() - killingSinceMs >= KILL_FOR_MS;
    if (seen.members.length === 0 || givenUp) {
      over = true;
      settle();
      return;
    }
    if (killingSinceMs !== null) send('SIGKILL', 'everything', seen);
    else takeStep(seen);
    cancel = schedule(round, LOOK_EVERY_MS);
  }

  /** Takes at most one step per round, so that each signal has its time even if rounds are late. */
  function takeStep(seen: TreeSweep): void {
    const agentIsGone = !seen.members.some(isAgent);
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
    const signalled = new Set<number>();
    const isAlone = to === 'agent-group' && tree.isInner !== undefined;
    for (const entry of seen.members) {
      const { pid, pgid } = entry;
      if (to === 'agent-group' && !isAgent(entry)) continue;
      // A group of only members is signalled as a whole, which reaches new forks, too. The targets 0
      // and -1 have other meanings in kill(2).
      const target = !isAlone && seen.ownGroups.has(pgid) && pgid > 1 ? -pgid : pid;
      if (signalled.has(target)) continue;
      signalled.add(target);
      try {
        kill(target, signal);
      } catch {
        // The process has just died (ESRCH) or is another user's (EPERM). The next sweep shows which.
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
 * SIGKILL after a second. If `marker`, a run's id, is set, also ends every process that has this id in
 * its environment and started no earlier than the oldest of `processes`.
 */
export function endLeftovers(
  processes: readonly ProcessIdentity[],
  options: EndOptions & Partial<Pick<TreeSigns, 'marker' | 'neverPids'>> = {},
): ProcessEnding {
  const { marker = null, neverPids = [], ...rest } = options;
  const oldest = Math.min(...processes.map(({ startedAt }) => Number(startedAt)));
  const since = processes.length === 0 ? null : String(oldest);
  const tree = createTree({ seeds: processes, marker, since, neverPids });
  return endTree(tree, { steps: LEFTOVER_ENDING, ...rest });
}

/** Returns the tree of a run's living processes, which are found by the run's marker. */
export function treeOfRun(marker: string): ProcessTree {
  return createTree({ seeds: [], marker, since: null });
}

/**
 * Finds the processes that the run of a dead ralph has left. That run's guard process may be ending them at the
 * same time. `end` resolves when they have ended, or after two seconds of SIGKILL.
 */
export function leftoversOfRun(runId: string): {
  readonly pids: readonly number[];
  end(): Promise<void>;
} {
  if (runId === '') return { pids: [], end: async () => {} };
  const tree = treeOfRun(runId);
  return {
    pids: tree.sweep().members.map(({ pid }) => pid),
    end: () => endTree(tree, { steps: ORPHAN_ENDING }).done,
  };
}

/**
 * Sweeps a tree, and again if the sweep was empty: a sweep can miss a process whose parent forked it
 * and died while the sweep ran. The caller sends its signals at once, before anything else can run,
 * so they never hit a reused pid.
 */
function lookTwice(tree: ProcessTree): TreeSweep {
  const seen = tree.sweep();
  return seen.members.length > 0 ? seen : tree.sweep();
}

function killByPid(pid: number, signal: EndSignal): void {
  process.kill(pid, signal);
}

/** Starts a timer that keeps ralph alive, so that the ending is always completed. */
function scheduleFirmly(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
