import type { AgentName } from '../../core/agent/agents/agents.ts';
import type { AttemptEnd, AttemptFacts, Leftover } from '../../core/agent/attempt.ts';
import type { SignFound } from '../../core/agent/sign.ts';
import { messageOf } from '../../errors.ts';
import type { AgentRequest, AgentRunner } from '../../loop/ports.ts';
import { ifPossible } from '../files/if-possible.ts';
import { noteAgent } from '../logs/agent-notes.ts';
import { createTranscript } from '../logs/iteration-log.ts';
import { endLeftovers } from '../processes/end-process.ts';
import { type ConfinedCommand, forAgent, type PlacedCommand } from '../processes/find-program.ts';
import type { Guard } from '../processes/guard.ts';
import type { Lease } from '../processes/lease.ts';
import {
  isAlive,
  MARKER_NAME,
  type ProcessIdentity,
  readProcess,
} from '../processes/process-table.ts';
import { reportOfNoStart, runAgentProcess } from '../processes/run-process.ts';
import type { LeftoverProcess } from '../processes/tree-watch.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { type PinnedFolder, pinFolder } from '../trust/pinned-folder.ts';
import { type AgentKind, type AgentReader, locate, silentReader } from './agent.ts';
import { keepGuard, leaseIsFresh } from './kept-guard.ts';
import { watchAttempt } from './watch.ts';

/** The facts that a child process finds in its environment. */
export interface ChildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Random id of this run of ralph. Every process that the run starts has it in its environment, as a marker. */
  readonly runId: string;
  readonly taskId: string;
  readonly maxIterations: number;
  readonly stateFile: string;
}

export interface RunnerOptions extends ChildOptions {
  /** Returns how an agent is started and its output is read. */
  readonly kindOf: (agent: AgentName) => AgentKind;
  readonly cwd: string;
  /** The sandbox around the agents; null if they run without one. */
  readonly sandbox: Sandbox | null;
  /** Whether to note which agent wrote which part of a log. */
  readonly notesAgents: boolean;
  readonly logDir: string;
  readonly iterationTimeoutMs: number;
  readonly idleTimeoutMs: number | null;
  readonly guardProgram: string;
  readonly keepBackground: boolean;
  readonly logLimitBytes: number;
  /** Called with background processes: those that an attempt has left running, or those that `close` has ended. */
  readonly onLeftovers: (what: 'left' | 'ended', processes: readonly Leftover[]) => void;
  readonly warn: (sentence: string) => void;
  /** Set in a fleet (machines that share tasks): how long a claim to a task holds. Near its end, no agent may start. */
  readonly lease?: Lease | undefined;
}

/** A runner with a guard, a process that ends the run's processes if ralph is killed. */
export interface GuardedRunner extends AgentRunner {
  /** Ends the guard. Call this last, when no process of the run needs it any more. */
  dismissGuard(): void;
}

/** Returns a runner that starts the agent for each attempt, logs its output, and ends leftover processes. */
export function createAgentRunner(options: RunnerOptions): GuardedRunner {
  const logs = pinFolder(options.logDir);
  const guard = keepGuard(options);
  let leftovers: readonly LeftoverProcess[] = [];
  const alive = (): readonly LeftoverProcess[] => {
    leftovers = leftovers.filter(isAlive);
    return leftovers;
  };
  /** Returns the run's processes that an attempt leaves alone: those left by earlier attempts, and sandbox helpers. */
  const others = (): readonly ProcessIdentity[] => [...alive(), ...helpersOf(options.sandbox)];

  return {
    async run(request) {
      const inForce = guard.inForce();
      const facts = await runAttempt(request, { ...options, logs }, inForce, others);
      leftovers = [...alive(), ...facts.left];
      if (facts.left.length > 0) options.onLeftovers('left', facts.left);
      inForce.note(others());
      return facts.facts;
    },
    async close(hurry) {
      const open = alive();
      if (open.length > 0 && !options.keepBackground) {
        const ending = endLeftovers(open, {
          marker: options.runId,
          neverPids: guard.pids(),
        });
        const killNow = (): void => ending.killNow();
        if (hurry.aborted) killNow();
        hurry.addEventListener('abort', killNow);
        await ending.done;
        hurry.removeEventListener('abort', killNow);
        options.onLeftovers('ended', open);
      }
    },
    dismissGuard: guard.dismiss,
  };
}

/** Returns the helpers of a sandbox: the guard ends them and what they started if ralph is killed. */
function helpersOf(sandbox: Sandbox | null): readonly ProcessIdentity[] {
  const pids = sandbox?.helperPids() ?? [];
  return pids.flatMap((pid) => ifPossible(() => readProcess(pid)) ?? []);
}

type AttemptWatch = ReturnType<typeof watchAttempt>;

/** The facts of one attempt, and the background processes that it left running. */
interface Ran {
  readonly facts: AttemptFacts;
  readonly left: readonly LeftoverProcess[];
}

