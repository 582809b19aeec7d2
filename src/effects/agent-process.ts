import { StringDecoder } from 'node:string_decoder';
import type { AttemptEnd, CutCause } from '../core/attempt.ts';
import type { StopRequests } from '../loop/ports.ts';
import type { AgentCommand, AgentSigns } from './agent-kind.ts';
import { createTailText } from './bounded-text.ts';
import { type Ending, endTree } from './end-process.ts';
import { monotonicMs } from './monotonic.ts';
import { startPatientTimer } from './patient-timer.ts';
import { countBirths, type ProcessIdentity } from './process-table.ts';
import {
  createTreeWatch,
  type LeftoverProcess,
  type ProcessTree,
  type TreeWatch,
} from './process-tree.ts';
import { readPipe } from './read-pipe.ts';
import { spawnAgent } from './spawn-agent.ts';
import { startWorkClock, type WorkLimits } from './work-clock.ts';

/** One start of an agent. */
export interface AgentProcessRequest {
  readonly command: AgentCommand;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly prompt: Uint8Array;
  /** The value of RALPH_RUN_ID in `env`. */
  readonly marker: string;
  readonly limits: WorkLimits;
  readonly stops: StopRequests;
  /** What belongs to the run and is to be left alone: the guard, earlier leftovers. */
  readonly guardPid: number | null;
  readonly spare: () => readonly ProcessIdentity[];
  readonly onMembers: (members: readonly ProcessIdentity[]) => void;
  /** Every byte, for the log. */
  readonly onStdout: (chunk: Buffer) => void;
  /** The bytes that count: none after an agent that had given its result is being ended. */
  readonly onHeard: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
  /** Handed the means by which the output's reader steers the process. */
  readonly onStart: (signs: AgentSigns) => void;
}

export interface AgentProcessReport {
  readonly end: AttemptEnd;
  readonly durationMs: number;
  readonly retryWaitMs: number;
  /** Time in which ralph itself was stopped. */
  readonly heldUpMs: number;
  readonly stderrTail: string;
  /** What it started and left running; empty where it was ended whole. */
  readonly leftovers: readonly LeftoverProcess[];
}

/** For an agent that has given its result, and for a grandchild that keeps its pipe open. */
const GRACE_MS = 2_000;
/** After everything was ended, for what still stands in the pipes. */
const LAST_WORDS_MS = 250;
/** Longer than the pause that was announced: the call that follows it takes its time too. */
const RETRY_CALL_MS = 5 * 60_000;
/**
 * For an agent that has reported its result and cost: nothing is left to be said. `claude` answers a
 * gentler signal with one more call to its model while a background task of its own is alive.
 */
const AT_ONCE = [{ atMs: 0, signal: 'SIGKILL', to: 'everything' }] as const;
const STDERR_TAIL_BYTES = 4_000;

/*
 * The life of one attempt. Whatever ends it first is the cause, and stays it.
 *
 *   start ──► running ──┬── exits ─────────────────────────────► pipes end, or 2 s ──► report
 *                       ├── gave its result, 2 s pass ──► its group is ended ──────────► report
 *                       └── limit, stop, hopeless ──► the whole tree is ended ─────────► report
 */
