import {
  listMarked,
  listProcesses,
  type ProcessEntry,
  type ProcessIdentity,
  startedBefore,
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
  /** Whether a process is the agent's, and not a wrapper of its sandbox; absent without a sandbox. */
  readonly isInner?: (entry: ProcessEntry) => boolean;
  /** Finds the members and remembers them, because later an orphan cannot be recognised. */
  sweep(): TreeSweep;
}

export interface TreeSigns {
  readonly seeds: readonly ProcessIdentity[];
  /** The run id in the environment of all that this run's agents start; null if it is not used. */
  readonly marker: string | null;
  /** A start time: older processes are never members. Null means no such limit. */
  readonly since: string | null;
  readonly agentGroup?: number | null;
  /** Pids that are never members, such as that of the run's guard. This process and its ancestors never are, either. */
  readonly neverPids?: readonly number[];
  /** Processes to leave alone, such as those that earlier iterations left. What they start is no member, either. */
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
