import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { AttemptEnd, CutCause, ProcessFacts } from '../../core/agent/attempt.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { createTailText } from '../files/bounded-text.ts';
import { monotonicMs } from '../time/monotonic.ts';
import { startPatientTimer } from '../time/patient-timer.ts';
import { startWorkClock, type WorkLimits } from '../time/work-clock.ts';
import { endTree, KILLING, type ProcessEnding } from './end-process.ts';
import type { AgentCommand } from './find-program.ts';
import { innerTree } from './inner-tree.ts';
import { countBirths, type ProcessIdentity } from './process-table.ts';
import type { ProcessTree } from './process-tree.ts';
import { spawnAgent } from './spawn-process.ts';
import { createTreeWatch, type LeftoverProcess, type TreeWatch } from './tree-watch.ts';

export interface AgentProcessRequest {
  readonly command: AgentCommand;
  /** Whether `command` was wrapped for a sandbox: then the program inside is ended first. */
  readonly inSandbox?: boolean;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly prompt: Uint8Array;
  /** The value of RALPH_RUN_ID in `env`. */
  readonly marker: string;
  readonly limits: WorkLimits;
  readonly stops: StopRequests;
  /** The pid of the guard, which ends the agent if ralph is killed; it is left alone. Null if there is no guard. */
  readonly guardPid: number | null;
  /** Returns other processes with the marker that are left alone, such as leftovers of earlier iterations. */
  readonly exempt: () => readonly ProcessIdentity[];
  readonly onMembers: (members: readonly ProcessIdentity[]) => void;
  /** Receives every byte of the output, for the log. */
  readonly onStdout: (chunk: Buffer) => void;
  /** Receives the output, except for what comes after ralph has begun to end the agent after its result. */
  readonly onHeard: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
  /** Receives the callbacks with which the reader of the output controls the process. */
  readonly onStart: (signs: AgentSigns) => void;
}

/** The parts of a request for a program that is no agent: its output is only collected, and it needs no guard. */
export const NO_AGENT = {
  guardPid: null,
  exempt: () => [],
  onMembers() {},
  onHeard() {},
  onStart() {},
} satisfies Partial<AgentProcessRequest>;

export interface AgentProcessReport extends ProcessFacts {
  /** Processes that the agent left running; empty if its whole tree was ended. */
  readonly leftovers: readonly LeftoverProcess[];
}

/** Time for an agent to exit after its result, and for the pipes to close after its exit. */
const GRACE_MS = 2_000;
/** Time to read the rest of the pipes after everything has been ended. */
const LAST_WORDS_MS = 250;
/** Added to the pause that the agent announces, because its next call takes time, too. */
const RETRY_CALL_MS = 5 * 60_000;
/** The end of standard error that is kept: an agent may print its whole help after the line that names the error. */
const STDERR_TAIL_BYTES = 16_000;

/*
 * The life of one attempt. The first cause wins and is never replaced.
 *
 *   start ──► running ──┬── exits ─────────────────────────────► pipes end, or 2 s ──► report
 *                       ├── gave its result, 2 s pass ──► its group is ended ──────────► report
 *                       └── limit, stop, hopeless ──► the whole tree is ended ─────────► report
 */
