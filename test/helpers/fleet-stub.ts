import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture } from './processes.ts';

/** What the stub of an agent does at each start. */
export interface StubTurn {
  /** How long it works. Default: 1. */
  readonly seconds?: number;
  /** The iteration in which it states the promise. Default: 1. */
  readonly iterations?: number;
  /** A shell command before the work, and one after it. */
  readonly before?: string;
  readonly after?: string;
  /** A file with the second, since 1970, until which it meets a usage limit; no limit while there is no such file. */
  readonly limited?: string;
  /** The last message in place of its own, without quotation marks. */
  readonly text?: string;
}

/** A line that a stub wrote. */
export interface StubNote {
  readonly kind: 'START' | 'END' | 'LIMIT' | 'OVERLAP';
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly task: string;
  readonly iteration: number;
  readonly host: string;
  readonly pid: number;
}

/** The stub of an agent, as all hosts share it. */
export interface FleetStub {
  /** The folder with its `claude`, for PATH. */
  readonly bin: string;
  /** The folder of its settings and its log. */
  readonly folder: string;
  /** The variables that it needs on a host. */
  env(host: string): Readonly<Record<string, string>>;
  /** Says what it does, in one task or in all others. */
  does(turn: StubTurn, task?: string): void;
  /** What it was last told in an iteration; empty if that has not begun. */
  prompt(task: string, iteration: number): string;
  /** What it has noted so far, in order. */
  notes(): readonly StubNote[];
}

/** Makes the stub in an empty folder. */
export function makeFleetStub(folder: string, turn: StubTurn = {}): FleetStub {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = readFileSync(fixture('fleet-claude.sh'));
  writeFileSync(join(bin, 'claude'), program, { mode: 0o755 });
  // Tests ask again and again, and a log of thousands of lines takes a while to read.
  let seen: { readonly bytes: number; readonly notes: readonly StubNote[] } | null = null;
  const stub: FleetStub = {
    ...{ bin, folder },
    env: (host) => ({ FLEET_STUB: folder, FLEET_HOST: host }),
    does(settings, task) {
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${quoted(value)}\n`);
      const name = task === undefined ? 'settings' : `settings.${task}`;
      writeFileSync(join(folder, name), lines.join(''));
    },
    prompt(task, iteration) {
      const file = join(folder, `prompt.${task}.${iteration}`);
      return existsSync(file) ? readFileSync(file, 'utf8') : '';
    },
    notes() {
      const log = join(folder, 'log');
      if (!existsSync(log)) return [];
      if (seen?.bytes === statSync(log).size) return seen.notes;
      const text = readFileSync(log, 'utf8');
      seen = { bytes: text.length, notes: text.split('\n').filter(Boolean).map(noteOf) };
      return seen.notes;
    },
  };
  stub.does(turn);
  return stub;
}

function quoted(value: string | number): string {
  return `'${String(value).replaceAll("'", `'\\''`)}'`;
}

function noteOf(line: string): StubNote {
  const [ns = '', kind = '', task = '', iteration, host = '', pid] = line.split(' ');
  return {
    kind: kind as StubNote['kind'],
    atMs: Number(ns.slice(0, -3)) / 1_000,
    ...{ task, host, iteration: Number(iteration), pid: Number(pid) },
  };
}

/** One start of the stub. */
export interface StubRun {
  readonly task: string;
  readonly iteration: number;
  readonly host: string;
  readonly pid: number;
  readonly startedMs: number;
  /** When it came to its end; null if it was killed before. */
  readonly endedMs: number | null;
}

/** Returns the starts of the stub, each with its end, in the order of the starts. */
export function stubRuns(notes: readonly StubNote[]): readonly StubRun[] {
  const runs: StubRun[] = [];
  for (const note of notes) {
    const { task, iteration, host, pid, atMs } = note;
    const own = (run: StubRun): boolean =>
      run.pid === pid && run.task === task && run.iteration === iteration && run.endedMs === null;
    if (note.kind === 'START') {
      runs.push({ task, iteration, host, pid, startedMs: atMs, endedMs: null });
    } else if (note.kind === 'END' || note.kind === 'LIMIT') {
      const at = runs.findLastIndex(own);
      const run = runs[at];
      if (run !== undefined) runs[at] = { ...run, endedMs: atMs };
    }
  }
  return runs;
}

/**
 * Returns what the notes say against a fleet, one sentence each: two agents at work on one task, or an iteration that
 * was begun again after it had been counted.
 */
export function stubProblems(notes: readonly StubNote[]): readonly string[] {
  const problems: string[] = [];
  for (const { kind, task, iteration, host, pid } of notes) {
    if (kind !== 'OVERLAP') continue;
    problems.push(
      `${task}: the agent ${pid} on ${host} started in iteration ${iteration} while another one was at work`,
    );
  }
  const runs = stubRuns(notes);
  for (const task of new Set(runs.map((run) => run.task))) {
    const own = runs.filter((run) => run.task === task);
    own.reduce((before, run) => {
      if (run.iteration < before.iteration) {
        problems.push(
          `${task}: iteration ${run.iteration} was begun on ${run.host} after iteration ${before.iteration}`,
        );
      } else if (run.iteration > before.iteration + 1) {
        problems.push(`${task}: iteration ${before.iteration + 1} was left out`);
      }
      const overlapMs = (before.endedMs ?? 0) - run.startedMs;
      if (overlapMs > 0) problems.push(`${task}: two agents at once for ${overlapMs} ms`);
      return run;
    });
    const first = own[0]?.iteration;
    if (first !== 1) problems.push(`${task}: the first agent was started in iteration ${first}`);
  }
  return problems;
}

/** How often an iteration was begun that had been begun before. */
export function repeatedStarts(notes: readonly StubNote[]): number {
  const runs = stubRuns(notes);
  return runs.length - new Set(runs.map(({ task, iteration }) => `${task} ${iteration}`)).size;
}
