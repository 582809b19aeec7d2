import type { RunOptions } from '../compose/held-run.ts';
import { announceMissedEnd } from '../compose/resume/announce-missed-end.ts';
import { startRun } from '../compose/run.ts';
import { settle } from '../compose/settings.ts';
import { NO_USAGE, type Usage } from '../core/agent/attempt.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import { type Layer, layerOf } from '../core/settings/setting-source.ts';
import type { EndedStatus } from '../core/task/endings.ts';
import type { Evidence } from '../core/task/task-state.ts';
import { type RunPlan, requirePlan } from '../effects/plan/run-plan.ts';
import { promptPreview } from '../effects/plan/task-facts.ts';
import { watchAbort } from '../effects/processes/signals.ts';
import { freeTaskId } from '../effects/state/free-task-id.ts';
import { readStateFile } from '../effects/state/state-file.ts';
import { taskPaths } from '../effects/state/task-folder.ts';
import { exitCodeFor } from '../exit-codes.ts';
import { type EndingEvent, endingLine, isEnding, proofText } from '../report/ending-lines.ts';
import type { RunView } from '../report/terminal/view.ts';
import { ApprovalPendingError } from '../task-errors.ts';
import { refuseWrongOptions } from './known-options.ts';
import { leaveAlone } from './leave-alone.ts';
import type { RunTaskOptions } from './run-task-options.ts';

/** How a task ended. */
export interface RunTaskResult {
  /** `completed`, or why it is not, such as `max_iterations_reached`; see docs/resume.md. */
  readonly status: EndedStatus;
  /** The exit code that `ralph run` would have. */
  readonly exitCode: number;
  /** The reason within the status, such as `failed:not-logged-in`. */
  readonly exitReason: string;
  /** How the task ended, in one line for people, as `ralph run` says it, and whether its completion is proven. */
  readonly message: string;
  /** How many iterations the task has had, over all its runs. */
  readonly iterations: number;
  /** The money and tokens that the task has used, over all its runs; 0 where the agent reported none. */
  readonly usage: Usage;
  /** The agent's last message; null if there is none. */
  readonly finalMessage: string | null;
  /** Which condition completed the task, and what proves it; null if it is not completed. */
  readonly evidence: Evidence | null;
  /** Path of the state of the task. */
  readonly stateFile: string;
  /** Path of the note for a human, or null if none was needed. */
  readonly note: string | null;
}

/**
 * Runs one task to its end: the engine of `ralph run` inside another program. Reads no configuration
 * file and no `RALPH_*` setting, installs no signal handler and never exits. Rejects with `UsageError`
 * for invalid options and for a task that cannot run here, with `TaskAlreadyActiveError`, and with
 * `StateTooNewError` if a newer version of ralph has used the id. With `resume` it also rejects with
 * `TaskNotFoundError`, `StateCorruptedError`, `UntrustedTaskError` and `BaselineMisfitError`. Every end of the task
 * itself, even the wait for an approval, is a result and no error.
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
  await announceMissedEnd(run, { stops });
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
    const { metrics, usage, evidence } = planned.state;
    const { stateFile } = planned;
    return { ...FINISHED, iterations: metrics.iterations, usage, evidence, stateFile };
  }
  return resultOf({ plan: planned.plan, resume: planned.resume, view, stops: stops() });
}

async function resultOf(run: RunOptions): Promise<RunTaskResult> {
  const asked = promptPreview(run.plan);
  let message = '';
  const event = (each: RalphEvent): void => {
    if (isEnding(each)) message = messageOf(each, asked);
    run.view.event(each);
  };
  const ended = await startRun({ ...run, view: { ...run.view, event } }).catch((error: unknown) => {
    if (error instanceof ApprovalPendingError) return null;
    throw error;
  });
  if (ended === null) return stillWaiting(run.plan);
  const { state, fields } = ended;
  return {
    status: fields.status,
    exitCode: fields.exit_code,
    exitReason: fields.exit_reason,
    message,
    iterations: state.task.metrics.iterations,
    usage: fields.usage,
    finalMessage: fields.final_message,
    evidence: fields.evidence,
    stateFile: fields.state_file,
    note: fields.note,
  };
}

function messageOf(event: EndingEvent, asked: string): string {
  const { proof } = event.evidence ?? {};
  const lines = [endingLine(event, { asked }), ...(proof === undefined ? [] : [proofText(proof)])];
  return lines.join('; ').replace(/\s+/g, ' ');
}

/** The result for a task that had completed before it was resumed. The history keeps no message of the agent. */
const FINISHED = {
  status: 'completed',
  exitCode: exitCodeFor('completed', 'completed'),
  exitReason: 'completed',
  message: 'completed already, so nothing was started',
  finalMessage: null,
  note: null,
} as const;

/** Returns the result if nothing was started, since the task still waits for an approval. */
function stillWaiting({ stateDir, taskId }: RunPlan): RunTaskResult {
  const { stateFile } = taskPaths(stateDir, taskId);
  const file = readStateFile(stateFile);
  const task = file.kind === 'task' ? file.state : null;
  return {
    status: 'paused_awaiting_approval',
    exitCode: exitCodeFor('paused_awaiting_approval', 'approval-pending'),
    exitReason: 'approval-pending',
    message: 'not completed: waiting for an approval',
    iterations: task?.metrics.iterations ?? 0,
    usage: task?.usage ?? NO_USAGE,
    finalMessage: null,
    evidence: null,
    stateFile,
    note: null,
  };
}

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
    // The listener gets a copy, because the event may share objects with the loop's state.
    event: (event) => quietly(() => onEvent?.(structuredClone(event))),
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
