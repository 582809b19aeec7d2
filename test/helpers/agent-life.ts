import { execFileSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import type { AgentCommand } from '../../src/effects/processes/find-program.ts';
import type { ProcessIdentity } from '../../src/effects/processes/process-table.ts';
import {
  type AgentProcessReport,
  type AgentSigns,
  runAgentProcess,
} from '../../src/effects/processes/run-process.ts';
import type { WorkLimits } from '../../src/effects/time/work-clock.ts';
import type { StopRequests } from '../../src/loop/ports.ts';
import { endLater, fixture, until, untilReady } from './processes.ts';
import { tempFolder } from './temp-folder.ts';

const HOUR_MS = 3_600_000;
let runs = 0;

/** A value of RALPH_RUN_ID that nobody else has. */
export function newRunId(): string {
  runs += 1;
  return `agent-test-${process.pid}-${runs}`;
}

/** Requests to stop, made by the test's own hand. */
export interface StopsByHand extends StopRequests {
  stop(): void;
  hurry: AbortSignal;
  askAgain(): void;
}

export function stopsByHand(): StopsByHand {
  const first = new AbortController();
  const second = new AbortController();
  return {
    signal: first.signal,
    hurry: second.signal,
    cause: () => (first.signal.aborted ? 'SIGINT' : null),
    stop: () => first.abort(),
    askAgain: () => second.abort(),
  };
}

export interface AgentLifeOptions {
  readonly prompt?: Uint8Array | string;
  readonly limits?: Partial<WorkLimits>;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly stops?: StopsByHand;
  readonly runId?: string;
  readonly exempt?: () => readonly ProcessIdentity[];
  /** Called in the middle of the start, as the reader of the output is. */
  readonly onStart?: (signs: AgentSigns) => void;
}

/** One attempt under way. */
export interface AgentLife {
  readonly report: Promise<AgentProcessReport>;
  /** What it writes, for `untilReady` and `untilLine`. */
  readonly stdout: PassThrough;
  readonly chunks: readonly Buffer[];
  /** What of it counts. */
  readonly heard: readonly Buffer[];
  readonly stderrChunks: readonly Buffer[];
  /** Every set of members that was told. */
  readonly noted: readonly (readonly ProcessIdentity[])[];
  readonly stops: StopsByHand;
  readonly runId: string;
  /** What the reader of the output tells; throws if the process was not started. */
  signs(): AgentSigns;
  /** Whether the report is there. */
  isOver(): boolean;
}

/** Starts an attempt with everything it wants from its surroundings. */
export function startAgent(command: AgentCommand, options: AgentLifeOptions = {}): AgentLife {
  const stdout = new PassThrough();
  const chunks: Buffer[] = [];
  const heard: Buffer[] = [];
  const stderrChunks: Buffer[] = [];
  const noted: (readonly ProcessIdentity[])[] = [];
  const stops = options.stops ?? stopsByHand();
  const runId = options.runId ?? newRunId();
  let signs: AgentSigns | null = null;
  let over = false;
  const report = runAgentProcess({
    command,
    cwd: options.cwd ?? '/',
    env: { PATH: process.env.PATH, ...options.env, RALPH_RUN_ID: runId },
    prompt: Buffer.from(options.prompt ?? 'Do it.'),
    marker: runId,
    limits: { iterationMs: HOUR_MS, idleMs: null, taskMs: HOUR_MS, ...options.limits },
    stops,
    guardPid: null,
    exempt: options.exempt ?? (() => []),
    onMembers(members) {
      noted.push(members);
      for (const { pid } of members) endLater(pid);
    },
    onStdout(chunk) {
      chunks.push(Buffer.from(chunk));
      stdout.write(Buffer.from(chunk));
    },
    onHeard: (chunk) => heard.push(Buffer.from(chunk)),
    onStderr: (chunk) => stderrChunks.push(Buffer.from(chunk)),
    onStart(given) {
      signs = given;
      options.onStart?.(given);
    },
  }).finally(() => {
    over = true;
  });
  return {
    report,
    stdout,
    chunks,
    heard,
    stderrChunks,
    noted,
    stops,
    runId,
    signs() {
      if (signs === null) throw new Error('the agent was not started');
      return signs;
    },
    isOver: () => over,
  };
}

/** A shell command as an agent. */
export function shell(script: string, ...args: readonly string[]): AgentCommand {
  return { file: '/bin/sh', args: ['-c', script, 'agent', ...args] };
}

/** One of the shell programs in `test/fixtures` as an agent. */
export function fixtureCommand(name: string, ...args: readonly string[]): AgentCommand {
  return { file: '/bin/sh', args: [fixture(name), ...args] };
}

/** An agent that does what it is told, one shell command after the other. */
export interface Puppet extends AgentLife {
  readonly pid: number;
  tell(order: string): Promise<void>;
}

export async function startPuppet(options: AgentLifeOptions = {}): Promise<Puppet> {
  const pipe = join(await tempFolder(), 'orders');
  execFileSync('mkfifo', [pipe]);
  const life = startAgent(fixtureCommand('puppet.sh', pipe), options);
  const { agent } = await untilReady(life.stdout, 'agent');
  return { ...life, pid: agent, tell: (order) => appendFile(pipe, `${order}\n`) };
}

/** From here on time passes only as it is told to. The processes themselves are real. */
export function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime', 'Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

/** Lets so much time pass, and with it whatever was planned for it. */
export async function passTime(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/** Lets time pass until something has come true; the real time goes on for it, too. */
async function passTimeUntil(sign: () => boolean, what: string): Promise<void> {
  let passedMs = 0;
  await until(
    () => {
      if (sign()) return true;
      vi.advanceTimersByTime(50);
      passedMs += 50;
      return false;
    },
    () => `${what}, for ${passedMs} ms of its own time`,
  );
}

/** Lets time pass until the report is there. */
export async function passTimeToTheEnd(life: AgentLife): Promise<AgentProcessReport> {
  return passTimeThrough(life.report);
}

/** Lets time pass until a promise is settled. */
export async function passTimeThrough<T>(promise: Promise<T>): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await passTimeUntil(() => settled, 'the end');
  return promise;
}
