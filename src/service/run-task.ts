import { announceMissedEnd } from '../compose/resume/announce-missed-end.ts';
import { startRun } from '../compose/run.ts';
import { settle } from '../compose/settings.ts';
import type { AgentName } from '../core/agent/agents/agents.ts';
import { NO_USAGE, type Usage } from '../core/agent/attempt.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import { nearest } from '../core/settings/nearest.ts';
import { type Layer, layerOf } from '../core/settings/setting-source.ts';
import { type SettingName, type Settings, settingNames } from '../core/settings/settings.ts';
import type { EndedStatus } from '../core/task/endings.ts';
import { defaultTaskId } from '../core/task/task-id.ts';
import type { Evidence } from '../core/task/task-state.ts';
import { type RunPlan, requirePlan } from '../effects/plan/run-plan.ts';
import { watchAbort } from '../effects/processes/signals.ts';
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
 * for invalid options, with `TaskAlreadyActiveError`, and with `StateTooNewError` if a newer ralph has
 * used the id. Every end of the task itself, even the wait for an approval, is a result and no error.
 */
export async function runTask(options: RunTaskOptions): Promise<RunTaskResult> {
  refuseWrongOptions(options);
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
    newTaskId: () => defaultTaskId(new Date().toISOString(), Math.random()),
  };
  const plan = await requirePlan(request, [...settled.valueProblems, ...settled.problems]);
  const run = { plan, view: viewOf(options) };
  const stops = () => watchAbort(options.signal ?? null);
  await announceMissedEnd(run, stops);
  const ended = await startRun({ ...run, stops: stops() }).catch((error: unknown) => {
    if (error instanceof ApprovalPendingError) return null;
    throw error;
  });
  if (ended === null) return stillWaiting(plan);
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
    throw new UsageError(['runTask expects an object of options, including a prompt.']);
  }
  const known: readonly string[] = [...settingNames(), ...OTHER_OPTIONS];
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
] as const satisfies readonly (keyof RunTaskOptions)[];

function flagsOf({ signal, signals, claudeBin, ...options }: RunTaskOptions): Layer {
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
