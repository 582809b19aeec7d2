import type { Leftover } from '../../core/agent/attempt.ts';
import { preview } from '../../core/secrets/secrets.ts';
import { ifPossible } from '../files/if-possible.ts';
import {
  countBirths,
  isYoungest,
  type ProcessEntry,
  type ProcessIdentity,
  readProcess,
} from './process-table.ts';
import { createTree, type ProcessTree, type TreeSigns, type TreeSweep } from './process-tree.ts';

/** Calls back once after a delay; the function it returns cancels it. */
export type Schedule = (callback: () => void, delayMs: number) => () => void;

export interface LeftoverProcess extends ProcessIdentity, Leftover {}

/** A process tree that is swept regularly. */
export interface TreeWatch extends ProcessTree {
  /** Returns the living processes of the tree except for the agent's main process, with command lines. */
  leftovers(): LeftoverProcess[];
  /** Stops the regular sweeps. The other methods still work. */
  stop(): void;
}

export interface TreeWatchOptions extends Pick<TreeSigns, 'neverPids' | 'exempt'> {
  /** The agent's pid; pass it right after the start, before the agent can be reaped. */
  readonly rootPid: number;
  readonly marker: string;
  /** `births()` (processes created since boot) from just before the agent's start. If null, every look is a sweep. */
  readonly birthsBefore?: number | null;
  readonly births?: () => number | null;
  /** Longest time between two looks for new processes; the first are closer. Default: 500, or 2,000 with `ps`. */
  readonly pollMs?: number;
  /** Called when a sweep finds other members than the sweep before: a guard process ends them if ralph is killed. */
  readonly onChange?: (members: readonly ProcessEntry[]) => void;
  readonly schedule?: Schedule;
}

const POLL_MS = process.platform === 'linux' ? 500 : 2000;
const FIRST_LOOK_MS = 50;

/** Records the descendants of an agent, which has to lead its process group. Call `stop()` when the agent has ended. */
export function createTreeWatch(options: TreeWatchOptions): TreeWatch {
  const { rootPid, marker, birthsBefore = null, onChange } = options;
  const { neverPids = [], exempt = () => [] } = options;
  const { pollMs = POLL_MS, schedule = scheduleLoosely, births = countBirths } = options;
  // Even without the agent's entry, the tree is found by the run's marker in the environment of its processes.
  const root = ifPossible(() => readProcess(rootPid));
  const tree = createTree({
    seeds: root === null ? [] : [root],
    marker,
    since: root?.startedAt ?? null,
    agentGroup: root?.pgid ?? null,
    neverPids,
    exempt,
  });
  let lastReported = '';
  function report(members: readonly ProcessEntry[]): void {
    const now = members.map(({ pid, startedAt }) => `${pid}:${startedAt}`).join(' ');
    if (now === lastReported) return;
    lastReported = now;
    onChange?.(members);
  }

  // Some sandboxes invent the count of processes: then it does not even include the agent.
  const isCounted = birthsBefore !== null && (births() ?? 0) > birthsBefore;
  let birthsSeen: number | null = null;
  function sweep(): TreeSweep {
    // Counted before the sweep, so that the next look finds a process that starts during the sweep.
    birthsSeen = isCounted ? births() : null;
    const seen = tree.sweep();
    report(seen.members);
    return seen;
  }

  /** Sweeps if a process was born since the last sweep; otherwise there is no new member. */
  function look(): void {
    if (birthsSeen === null || births() !== birthsSeen) sweep();
  }

  // The agent is reported at once, since ralph may be killed before the first sweep.
  if (root !== null) report([root]);
  let stopped = false;
  let cancel = () => {};
  function lookAfter(delayMs: number): void {
    const lookAgain = () => {
      look();
      if (!stopped) lookAfter(delayMs * 2);
    };
    cancel = schedule(lookAgain, Math.min(pollMs, delayMs));
  }
  lookAfter(FIRST_LOOK_MS);

  return {
    agentGroup: tree.agentGroup,
    sweep,
    leftovers() {
      // Nearly always nothing is left over, and this check is ten times as fast as a sweep.
      if (root !== null && ifPossible(() => isYoungest(root, birthsBefore)) === true) return [];
      return withCommands(sweep().members.filter(({ pid }) => pid !== root?.pid));
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** Adds the command lines (one line, at most 120 characters), so that a person recognises them. */
function withCommands(processes: readonly ProcessIdentity[]): LeftoverProcess[] {
  return processes.map(({ pid, startedAt }) => ({ pid, startedAt, command: commandOf(pid) }));
}

const COMMAND_CHARS = 120;

/** Returns a command line without escape sequences, and without credentials, since it is cut. */
function commandOf(pid: number): string {
  return preview(ifPossible(() => readProcess(pid))?.command ?? '', COMMAND_CHARS);
}

function scheduleLoosely(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
}
