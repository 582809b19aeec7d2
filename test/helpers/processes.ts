import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type ProcessDetails, readProcess } from '../../src/effects/processes/process-table.ts';
import { PATIENCE_MS } from './patience.ts';

// The real ones, also where a test has put its own in their place.
const { setTimeout: later } = globalThis;
const now = performance.now.bind(performance);
const fixtures = join(dirname(dirname(fileURLToPath(import.meta.url))), 'fixtures');

/** The path of a program in `test/fixtures`. */
export function fixture(name: string): string {
  return join(fixtures, name);
}

/**
 * Starts a program that leads its own process group, and ends it when the test is over. What it
 * starts itself has to be named by `untilReady` or `endLater` to be ended too.
 */
export function startProgram(
  command: string,
  args: readonly string[] = [],
  options: SpawnOptions = {},
): ChildProcess & { pid: number; stdout: Readable } {
  const child = spawn(command, [...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    ...options,
  });
  const { pid, stdout } = child;
  if (pid === undefined || stdout === null) throw new Error(`${command} did not start`);
  endLater(pid);
  return Object.assign(child, { pid, stdout });
}

/** Starts one of the shell programs in `test/fixtures`. */
export function startFixture(name: string, args: readonly string[] = [], options?: SpawnOptions) {
  return startProgram('/bin/sh', [fixture(name), ...args], options);
}

/** Ends this very process when the test is over, if it is still alive then. */
export function endLater(pid: number): void {
  const startedAt = startTime(pid);
  if (startedAt === null) return;
  onTestFinished(() => {
    if (startTime(pid) !== startedAt) return;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It went by itself just now.
    }
  });
}

/**
 * Waits until programs have said that they are ready, `ready NAME=PID …` on a line each, and gives the
 * pids of the names asked for. All of them are ended when the test is over.
 */
export async function untilReady<Name extends string>(
  stream: Readable,
  ...names: Name[]
): Promise<Record<Name, number>> {
  const pids = new Map<string, number>();
  const text = linesOf(stream);
  await until(
    () => {
      for (const [, name, pid] of text().matchAll(/(?<=^ready .*?)(\w+)=(\d+)/gm)) {
        if (name === undefined || pids.has(name)) continue;
        pids.set(name, Number(pid));
        endLater(Number(pid));
      }
      return names.every((name) => pids.has(name));
    },
    () => `ready ${names.join(', ')}; so far: ${text()}`,
  );
  const found = names.map((name) => [name, pids.get(name)]);
  return Object.fromEntries(found);
}

/** Waits until a line of that form has come, and gives the match. */
export async function untilLine(stream: Readable, pattern: RegExp): Promise<RegExpExecArray> {
  const text = linesOf(stream);
  return until(
    () => pattern.exec(text()),
    () => `a line ${pattern}; so far: ${text()}`,
  );
}

const heard = new WeakMap<Readable, () => string>();

/** All of what a stream has said, from the first time it was asked for. */
function linesOf(stream: Readable): () => string {
  const known = heard.get(stream);
  if (known !== undefined) return known;
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const tell = () => text;
  heard.set(stream, tell);
  return tell;
}

/** Waits for a sign, looking again and again, and gives it. Fails after a minute with what it waited for. */
export async function until<T>(
  sign: () => T | false | null | undefined,
  what: () => string,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = now() + timeoutMs;
  for (;;) {
    const seen = sign();
    if (seen !== false && seen !== null && seen !== undefined) return seen;
    if (now() > deadline) throw new Error(`waited in vain for ${what()}`);
    await new Promise((resolve) => later(resolve, 5));
  }
}

/** Waits until a process is dead. */
export async function untilDead(pid: number): Promise<void> {
  await until(
    () => isDead(pid),
    () => `the death of ${pid}, which is ${stateOf(pid)}`,
  );
}

/** Whether a process is dead: a zombie is, which signal 0 would not tell. */
export function isDead(pid: number): boolean {
  const state = stateOf(pid);
  return state === null || state.startsWith('Z') || state.startsWith('X');
}

/** Above what Linux gives to any process. */
const NO_PID = 2 ** 22;

/**
 * Returns the pid outside of a process that knows only the one it has in a sandbox. It works in `folder` or
 * was started with its name. Returns a pid that no process has if it is dead, and `pid` where there is no sandbox.
 */
export function pidOutside(pid: number, folder: string): number {
  if (process.env.RALPH_TEST_SANDBOXED === undefined) return pid;
  const found = readdirSync('/proc').find((name) => {
    const pids =
      /^NSpid:\s+(.+)$/m.exec(read(`/proc/${name}/status`) ?? '')?.[1]?.split('\t') ?? [];
    if (Number(pids.at(-1)) !== pid) return false;
    return [read(`/proc/${name}/cmdline`), workFolderOf(name)].some((text) =>
      text?.includes(folder),
    );
  });
  return found === undefined ? NO_PID + pid : Number(found);
}

function workFolderOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** A process as ralph's own table has it. */
export function mustRead(pid: number): ProcessDetails {
  const details = readProcess(pid);
  if (details === null) throw new Error(`no process ${pid}`);
  return details;
}

/** `S (sleeping)` and the like; null if there is no such process. */
export function stateOf(pid: number): string | null {
  return /^State:\s+(.+)$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? null;
}

function startTime(pid: number): string | null {
  return (
    read(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ')[19] ?? null
  );
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