/** Runs an agent until it exits. If a limit or a stop ends the attempt, none of its processes stays alive. */
export async function runAgentProcess(request: AgentProcessRequest): Promise<AgentProcessReport> {
  const startedAtMs = monotonicMs();
  const stderr = createTailText(STDERR_TAIL_BYTES, '');
  const decoder = new StringDecoder();
  if (request.stops.signal.aborted) {
    return reportOfNoStart({ kind: 'cut', cause: 'stop-requested', exitCode: null });
  }
  const birthsBefore = countBirths();
  const started = await spawnAgent(request);
  if (started.kind !== 'started') return reportOfNoStart(started);
  const { child, pid } = started;

  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const life: Life = {
    cause: null,
    ending: null,
    hasResult: false,
    lingered: false,
  };
  const tree = createTreeWatch({
    rootPid: pid,
    marker: request.marker,
    birthsBefore,
    neverPids: request.guardPid === null ? [] : [request.guardPid],
    exempt: request.exempt,
    onChange: request.onMembers,
  });

  let cancelGrace = (): void => {};

  /** Ends the agent's process group after its result, which stays valid. */
  const linger = (): void => {
    if (life.ending !== null) return;
    life.lingered = true;
    // The result and its cost are known, so killing loses nothing. While a background task is alive, `claude` would
    // answer a gentler signal with one more call to its model.
    life.ending = endTree(groupOf(tree), { steps: KILLING });
  };
  /** Ends the whole tree for a cause. Returns false if the agent is being ended already, or has given its result. */
  const cut = (why: CutCause): boolean => {
    if (life.hasResult) linger();
    if (life.ending !== null) return false;
    life.cause = why;
    life.ending = endTree(request.inSandbox === true ? innerTree(tree) : tree);
    if (request.stops.hurry.aborted) life.ending.killNow();
    return true;
  };
  const clock = startWorkClock(request.limits, cut);
  const onStop = (): void => void cut('stop-requested');
  const onHurry = (): void => life.ending?.killNow();
  request.stops.signal.addEventListener('abort', onStop);
  request.stops.hurry.addEventListener('abort', onHurry);
  if (request.stops.signal.aborted) onStop();

  request.onStart({
    resultGiven() {
      life.hasResult = true;
      cancelGrace();
      cancelGrace = startPatientTimer(linger, GRACE_MS);
    },
    retrying: (delayMs) => clock.pause((delayMs ?? 0) + RETRY_CALL_MS),
    working() {
      clock.resume();
      // If a background task has woken the agent after a result, only the agent's next result counts.
      life.hasResult = false;
      cancelGrace();
    },
    hopeless: cut,
  });

  const stdoutClosed = readPipe(child.stdout, (chunk) => {
    clock.alive();
    request.onStdout(chunk);
    // An agent that lingers has given its result and is being stopped: what it still prints is ignored.
    if (!life.lingered) request.onHeard(chunk);
  });
  const stderrClosed = readPipe(child.stderr, (chunk) => {
    clock.alive();
    stderr.append(decoder.write(chunk));
    request.onStderr(chunk);
  });
  // An agent that does not read its prompt breaks the pipe; its exit code tells why.
  child.stdin.on('error', () => {});
  child.stdin.end(request.prompt);
  const closed = Promise.all([stdoutClosed, stderrClosed]);

  const { exitCode, signal } = await exited;
  // From here only the last output is read, for a bounded time: no limit may change the cause.
  clock.stop();
  cancelGrace();
  if (life.ending === null) await within(closed, GRACE_MS);
  cancelGrace();
  if (life.ending !== null) {
    await life.ending.done;
    await within(closed, LAST_WORDS_MS);
  }
  child.stdout.destroy();
  child.stderr.destroy();
  child.stdin.destroy();
  request.stops.signal.removeEventListener('abort', onStop);
  request.stops.hurry.removeEventListener('abort', onHurry);
  // When the last wrapper ends, the kernel ends everything inside, so nothing there is a leftover.
  const endsWithWrapper = request.inSandbox === true && process.platform === 'linux';
  const leftovers = life.cause === null && !endsWithWrapper ? tree.leftovers() : [];
  tree.stop();

  return {
    end: endOf(life, exitCode, signal),
    durationMs: Math.round(monotonicMs() - startedAtMs),
    retryWaitMs: clock.pausedMs(),
    heldUpMs: clock.heldUpMs(),
    stderrTail: stderr.read(),
    leftovers,
  };
}

/** Returns the report on an agent that was not started. */
export function reportOfNoStart(end: AttemptEnd): AgentProcessReport {
  return { end, durationMs: 0, retryWaitMs: 0, heldUpMs: 0, stderrTail: '', leftovers: [] };
}

interface Life {
  cause: CutCause | null;
  ending: ProcessEnding | null;
  hasResult: boolean;
  lingered: boolean;
}

function endOf(
  { cause, lingered }: Life,
  exitCode: number | null,
  signal: string | null,
): AttemptEnd {
  if (cause !== null) return { kind: 'cut', cause, exitCode };
  // The agent has given its result, so the exit code no longer matters.
  if (lingered) return { kind: 'exited', exitCode: 0 };
  if (signal !== null) return { kind: 'signalled', signal };
  return { kind: 'exited', exitCode: exitCode ?? 0 };
}

/** Returns a tree of only the agent's own process group, without tools in other sessions. */
function groupOf(tree: TreeWatch): ProcessTree {
  return {
    agentGroup: tree.agentGroup,
    sweep() {
      const { members, ownGroups } = tree.sweep();
      return { members: members.filter(({ pgid }) => pgid === tree.agentGroup), ownGroups };
    },
  };
}

/** Resolves with the promise, or after `ms` milliseconds. */
async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let cancel = (): void => {};
  const timeout = new Promise<void>((resolve) => {
    cancel = startPatientTimer(resolve, ms);
  });
  await Promise.race([promise, timeout]);
  cancel();
}

/** Callbacks for what the agent's output says while its process runs. */
export interface AgentSigns {
  /** The agent has given its result: its process has two seconds to exit. */
  resultGiven(): void;
  /** The agent waits to retry: all time limits pause. `delayMs` is null if it is unknown. */
  retrying(delayMs: number | null): void;
  /** The agent works: the time limits run, and only its next result counts. */
  working(): void;
  /** Ends the attempt, which cannot succeed any more. Returns false if the attempt is ending already. */
  hopeless(cause: CutCause): boolean;
}

/** Passes on the bytes of a pipe, and resolves at its end. A slow `onChunk` slows the child down. Never rejects. */
function readPipe(pipe: Readable, onChunk: (chunk: Buffer) => void): Promise<void> {
  // An error counts as the end of the pipe; the child's exit code says more.
  pipe.on('error', () => {});
  pipe.on('data', onChunk);
  return new Promise((resolve) => void pipe.once('close', () => resolve()));
}
