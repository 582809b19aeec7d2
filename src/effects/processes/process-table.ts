import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { ifPossible } from '../files/if-possible.ts';
import { errorCode } from '../files/write-file.ts';

/*
 * Reads processes: from /proc on Linux, with `ps` elsewhere. Synchronous on purpose: reading all of
 * /proc takes about a millisecond, and nothing else may happen between reading and signalling.
 *
 * `ps` reports start times in whole seconds, and no sessions. On macOS it also hides the environment
 * of programs that the system protects (/bin/sh, /usr/bin/*). Windows has neither /proc nor `ps`.
 */

/** Identifies one process: a pid may be reused later, but not with the same start time. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time: ticks since the boot (/proc), or seconds since 1970 (`ps`). Only for comparing. */
  readonly startedAt: string;
}

export interface ProcessEntry extends ProcessIdentity {
  readonly ppid: number;
  readonly pgid: number;
  /** Null if the system does not report it. */
  readonly sessionId: number | null;
  /** Processor time, with that of children that have ended; null if the system does not report it. */
  readonly ticks: number | null;
  /** The system's state letter: `R` runs, `S` sleeps, `T` is stopped, `Z` is a zombie, … */
  readonly state: string;
}

export interface ProcessDetails extends ProcessEntry {
  /** The command line, arguments separated by spaces, as the process set it. */
  readonly command: string;
}

/** The environment variable that carries the run id in everything an agent starts. */
export const MARKER_NAME = 'RALPH_RUN_ID';

const HAS_PROC = process.platform === 'linux';

/** Returns one process, zombies included; null if no process has that pid. Throws only if the system cannot be read. */
export function readProcess(pid: number): ProcessDetails | null {
  return HAS_PROC ? readFromProc(pid) : (psDetails([pid])[0] ?? null);
}

/** Whether a process is alive. A zombie is dead; so is a process whose pid was reused. */
export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  const entry = readProcess(pid);
  return entry !== null && entry.startedAt === startedAt && !isZombie(entry);
}

/** Lists all living processes. Throws only if the system cannot be read at all. */
export function listProcesses(): ProcessEntry[] {
  return HAS_PROC ? listFromProc() : psEntries().filter((entry) => !isZombie(entry));
}

/** Returns how many processes and threads were created since boot; null if unknown. */
export function countBirths(): number | null {
  if (!HAS_PROC) return null;
  const [, count] = /^processes (\d+)$/m.exec(tryToReadProc('stat')) ?? [];
  return Number(count) || null;
}

/**
 * Whether no living process is younger than this one; sometimes wrongly false, for speed. `birthsThen` is
 * `countBirths()` from just before the start. Throws only if the system cannot be read.
 */
export function isYoungest(
  { pid, startedAt }: ProcessIdentity,
  birthsThen: number | null,
): boolean {
  const birthsNow = countBirths();
  if (birthsThen === null || birthsNow === null || !showsOwnPids()) return false;
  const born = birthsNow - birthsThen;
  // Some sandboxes invent the count of processes: then it does not even include the process itself.
  if (born < 1) return false;
  if (born === 1) return true;
  // Pids wrap around at the largest. The count is doubled because pids in use are skipped.
  if (pid + 2 * born > largestPid()) return false;
  for (const name of readdirSync('/proc')) {
    const other = Number(name);
    if (!(other > pid)) continue;
    const entry = readStat(other);
    if (entry !== null && !isZombie(entry) && !startedBefore(entry, startedAt)) return false;
  }
  return true;
}

/** Whether a process started before the given `startedAt`. Pids do not show it: they wrap around. */
export function startedBefore(entry: ProcessIdentity, startedAt: string): boolean {
  return Number(entry.startedAt) < Number(startedAt);
}

/** Returns the pids that were started with `RALPH_RUN_ID` set to `marker`, as far as their environment can be read. */
export function listMarked(pids: readonly number[], marker: string): number[] {
  const entry = `${MARKER_NAME}=${marker}`;
  if (!HAS_PROC) return psMarked(pids, entry);
  return pids.filter((pid) => environOf(pid).includes(`\0${entry}\0`));
}

/** The variable that marks the program in a sandbox and what it starts, but no wrapper around it. */
export const INNER_MARK = 'RALPH_IN_SANDBOX=1';

/** Whether a process has `INNER_MARK`: the agent in a sandbox, or a process that it has started. */
export function isMarkedInner(pid: number): boolean {
  return HAS_PROC
    ? environOf(pid).includes(`\0${INNER_MARK}\0`)
    : psMarked([pid], INNER_MARK).length > 0;
}

