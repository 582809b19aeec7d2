import type { RunOptions } from '../compose/held-run.ts';
import { announceMissedEnd } from '../compose/resume/announce-missed-end.ts';
import { startRun } from '../compose/run.ts';
import { settle } from '../compose/settings.ts';
import type { AgentName } from '../core/agent/agents/agents.ts';
import { NO_USAGE, type Usage } from '../core/agent/attempt.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import { type Layer, layerOf } from '../core/settings/setting-source.ts';
import { type SettingName, type Settings, settingNames } from '../core/settings/settings.ts';
import type { EndedStatus } from '../core/task/endings.ts';
import type { Evidence, TaskState } from '../core/task/task-state.ts';
import { nearest } from '../core/text/nearest.ts';
import { type RunPlan, requirePlan } from '../effects/plan/run-plan.ts';
import { watchAbort } from '../effects/processes/signals.ts';
import { freeTaskId } from '../effects/state/free-task-id.ts';
import { readStateFile } from '../effects/state/state-file.ts';
import { taskPaths } from '../effects/state/task-folder.ts';
import { UsageError } from '../errors.ts';
import { exitCodeFor } from '../exit-codes.ts';
import type { RunView } from '../report/terminal/view.ts';
import { ApprovalPendingError } from '../task-errors.ts';
import { leaveAlone } from './leave-alone.ts';

/** Settings of the command line only. `signal` is one, since the option `signal` is an `AbortSignal`. */
type CommandLineOnly =
  | 'config'
  | 'detach'
  | 'dryRun'
  | 'json'
  | 'noColor'
  | 'quiet'
  | 'resumeIfOpen'
  | 'signal'
  | 'verbose';

/** The type of an option: durations in milliseconds or as `30m`, sizes in bytes or as `1GB`. */
type Given<Value> = Value extends number | null ? number | string : NonNullable<Value>;

/** The settings of a task, under the names of the flags in camelCase; see docs/settings.md. */
type TaskSettings = {
  readonly [Name in Exclude<SettingName, CommandLineOnly | OfAgents>]?: Given<Settings[Name]>;
};

type OfAgents = 'agent' | 'agentBin' | 'model';

/** A text for the only agent, or one for each agent of a list. */
type AgentTexts = string | Readonly<Partial<Record<AgentName, string>>>;

/** A task's settings and its listeners. */
export interface RunTaskOptions extends TaskSettings {
  /** One agent, or several: the next one takes over while one is at its limit. */
  readonly agent?: AgentName | readonly AgentName[];
  readonly agentBin?: AgentTexts;
  readonly model?: AgentTexts;
  /** Phrases that complete the task when stated in two iterations in a row: `--signal`. */
  readonly signals?: readonly string[];
  /** Aborting it stops the loop as `ralph stop` does; the task can be resumed. */
  readonly signal?: AbortSignal;
  /** Receives every event as it happens, as `--json` prints it. An error that it throws is ignored. */
  readonly onEvent?: (event: RalphEvent) => void;
  /** Receives the agent's text as it arrives, without control characters. */
  readonly onText?: (text: string) => void;
  /** Receives warnings and notices, a sentence each, as a person at a terminal would read them. */
  readonly onNotice?: (sentence: string) => void;
  /** The agent's environment; default: this process's. `RALPH_*` settings in it are ignored. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * The id of an open task to resume, as `ralph resume` does. Further options change its settings from now on;
   * those that say what the task is, such as `prompt`, are refused.
   */
  readonly resume?: string;
  /** Another name of `agentBin`. */
  readonly claudeBin?: string;
  /** Passed to the agent unchanged. */
  readonly agentArguments?: readonly string[];
}

/** How a task ended. */
export interface RunTaskResult {
  readonly status: EndedStatus;
  /** The exit code that `ralph run` would have. */
  readonly exitCode: number;
  readonly exitReason: string;
  readonly iterations: number;
  readonly usage: Usage;
  readonly finalMessage: string | null;
  readonly evidence: Evidence | null;
  readonly stateFile: string;
  /** Path of the note for a human, or null if none was needed. */
  readonly note: string | null;
}

/**
 * Runs one task to its end: the engine of `ralph run` inside another program. Reads no configuration
 * file and no `RALPH_*` setting, installs no signal handler and never exits. Rejects with `UsageError`
 * for invalid options and for a task that cannot run here, with `TaskAlreadyActiveError`, and with
 * `StateTooNewError` if a newer ralph has used the id. With `resume` it also rejects with `TaskNotFoundError`, `StateCorruptedError`, `UntrustedTaskError`
 * and `BaselineMisfitError`. Every end of the task itself, even the wait for an approval, is a result and no error.
 */
export async function runTask(options: RunTaskOptions): Promise<RunTaskResult> {
  refuseWrongOptions(options);
  return options.resume === undefined ? runNew(options) : resume(options.resume, options);
}

