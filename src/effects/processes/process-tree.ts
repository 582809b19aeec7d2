import type { Leftover } from '../../core/agent/attempt.ts';
import {
  isYoungest,
  listMarked,
  listProcesses,
  type ProcessEntry,
  type ProcessIdentity,
  readProcess,
  startedBefore,
  unlessUnreadable,
} from './process-table.ts';

/*
 * Which processes belong to an agent. No single sign is enough, so all of these are combined, until
 * no more members are found:
 *
 *   seeds ─────────┐
 *   marker ────────┼──► members ──► their children ──┐
 *   own units of ──┘       ▲                         │
 *   the last sweep         └── all in their units ◄──┘
 *
 * A unit is a process group or a session. The tree owns a unit if no process in it is excluded from
 * the tree, and its leader is a member or dead. So a tool that left the agent's group and cleared
 * its environment is found through its parents while they live, and its orphans through the unit
 * that they share with it.
 */

/** The result of one sweep of a tree. */
export interface TreeSweep {
  /** Every living process of the tree, oldest first. */
  readonly members: readonly ProcessEntry[];
  /** Groups with only members in them; each can be signalled as a whole, new forks included. */
  readonly ownGroups: ReadonlySet<number>;
}

/** Processes that are ended together. */
export interface ProcessTree {
  /** The process group that gets SIGINT; null if no agent is known. */
  readonly agentGroup: number | null;
  /**
   * Whether a process gets SIGINT, where wrappers share the agent's group: it is signalled alone. Absent
   * without a sandbox.
   */
  readonly isInner?: (entry: ProcessEntry) => boolean;
  /** Finds the members and remembers them, because later an orphan cannot be recognised. */
  sweep(): TreeSweep;
}

/** How the members of a tree are recognised. */
export interface TreeSigns {
  /** Processes known to belong to the tree. */
  readonly seeds: readonly ProcessIdentity[];
  /** The run id in the environment of all that this run's agents start; null if it is not used. */
  readonly marker: string | null;
  /** A start time: older processes are never members. Null means no such limit. */
  readonly since: string | null;
  readonly agentGroup?: number | null;
  /** Pids that are never members, such as the guard's. This process and its ancestors never are. */
  readonly neverPids?: readonly number[];
  /** Leftovers of earlier iterations. Neither they nor what they start become members. */
  readonly exempt?: () => readonly ProcessIdentity[];
}

type Unit = `group ${number}` | `session ${number}`;

/** Creates a tree that reads the processes only when `sweep` is called. */
export function createTree(signs: TreeSigns): ProcessTree {
  const { marker, since, agentGroup = null, neverPids = [], exempt = () => [] } = signs;
  let known = new Map(signs.seeds.map((seed) => [seed.pid, seed.startedAt]));
  let knownUnits: ReadonlySet<Unit> = new Set();
  let last: TreeSweep = { members: [], ownGroups: new Set() };

  function look(): TreeSweep {
    const all = listProcesses();
    const never = ownLine(all).concat(neverPids);
    const touchable = all.filter(({ pid }) => pid > 1 && !never.includes(pid));
    const exempted = exemptOf(touchable, all, exempt());
    const candidates = touchable.filter(
      (entry) => !exempted.has(entry.pid) && (since === null || !startedBefore(entry, since)),
    );
    const relatives = createRelatives(candidates, all, knownUnits);
    relatives.add(candidates.filter(({ pid, startedAt }) => known.get(pid) === startedAt));
    if (marker !== null) {
      const others = candidates.map(({ pid }) => pid).filter((pid) => !relatives.members.has(pid));
      const marked = new Set(listMarked(others, marker));
      relatives.add(candidates.filter(({ pid }) => marked.has(pid)));
    }
    const members = [...relatives.members.values()];
    known = new Map(members.map(({ pid, startedAt }) => [pid, startedAt]));
    knownUnits = relatives.ownUnits();
    const groups = members.map(({ pgid }) => pgid);
    return {
      members: members.sort((a, b) => Number(a.startedAt) - Number(b.startedAt) || a.pid - b.pid),
      ownGroups: new Set(groups.filter((pgid) => relatives.owns(`group ${pgid}`))),
    };
  }

  return {
    agentGroup,
    sweep() {
      try {
        last = look();
      } catch {
        // The processes cannot be read: the last sweep is a better answer than "nothing is alive".
      }
      return last;
    },
  };
}

/** Returns the pids of this process and its ancestors. */
function ownLine(all: readonly ProcessEntry[]): number[] {
  const parents = new Map(all.map(({ pid, ppid }) => [pid, ppid]));
  const line: number[] = [];
  for (let pid: number | undefined = process.pid; pid !== undefined && !line.includes(pid); ) {
    line.push(pid);
    pid = parents.get(pid);
  }
  return line;
}

function exemptOf(
  touchable: readonly ProcessEntry[],
  all: readonly ProcessEntry[],
  exempt: readonly ProcessIdentity[],
): ReadonlyMap<number, ProcessEntry> {
  const seeds = touchable.filter((entry) =>
    exempt.some(({ pid, startedAt }) => pid === entry.pid && startedAt === entry.startedAt),
  );
  if (seeds.length === 0) return new Map();
  const oldest = Math.min(...seeds.map(({ startedAt }) => Number(startedAt)));
  const candidates = touchable.filter((entry) => !startedBefore(entry, String(oldest)));
  const relatives = createRelatives(candidates, all, new Set());
  relatives.add(seeds);
  return relatives.members;
}