function notRun(code: string, message: string, kind: AgentKind): Ran {
  const ofProcess = reportOfNoStart({ kind: 'not-started', code, message });
  return { facts: { ...silentReader(kind).facts(), ...ofProcess }, left: [] };
}

async function runAttempt(
  request: AgentRequest,
  options: RunnerOptions & { readonly logs: PinnedFolder },
  guard: Pick<Guard, 'pid' | 'note'>,
  exempt: () => readonly ProcessIdentity[],
): Promise<Ran> {
  const kind = options.kindOf(request.agent);
  const command = locate(kind, request, options);
  if ('missing' in command) {
    const code = command.isThere === true ? 'EACCES' : 'ENOENT';
    return notRun(code, command.missing, kind);
  }

  const taskMs = Date.parse(request.taskDeadlineAt) - Date.now();
  const limitMs = Math.min(options.iterationTimeoutMs, taskMs);
  const env = { ...childEnvironment(options, request.iteration), ...kind.variables?.(limitMs) };
  const started = await startedIn(options.sandbox, { ...command, env, cwd: options.cwd });
  if ('failed' in started) return notRun('ESANDBOX', started.failed, kind);
  // Checked as late as possible: while this process was suspended, another worker may have claimed the task.
  await leaseIsFresh(options.lease, request.stops.signal);

  const transcript = createTranscript(options.logs, request.iteration, options.logLimitBytes);
  let reader: AgentReader | null = null;
  let watch: AttemptWatch | null = null;
  const report = await runAgentProcess({
    command: started,
    cwd: options.cwd,
    env: started.env,
    inSandbox: options.sandbox !== null,
    prompt: request.prompt,
    marker: options.runId,
    limits: {
      iterationMs: options.iterationTimeoutMs,
      idleMs: options.idleTimeoutMs,
      taskMs,
    },
    stops: request.stops,
    guardPid: guard.pid,
    exempt,
    onMembers: (members) => guard.note([...exempt(), ...members]),
    onStart: (signs) => {
      transcript.open();
      if (options.notesAgents) {
        const { agent, iteration } = request;
        noteAgent(options.logs, iteration, { agent, from: transcript.openedAt() });
      }
      watch = watchAttempt(request.listener, request.limits, signs);
      reader = kind.read(watch.listener, signs);
    },
    onStdout: (chunk) => transcript.stdout(chunk),
    onHeard: (chunk) => reader?.push(chunk),
    onStderr(chunk) {
      transcript.stderr(chunk);
      reader?.pushStderr?.(chunk);
    },
  });
  transcript.close();
  const heard = endReader(reader, kind);
  const { leftovers, ...ofProcess } = report;
  const cutBy = endWatch(watch, report.end);
  if (heard.skippedLines > 0) options.warn(skippedLinesNotice(heard.skippedLines));
  if (heard.brokenLines > 0) options.warn(brokenLinesNotice(heard.brokenLines));
  return {
    facts: {
      ...heard,
      ...ofProcess,
      ...(cutBy === null ? {} : { cutBy }),
      leftovers: leftovers.map(({ pid, command: line }) => ({ pid, command: line })),
    },
    left: leftovers,
  };
}

function skippedLinesNotice(lines: number): string {
  return `${lines} line(s) of the agent's output were over 16 MB and were not read; the log has them.`;
}

function brokenLinesNotice(lines: number): string {
  return `${lines} line(s) of the agent's output were nested too deeply or malformed and were not read; the log has them.`;
}

function endReader(reader: AgentReader | null, kind: AgentKind) {
  const heard = reader ?? silentReader(kind);
  heard.end();
  return heard.facts();
}

/** Returns the command to start, wrapped for the sandbox if there is one; `failed` says why that is impossible. */
async function startedIn(
  sandbox: Sandbox | null,
  inner: PlacedCommand,
): Promise<ConfinedCommand | { readonly failed: string }> {
  if (sandbox === null) return inner;
  return sandbox.wrap(inner, 'agent').catch((error) => ({ failed: messageOf(error) }));
}

/** Returns the sign of trouble for which ralph ended the attempt; null if the attempt ended for any other reason. */
function endWatch(watch: AttemptWatch | null, end: AttemptEnd): SignFound | null {
  watch?.stop();
  return end.kind === 'cut' && end.cause === 'supervisor' ? (watch?.cutBy() ?? null) : null;
}

/** Returns the environment for a child process: the caller's, plus the task and the iteration. */
export function childEnvironment(options: ChildOptions, iteration: number): NodeJS.ProcessEnv {
  return {
    ...forAgent(options.env),
    RALPH_TASK_ID: options.taskId,
    RALPH_ITERATION: String(iteration),
    RALPH_MAX_ITERATIONS: String(options.maxIterations),
    RALPH_STATE_FILE: options.stateFile,
    [MARKER_NAME]: options.runId,
  };
}
