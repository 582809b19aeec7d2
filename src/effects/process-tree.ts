import type { Leftover } from '../core/attempt.ts';
import {
  identify,
  isYoungest,
  listMarked,
  listProcesses,
  type ProcessEntry,
  type ProcessIdentity,
  readProcess,
  startedBefore,
} from './process-table.ts';

/*
 * Which processes belong to an agent. No single sign tells, so all of these count, again and again
 * until nothing more comes in:
 *
 *   noted before ──┐
 *   marker ────────┼──► members ──► their children ──┐
 *   own units of ──┘       ▲                         │
 *   the last look          └── all in their units ◄──┘
 *
 * A unit is a process group or a session. It is the tree's own if everyone in it may be a member
 * and its leader is one or is dead. So a tool that left the agent's group and wiped its environment
 * is known by its parents while they live, and its orphans by the unit they share with it.
 */

/** One look at a tree. */
export interface TreeSweep {
  /** Everything of the tree that is alive, oldest first. */
  readonly members: readonly ProcessEntry[];
  /** Process groups of members and nobody else: to be signalled as a whole, newborns included. */
  readonly ownGroups: ReadonlySet<number>;
}

/** Processes that belong together, as far as ending them is concerned. */
export interface ProcessTree {
  /** The process group that the interrupt goes to; null if there is none. */
  readonly agentGroup: number | null;
  /** Looks now and remembers what it saw, since an orphan cannot be told from a stranger later. */
  sweep(): TreeSweep;
}

/** What a tree is known by. */
export interface TreeSigns {
  /** Processes known to belong to it. */
  readonly seeds: readonly ProcessIdentity[];
  /** The run id carried by whatever an agent of this run started; null looks at descent alone. */
  readonly marker: string | null;
  /** Whoever is older is no member; null only if nothing is known but the marker. */
  readonly since: string | null;
  readonly agentGroup?: number | null;
  /** Pids that are never members: the guard. This process and its ancestors never are anyway. */
  readonly neverPids?: readonly number[];
  /** Processes that are to live on with all that they start: what earlier iterations left running. */
  readonly spare?: () => readonly ProcessIdentity[];
}

type Unit = `group ${number}` | `session ${number}`;

/** A tree that looks only when told to. */
export function createTree(signs: TreeSigns): ProcessTree {
  const { marker, since, agentGroup = null, neverPids = [], spare = () => [] } = signs;
  let known = new Map(signs.seeds.map((seed) => [seed.pid, seed.startedAt]));
  let knownUnits: ReadonlySet<Unit> = new Set();
  let last: TreeSweep = { members: [], ownGroups: new Set() };

  function look(): TreeSweep {
    const all = listProcesses();
    const never = ownLine(all).concat(neverPids);
    const touchable = all.filter(({ pid }) => pid > 1 && !never.includes(pid));
    const spared = sparedOf(touchable, all, spare());
    const candidates = touchable.filter(
      (entry) => !spared.has(entry.pid) && (since === null || !startedBefore(entry, since)),
    );
    const kin = createKin(candidates, all, knownUnits);
    kin.add(candidates.filter(({ pid, startedAt }) => known.get(pid) === startedAt));
    if (marker !== null) {
      const others = candidates.map(({ pid }) => pid).filter((pid) => !kin.members.has(pid));
      const marked = new Set(listMarked(others, marker));
      kin.add(candidates.filter(({ pid }) => marked.has(pid)));
    }
    const members = [...kin.members.values()];
    known = new Map(members.map(({ pid, startedAt }) => [pid, startedAt]));
    knownUnits = kin.ownUnits();
    const groups = members.map(({ pgid }) => pgid);
    return {
      members: members.sort((a, b) => Number(a.startedAt) - Number(b.startedAt) || a.pid - b.pid),
      ownGroups: new Set(groups.filter((pgid) => kin.owns(`group ${pgid}`))),
    };
  }

  return {
    agentGroup,
    sweep() {
      try {
        last = look();
      } catch {
        // Out of file descriptors, say: the last look is a better answer than "nothing is alive".
      }
      return last;
    },
  };
}

/** This process and its ancestors. */
function ownLine(all: readonly ProcessEntry[]): number[] {
  const parents = new Map(all.map(({ pid, ppid }) => [pid, ppid]));
  const line: number[] = [];
  for (let pid: number | undefined = process.pid; pid !== undefined && !line.includes(pid); ) {
    line.push(pid);
    pid = parents.get(pid);
  }
  return line;
}

