import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/*
 * Reading processes: /proc on Linux, `ps` elsewhere. Synchronous on purpose: all of /proc takes
 * about a millisecond, and between looking and signalling nothing else may happen.
 *
 * Where they differ: `ps` tells start times to the second only, no sessions, and on macOS not the
 * environment of programs that the system protects (/bin/sh, /usr/bin/*). Windows has neither.
 */

/** One process beyond doubt: a pid is handed out again after a death, the pair is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, as a decimal count since some fixed moment of this boot. Only to be compared. */
  readonly startedAt: string;
}

/** What a scan tells of a process. */
export interface ProcessEntry extends ProcessIdentity {
  readonly ppid: number;
  readonly pgid: number;
  /** Null where the system does not tell. */
  readonly sessionId: number | null;
  /** The system's letter: `R` runs, `S` sleeps, `T` is stopped, `Z` is a zombie, … */
  readonly state: string;
}

/** A process and what it was started as. */
export interface ProcessDetails extends ProcessEntry {
  /** The command line with its arguments parted by spaces, as the process set it. */
  readonly command: string;
}

/** The variable that names the run in the environment of everything an agent starts. */
export const MARKER_NAME = 'RALPH_RUN_ID';

const HAS_PROC = process.platform === 'linux';

/** Which process has this pid now, zombies included; null if none. Throws as `readProcess` does. */
export function identify(pid: number): ProcessEntry | null {
  return HAS_PROC ? readStat(pid) : readProcess(pid);
}

/**
 * One process, zombies included; null if there is none of that pid.
 * Throws only if the system cannot be read at all (out of file descriptors, no `ps`).
 */
export function readProcess(pid: number): ProcessDetails | null {
  return HAS_PROC ? readFromProc(pid) : (psDetails([pid])[0] ?? null);
}

/** Whether this very process is alive. A zombie is dead, and so is one whose pid another has now. */
export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  const entry = identify(pid);
  return entry !== null && entry.startedAt === startedAt && !isZombie(entry);
}

/** All processes that are alive. Throws only if the system cannot be read at all. */
export function listProcesses(): ProcessEntry[] {
  return HAS_PROC ? listFromProc() : psEntries().filter((entry) => !isZombie(entry));
}

/**
 * All living processes that started at that moment or later: after the agent, say. By start time,
 * since pids begin anew at the bottom once they are used up.
 */
export function listNewerThan(startedAt: string): ProcessEntry[] {
  return listProcesses().filter((entry) => !startedBefore(entry, startedAt));
}

/**
 * How many processes and threads were born on this machine so far; null where that is not told. To be
 * asked right before a process is started, for `isYoungest`.
 */
export function countBirths(): number | null {
  if (!HAS_PROC) return null;
  const [, count] = /^processes (\d+)$/m.exec(tryToReadProc('stat')) ?? [];
  return Number(count) || null;
}

/**
 * Whether nothing alive was born after a process, as far as that can be told by a glance: it may say no
 * where it is so. Pids are handed out in order, so that only those above need to be looked at, as long
 * as too few were born since to have come to the largest. Throws only if the system cannot be read.
 */
export function isYoungest(
  { pid, startedAt }: ProcessIdentity,
  birthsThen: number | null,
): boolean {
  const birthsNow = countBirths();
  if (birthsThen === null || birthsNow === null || !showsOwnPids()) return false;
  const born = birthsNow - birthsThen;
  // Without the birth of the process itself it was not counted at all: some sandboxes make the file up.
  if (born < 1) return false;
  if (born === 1) return true;
  // Beyond the largest they begin anew below; twice, since those that are taken are passed over.
  if (pid + 2 * born > largestPid()) return false;
  for (const name of readdirSync('/proc')) {
    const other = Number(name);
    if (!(other > pid)) continue;
    const entry = readStat(other);
    if (entry !== null && !isZombie(entry) && !startedBefore(entry, startedAt)) return false;
  }
  return true;
}

/** Whether a process is older than a moment told by another's `startedAt`. */
export function startedBefore(entry: ProcessIdentity, startedAt: string): boolean {
  return Number(entry.startedAt) < Number(startedAt);
}

/**
 * Whether a process was started with `RALPH_RUN_ID` set to exactly this value. One whose environment
 * may not be read (another user's) counts as not.
 */
export function carriesMarker(pid: number, marker: string): boolean {
  return listMarked([pid], marker).length > 0;
}

/** Those of the pids that carry the marker; one call of `ps` for all of them where there is no /proc. */
export function listMarked(pids: readonly number[], marker: string): number[] {
  const entry = `${MARKER_NAME}=${marker}`;
  if (!HAS_PROC) return psMarked(pids, entry);
  return pids.filter((pid) => environOf(pid).includes(`\0${entry}\0`));
}

const EXEC_LOOKS = 5;
const EXEC_PAUSE_MS = 0.3;