/** Runs an agent's process to its end, and leaves nothing of it behind where it had to be ended. */
export async function runAgentProcess(request: AgentProcessRequest): Promise<AgentProcessReport> {
  const startedAtMs = monotonicMs();
  const stderr = createTailText(STDERR_TAIL_BYTES, '');
  const decoder = new StringDecoder();
  if (request.stops.signal.aborted) {
    return notStarted({ kind: 'cut', cause: 'stop-requested', exitCode: null });
  }
  const birthsBefore = countBirths();
  const started = await spawnAgent(request);
  if (started.kind !== 'started') return notStarted(started);
  const { child, pid } = started;

  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const tree = createTreeWatch({
    rootPid: pid,
    marker: request.marker,
    birthsBefore,
    neverPids: request.guardPid === null ? [] : [request.guardPid],
    spare: request.spare,
    onChange: request.onMembers,
  });

  const life: Life = { cause: null, ending: null, hasResult: false, lingered: false };
  let cancelGrace = (): void => {};

  /** The answer is there and is kept; only what lingers is in the way. */
  const linger = (): void => {
    if (life.ending !== null) return;
    // What has been heard so far is taken down: from now on its memory is read into by others.
    request.onHeard(Buffer.alloc(0));
    life.lingered = true;
    life.ending = endTree(groupOf(tree), { steps: AT_ONCE });
  };
  const cut = (why: CutCause): void => {
    if (life.hasResult) linger();
    if (life.ending !== null) return;
    life.cause = why;
    life.ending = endTree(tree);
    if (request.stops.hurry.aborted) life.ending.killNow();
  };
  const clock = startWorkClock(request.limits, cut);
  const onStop = (): void => cut('stop-requested');
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
      // Woken by a task of its own in the background: the next result is the one that counts.
      life.hasResult = false;
      cancelGrace();
    },
    hopeless: cut,
  });

  const stdoutPipe = readPipe(child.stdout, (chunk) => {
    clock.alive();
    request.onStdout(chunk);
    // What an agent says while it is being put away changes nothing any more.
    if (!life.lingered) request.onHeard(chunk);
  });
  const stderrPipe = readPipe(child.stderr, (chunk) => {
    clock.alive();
    stderr.append(decoder.write(chunk));
    request.onStderr(chunk);
  });
  // An agent that does not read its prompt breaks the pipe; its own end tells why.
  child.stdin.on('error', () => {});
  child.stdin.end(request.prompt);
  const closed = Promise.all([stdoutPipe.closed, stderrPipe.closed]);

  const { exitCode, signal } = await exited;
  // What comes now is its last words, and bounded by itself: no limit may undo how it ended.
  clock.stop();
  cancelGrace();
  if (life.ending === null) await within(closed, GRACE_MS);
  cancelGrace();
  if (life.ending !== null) {
    await life.ending.done;
    await within(closed, LAST_WORDS_MS);
  }
  stdoutPipe.destroy();
  stderrPipe.destroy();
  child.stdin.destroy();
  request.stops.signal.removeEventListener('abort', onStop);
  request.stops.hurry.removeEventListener('abort', onHurry);
  const leftovers = life.cause === null ? tree.leftovers() : [];
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

function notStarted(end: AttemptEnd): AgentProcessReport {
  return { end, durationMs: 0, retryWaitMs: 0, heldUpMs: 0, stderrTail: '', leftovers: [] };
}

/** What has happened to the process so far. */
interface Life {
  cause: CutCause | null;
  ending: Ending | null;
  hasResult: boolean;
  lingered: boolean;
}

function endOf(
  { cause, lingered }: Life,
  exitCode: number | null,
  signal: string | null,
): AttemptEnd {
  if (cause !== null) return { kind: 'cut', cause, exitCode };
  // It had given its result: how it was got rid of afterwards is no news.
  if (lingered) return { kind: 'exited', exitCode: 0 };
  if (signal !== null) return { kind: 'signalled', signal };
  return { kind: 'exited', exitCode: exitCode ?? 0 };
}

/** The agent and its group alone: tools in sessions of their own are not meant. */
function groupOf(tree: TreeWatch): ProcessTree {
  return {
    agentGroup: tree.agentGroup,
    sweep() {
      const { members, ownGroups } = tree.sweep();
      return { members: members.filter(({ pgid }) => pgid === tree.agentGroup), ownGroups };
    },
  };
}

/** Resolves when the promise does, or after `ms`. */
async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let cancel = (): void => {};
  const timeout = new Promise<void>((resolve) => {
    cancel = startPatientTimer(resolve, ms);
  });
  await Promise.race([promise, timeout]);
  cancel();
}