/** Collects members among the candidates; each one brings in its children and its own units. */
function createRelatives(
  candidates: readonly ProcessEntry[],
  all: readonly ProcessEntry[],
  formerUnits: ReadonlySet<Unit>,
) {
  const members = new Map<number, ProcessEntry>();
  const byPid = new Map(all.map((entry) => [entry.pid, entry]));
  const may = new Set(candidates);
  const foreign = new Set(all.filter((entry) => !may.has(entry)).flatMap(unitsOf));

  /**
   * Whether the tree owns the unit. While any process is in a unit, the kernel does not reuse its
   * number, even if the leader is dead.
   */
  function owns(unit: Unit): boolean {
    if (foreign.has(unit)) return false;
    const leader = byPid.get(Number(unit.slice(unit.indexOf(' '))));
    return leader === undefined || members.has(leader.pid) || !unitsOf(leader).includes(unit);
  }

  function ownUnits(): Set<Unit> {
    const units = new Set([...members.values()].flatMap(unitsOf).concat([...formerUnits]));
    return new Set([...units].filter(owns));
  }

  function isChild(entry: ProcessEntry): boolean {
    const parent = members.get(entry.ppid);
    return parent !== undefined && !startedBefore(entry, parent.startedAt);
  }

  function add(entries: readonly ProcessEntry[]): void {
    let found = entries;
    do {
      for (const entry of found) members.set(entry.pid, entry);
      const units = ownUnits();
      found = candidates.filter(
        (entry) =>
          !members.has(entry.pid) &&
          (isChild(entry) || unitsOf(entry).some((unit) => units.has(unit))),
      );
    } while (found.length > 0);
  }

  return { members, add, owns, ownUnits };
}

function unitsOf({ pgid, sessionId }: ProcessEntry): Unit[] {
  return sessionId === null ? [`group ${pgid}`] : [`group ${pgid}`, `session ${sessionId}`];
}

/** Calls back once after a delay; the function it returns cancels it. */
export type Schedule = (callback: () => void, delayMs: number) => () => void;

/** A process that an agent left running. */
export interface LeftoverProcess extends ProcessIdentity, Leftover {}

/** A process tree that is swept regularly. */
export interface TreeWatch extends ProcessTree {
  /** The agent's own process; null if it was gone before it could be read. */
  readonly root: ProcessIdentity | null;
  /** Sweeps the tree and returns its living processes. */
  members(): readonly ProcessEntry[];
  /** Returns the living processes except the agent's own, with command lines. */
  leftovers(): LeftoverProcess[];
  /** Stops the regular sweeps. The other methods still work. */
  stop(): void;
}

export interface TreeWatchOptions extends Pick<TreeSigns, 'neverPids' | 'exempt'> {
  /** The agent's pid; pass it right after the start, before the agent can be reaped. */
  readonly rootPid: number;
  readonly marker: string;
  /** `countBirths()` from just before the agent's start; if null, `leftovers` always sweeps. */
  readonly birthsBefore?: number | null;
  /** Longest time between two sweeps; the first are closer. Default: 500, or 2,000 with `ps`. */
  readonly pollMs?: number;
  /** Called when a sweep finds other members than the one before; the guard has to know them. */
  readonly onChange?: (members: readonly ProcessEntry[]) => void;
  readonly schedule?: Schedule;
}

const POLL_MS = process.platform === 'linux' ? 500 : 2000;
const FIRST_LOOK_MS = 50;

/**
 * Records an agent's descendants while it runs: later, an orphan's parent is no longer known. The
 * agent must lead its own process group. Call `stop()` when it has ended.
 */
export function createTreeWatch(options: TreeWatchOptions): TreeWatch {
  const { rootPid, marker, birthsBefore = null, onChange } = options;
  const { neverPids = [], exempt = () => [] } = options;
  const { pollMs = POLL_MS, schedule = scheduleLoosely } = options;
  // If this is null, the tree is still found by the marker.
  const root = unlessUnreadable(() => readProcess(rootPid));
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

  function sweep(): TreeSweep {
    const seen = tree.sweep();
    report(seen.members);
    return seen;
  }

  // Report the agent now: the driver may be killed before the first sweep.
  if (root !== null) report([root]);
  let stopped = false;
  let cancel = () => {};
  function lookAfter(delayMs: number): void {
    const lookAgain = () => {
      sweep();
      if (!stopped) lookAfter(delayMs * 2);
    };
    cancel = schedule(lookAgain, Math.min(pollMs, delayMs));
  }
  lookAfter(FIRST_LOOK_MS);

  return {
    root,
    agentGroup: tree.agentGroup,
    sweep,
    members: () => sweep().members,
    leftovers() {
      // This is nearly always the case, and ten times as fast as a sweep.
      if (root !== null && unlessUnreadable(() => isYoungest(root, birthsBefore)) === true)
        return [];
      return withCommands(sweep().members.filter(({ pid }) => pid !== root?.pid));
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** Adds the command lines (one line, at most 120 characters), so that a person recognises them. */
export function withCommands(processes: readonly ProcessIdentity[]): LeftoverProcess[] {
  return processes.map(({ pid, startedAt }) => ({ pid, startedAt, command: commandOf(pid) }));
}

const COMMAND_CHARS = 120;

/** Returns a command line without control characters, because it may contain escape sequences. */
function commandOf(pid: number): string {
  const line = (unlessUnreadable(() => readProcess(pid))?.command ?? '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length > COMMAND_CHARS ? `${line.slice(0, COMMAND_CHARS - 1)}…` : line;
}

/** Starts a timer that does not keep ralph alive. */
function scheduleLoosely(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
}