/** The environment with a NUL at either end; a process in the middle of execve(2) is looked at again. */
function environOf(pid: number): string {
  for (let look = 1; ; look += 1) {
    const environ = readProcFile(pid, 'environ');
    const isBetweenPrograms = environ === '' && readProcFile(pid, 'cmdline') === '';
    if (!isBetweenPrograms || look === EXEC_LOOKS) return `\0${environ ?? ''}\0`;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXEC_PAUSE_MS);
  }
}

/** Names the time since the machine was started; null if it cannot be told. */
export function readBootId(): string | null {
  if (HAS_PROC) return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const { stdout } = spawnSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' });
  return stdout?.trim() || null;
}

function isZombie({ state }: ProcessEntry): boolean {
  return state.startsWith('Z') || state.startsWith('X');
}

// --- Linux

function listFromProc(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d/.test(name)) continue;
    const entry = readStat(Number(name));
    if (entry !== null && !isZombie(entry)) entries.push(entry);
  }
  return entries;
}

/** Whether the pids in /proc are those that this process knows: a namespace may show another's. Linux only. */
export function showsOwnPids(): boolean {
  ownPidsShown ??= tryToReadProc('self/stat').startsWith(`${process.pid} `);
  return ownPidsShown;
}

let ownPidsShown: boolean | undefined;

/** Above it pids begin anew at the bottom; 0 where it is not told. */
function largestPid(): number {
  pidMax ??= Number(tryToReadProc('sys/kernel/pid_max'));
  return pidMax;
}

let pidMax: number | undefined;

/** A file of the whole system; empty where there is none. */
function tryToReadProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function readFromProc(pid: number): ProcessDetails | null {
  const stat = readProcFile(pid, 'stat');
  const entry = stat === null ? null : parseStat(pid, stat);
  if (stat === null || entry === null) return null;
  const command = (readProcFile(pid, 'cmdline') ?? '').replace(/\0+$/, '').replaceAll('\0', ' ');
  // Kernel threads and zombies have no command line: their name stands in the other file.
  return { ...entry, command: command || stat.slice(stat.indexOf('('), stat.lastIndexOf(')') + 1) };
}

function readStat(pid: number): ProcessEntry | null {
  const stat = readProcFile(pid, 'stat');
  return stat === null ? null : parseStat(pid, stat);
}

function parseStat(pid: number, stat: string): ProcessEntry | null {
  // The second field is the program's name, which may hold blanks and brackets of its own.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgid, sessionId] = fields;
  const startedAt = fields[19];
  if (state === undefined || startedAt === undefined) return null;
  return {
    pid,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sessionId: Number(sessionId),
    startedAt,
    state,
  };
}

/** A file of a process; null if the process is gone or keeps it to itself. */
function readProcFile(pid: number, file: 'stat' | 'cmdline' | 'environ'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    // Anything else (EMFILE, say) must not pass for "it is dead".
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return null;
    throw error;
  }
}

// --- elsewhere, by `ps`

// A column each: in a list with commas, what follows `=` would be a heading.
const PS_COLUMNS = ['pid=', 'ppid=', 'pgid=', 'lstart=', 'stat='].flatMap((name) => ['-o', name]);
const PS_LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s+(\S+)\s*(.*)$/;

/** All processes as `ps` tells them. Exported for its test, which compares it with /proc. */
export function psEntries(): ProcessEntry[] {
  return ps(['-ax', ...PS_COLUMNS]).flatMap((line) => parsePsLine(line) ?? []);
}

/** Single processes as `ps` tells them. Exported for its test. */
export function psDetails(pids: readonly number[]): ProcessDetails[] {
  const asked = ['-ww', ...PS_COLUMNS, '-o', 'command=', '-p', pids.join(',')];
  return ps(asked).flatMap((line) => parsePsLine(line) ?? []);
}

/** Those whose environment, which `ps` writes behind the command line, has the entry. Exported for its test. */
export function psMarked(pids: readonly number[], entry: string): number[] {
  if (pids.length === 0) return [];
  return ps(['eww', '-o', 'pid=', '-o', 'command=', '-p', pids.join(',')])
    .filter((line) => line.trim().split(/\s+/).includes(entry))
    .map((line) => Number.parseInt(line, 10));
}

function parsePsLine(line: string): ProcessDetails | null {
  const [, pid, ppid, pgid, lstart, state, command] = PS_LINE.exec(line) ?? [];
  if (lstart === undefined || state === undefined || command === undefined) return null;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sessionId: null,
    startedAt: String(Date.parse(`${lstart} UTC`) / 1000),
    state,
    command,
  };
}

function ps(args: readonly string[]): string[] {
  const { stdout, error } = spawnSync('ps', args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // Months in English, and times that no change of the clocks moves.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error) throw error;
  return stdout.split('\n');
}