const EXEC_LOOKS = 5;
const EXEC_PAUSE_MS = 0.3;

/** Returns a process's environment with a NUL at either end. Retries during execve(2), when it looks empty. */
function environOf(pid: number): string {
  for (let look = 1; ; look += 1) {
    const environ = readProcFile(pid, 'environ');
    const isBetweenPrograms = environ === '' && readProcFile(pid, 'cmdline') === '';
    if (!isBetweenPrograms || look === EXEC_LOOKS) return `\0${environ ?? ''}\0`;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXEC_PAUSE_MS);
  }
}

/** Returns an id of the current boot; null if unknown. */
export function readBootId(): string | null {
  if (HAS_PROC) return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const { stdout } = spawnSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' });
  return stdout?.trim() || null;
}

function isZombie({ state }: ProcessEntry): boolean {
  return state.startsWith('Z') || state.startsWith('X');
}

function listFromProc(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d/.test(name)) continue;
    const entry = readStat(Number(name));
    if (entry !== null && !isZombie(entry)) entries.push(entry);
  }
  return entries;
}

/** Whether /proc shows this process's own pid namespace, not another one. Linux only. */
export function showsOwnPids(): boolean {
  ownPidsShown ??= tryToReadProc('self/stat').startsWith(`${process.pid} `);
  return ownPidsShown;
}

let ownPidsShown: boolean | undefined;

function largestPid(): number {
  pidMax ??= Number(tryToReadProc('sys/kernel/pid_max'));
  return pidMax;
}

let pidMax: number | undefined;

/** Returns the text of a system-wide file in /proc; empty if it cannot be read. */
function tryToReadProc(file: string): string {
  return ifPossible(() => readFileSync(`/proc/${file}`, 'utf8')) ?? '';
}

function readFromProc(pid: number): ProcessDetails | null {
  const stat = readProcFile(pid, 'stat');
  const entry = stat === null ? null : parseStat(pid, stat);
  if (stat === null || entry === null) return null;
  const command = (readProcFile(pid, 'cmdline') ?? '').replace(/\0+$/, '').replaceAll('\0', ' ');
  // Kernel threads and zombies have no command line; their name is in `stat`.
  return { ...entry, command: command || stat.slice(stat.indexOf('('), stat.lastIndexOf(')') + 1) };
}

function readStat(pid: number): ProcessEntry | null {
  const stat = readProcFile(pid, 'stat');
  return stat === null ? null : parseStat(pid, stat);
}

function parseStat(pid: number, stat: string): ProcessEntry | null {
  // The second field is the program's name, which may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgid, sessionId] = fields;
  const startedAt = fields[19];
  if (state === undefined || startedAt === undefined) return null;
  return {
    pid,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sessionId: Number(sessionId),
    ticks: fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0),
    startedAt,
    state,
  };
}

/** Returns the text of a process's file; null if the process is gone or access is denied. */
function readProcFile(pid: number, file: 'stat' | 'cmdline' | 'environ'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    // Any other error, such as EMFILE, does not mean that the process is dead.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error))) return null;
    throw error;
  }
}

// One option per column: in a list with commas, everything after `=` would be a heading.
const PS_COLUMNS = ['pid=', 'ppid=', 'pgid=', 'lstart=', 'stat='].flatMap((name) => ['-o', name]);
const PS_LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s+(\S+)\s*(.*)$/;

/** Returns all processes as `ps` reports them. Exported for its test, which compares it with /proc. */
export function psEntries(): ProcessEntry[] {
  return ps(['-ax', ...PS_COLUMNS]).flatMap((line) => parsePsLine(line) ?? []);
}

/** Returns the processes with these pids as `ps` reports them. Exported for its test. */
export function psDetails(pids: readonly number[]): ProcessDetails[] {
  const asked = ['-ww', ...PS_COLUMNS, '-o', 'command=', '-p', pids.join(',')];
  return ps(asked).flatMap((line) => parsePsLine(line) ?? []);
}

/** Returns the pids whose environment, which `ps` prints after the command, has `entry`. Exported for its test. */
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
    ticks: null,
    startedAt: String(Date.parse(`${lstart} UTC`) / 1000),
    state,
    command,
  };
}

function ps(args: readonly string[]): string[] {
  const { stdout, error } = spawnSync('ps', args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // Month names in English, and times that daylight saving does not move.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error) throw error;
  return stdout.split('\n');
}