async function runNew(options: RunTaskOptions): Promise<RunTaskResult> {
  const env = options.env ?? process.env;
  const settled = await settle({
    flags: flagsOf(options),
    variables: {},
    config: {},
    taskTypes: {},
    startDir: process.cwd(),
  });
  const request = {
    ...settled,
    passthrough: options.agentArguments ?? [],
    startDir: process.cwd(),
    env,
    newTaskId: freeTaskId,
  };
  const plan = await requirePlan(request, [...settled.valueProblems, ...settled.problems]);
  const run = { plan, view: viewOf(options) };
  const stops = () => watchAbort(options.signal ?? null);
  await announceMissedEnd(run, stops);
  return resultOf({ ...run, stops: stops() });
}

async function resume(taskId: string, options: RunTaskOptions): Promise<RunTaskResult> {
  const view = viewOf(options);
  const stops = () => watchAbort(options.signal ?? null);
  const { planTaskResume } = await import('./resume-task.ts');
  const planned = await planTaskResume({
    ...{ taskId, view, stops },
    layer: flagsOf(options),
    passthrough: options.agentArguments ?? [],
    env: options.env ?? process.env,
  });
  if (planned.kind === 'completed') {
    return { ...FINISHED, ...shownOf(planned.state), stateFile: planned.stateFile };
  }
  return resultOf({ plan: planned.plan, resume: planned.resume, view, stops: stops() });
}

/** Runs a task and returns how it ended. */
async function resultOf(run: RunOptions): Promise<RunTaskResult> {
  const ended = await startRun(run).catch((error: unknown) => {
    if (error instanceof ApprovalPendingError) return null;
    throw error;
  });
  if (ended === null) return stillWaiting(run.plan);
  const { state, fields } = ended;
  return {
    status: fields.status,
    exitCode: fields.exit_code,
    exitReason: fields.exit_reason,
    iterations: state.task.metrics.iterations,
    usage: fields.usage,
    finalMessage: fields.final_message,
    evidence: fields.evidence,
    stateFile: fields.state_file,
    note: fields.note,
  };
}

/** How a task had ended before it was resumed; the history keeps no message. */
const FINISHED = {
  status: 'completed',
  exitCode: exitCodeFor('completed', 'completed'),
  exitReason: 'completed',
  finalMessage: null,
  note: null,
} as const;

function shownOf({
  metrics,
  usage,
  evidence,
}: TaskState): Pick<RunTaskResult, 'iterations' | 'usage' | 'evidence'> {
  return { iterations: metrics.iterations, usage, evidence };
}

/** Returns the result for a task that still waits for a person: a new run must not replace it. */
function stillWaiting({ stateDir, taskId }: RunPlan): RunTaskResult {
  const { stateFile } = taskPaths(stateDir, taskId);
  const file = readStateFile(stateFile);
  const task = file.kind === 'task' ? file.state : null;
  return {
    status: 'paused_awaiting_approval',
    exitCode: exitCodeFor('paused_awaiting_approval', 'approval-pending'),
    exitReason: 'approval-pending',
    iterations: task?.metrics.iterations ?? 0,
    usage: task?.usage ?? NO_USAGE,
    finalMessage: null,
    evidence: null,
    stateFile,
    note: null,
  };
}

/** Throws for unknown options: in JavaScript, a misspelt limit must not count as no limit. */
function refuseWrongOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError([
      'runTask expects an object of options, including a prompt, or the id of a task to resume.',
    ]);
  }
  const known: readonly string[] = [...settingNames(), ...OTHER_OPTIONS];
  const { resume } = options as RunTaskOptions;
  if (resume !== undefined && typeof resume !== 'string') {
    throw new UsageError([`resume expects the id of a task; found ${JSON.stringify(resume)}.`]);
  }
  const problems = Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearest(name, known);
      return `${name} is not an option of runTask${near === null ? '' : `; did you mean ${near}?`}`;
    });
  if (problems.length > 0) throw new UsageError(problems);
}

const OTHER_OPTIONS = [
  'signals',
  'signal',
  'onEvent',
  'onText',
  'onNotice',
  'env',
  'agentArguments',
  'claudeBin',
  'resume',
] as const satisfies readonly (keyof RunTaskOptions)[];

function flagsOf({ signal, signals, claudeBin, resume: _, ...options }: RunTaskOptions): Layer {
  return layerOf({ agentBin: claudeBin, ...options, signal: signals }, (name) => ({
    kind: 'flag',
    where: `the option ${name}`,
  }));
}

function viewOf({ onEvent, onText, onNotice }: RunTaskOptions): RunView {
  return {
    showsActivity: onEvent !== undefined,
    showsText: onText !== undefined,
    event: (event) => quietly(() => onEvent?.(event)),
    agentText: (text) => quietly(() => onText?.(text)),
    notice: (sentence) => quietly(() => onNotice?.(sentence)),
    close() {},
  };
}

/** Calls a listener and ignores its errors, which must not end the task. */
function quietly(notify: () => unknown): void {
  try {
    leaveAlone(notify());
  } catch {
    // The listener itself has to report its errors.
  }
}