function sparedOf(
  touchable: readonly ProcessEntry[],
  all: readonly ProcessEntry[],
  spare: readonly ProcessIdentity[],
): ReadonlyMap<number, ProcessEntry> {
  const seeds = touchable.filter((entry) =>
    spare.some(({ pid, startedAt }) => pid === entry.pid && startedAt === entry.startedAt),
  );
  if (seeds.length === 0) return new Map();
  const oldest = Math.min(...seeds.map(({ startedAt }) => Number(startedAt)));
  const candidates = touchable.filter((entry) => !startedBefore(entry, String(oldest)));
  const kin = createKin(candidates, all, new Set());
  kin.add(seeds);
  return kin.members;
}

/** Gathers members among the candidates: each one added brings in its children and its own units. */
function createKin(
  candidates: readonly ProcessEntry[],
  all: readonly ProcessEntry[],
  formerUnits: ReadonlySet<Unit>,
) {
  const members = new Map<number, ProcessEntry>();
  const byPid = new Map(all.map((entry) => [entry.pid, entry]));
  const may = new Set(candidates);
  const foreign = new Set(all.filter((entry) => !may.has(entry)).flatMap(unitsOf));

  /** While a unit has anyone in it the kernel gives its number to nobody else, leader dead or not. */
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

/** Calls back once after a time; what it returns calls it off. */
export type Schedule = (callback: () => void, delayMs: number) => () => void;

/** A process that an agent left behind, as it is reported and as it is ended later. */
export interface LeftoverProcess extends ProcessIdentity, Leftover {}

/** A watched tree: see `createTreeWatch`. */
export interface TreeWatch extends ProcessTree {
  /** The agent itself; null if it was gone before it could be looked at. */
  readonly root: ProcessIdentity | null;
  /** Everything of the tree that is alive now. */
  members(): readonly ProcessEntry[];
  /** The same without the agent itself, with command lines (one line, at most 120 characters). */
  leftovers(): LeftoverProcess[];
  /** No further looks by itself. It can still be asked. */
  stop(): void;
}

/** How a tree is watched. */
export interface TreeWatchOptions extends Pick<TreeSigns, 'neverPids' | 'spare'> {
  /** The agent, looked at at once: pass the pid right after the start, before it can be reaped. */
  readonly rootPid: number;
  readonly marker: string;
  /** `countBirths()` from right before the agent's start; without it every look is a whole one. */
  readonly birthsBefore?: number | null;
  /** Longest time between two looks; the first few come sooner. Default 500, 2,000 where `ps` is asked. */
  readonly pollMs?: number;
  /** Told whenever a look finds other members than the one before: what the guard has to know. */
  readonly onChange?: (members: readonly ProcessIdentity[]) => void;
  readonly schedule?: Schedule;
}

const POLL_MS = process.platform === 'linux' ? 500 : 2000;
const FIRST_LOOK_MS = 50;

/**
 * Notes an agent's descendants while it runs, because later they have lost their parent. The agent
 * has to lead its own process group. Call `stop()` when it is over.
 */
export function createTreeWatch(options: TreeWatchOptions): TreeWatch {
  const { rootPid, marker, birthsBefore = null, onChange } = options;
  const { neverPids = [], spare = () => [] } = options;
  const { pollMs = POLL_MS, schedule = scheduleLoosely } = options;
  const root = unlessUnreadable(() => identify(rootPid));
  const tree = createTree({
    seeds: root === null ? [] : [root],
    marker,
    since: root?.startedAt ?? null,
    agentGroup: root?.pgid ?? null,
    neverPids,
    spare,
  });
  let told = '';
  function tell(members: readonly ProcessIdentity[]): void {
    const now = members.map(({ pid, startedAt }) => `${pid}:${startedAt}`).join(' ');
    if (now === told) return;
    told = now;
    onChange?.(members);
  }

  function sweep(): TreeSweep {
    const seen = tree.sweep();
    tell(seen.members);
    return seen;
  }

  // At once: a driver may be killed before the first look.
  if (root !== null) tell([root]);
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
      // Nearly always so, and found out ten times as fast.
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

/** Adds the command lines, one line each and at most 120 characters, by which a person knows them. */
export function withCommands(processes: readonly ProcessIdentity[]): LeftoverProcess[] {
  return processes.map(({ pid, startedAt }) => ({ pid, startedAt, command: commandOf(pid) }));
}

const COMMAND_CHARS = 120;

/** A command line fit for one line of a report: it may hold anything, escape sequences included. */
function commandOf(pid: number): string {
  const line = (unlessUnreadable(() => readProcess(pid))?.command ?? '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to go
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length > COMMAND_CHARS ? `${line.slice(0, COMMAND_CHARS - 1)}…` : line;
}

/** Out of file descriptors, one goes by the marker alone. */
function unlessUnreadable<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Holds no process open: nobody waits for a look. */
function scheduleLoosely(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
}
