import type { ShownTask } from '../../core/task/shown-task.ts';
import { oneLine, withoutControls } from '../../core/text/untrusted-text.ts';
import { fleetPlace, formatInstant, plural } from '../../report/format.ts';
import { statusJson, statusTable, type TableOptions } from '../../report/screens/status.ts';
import {
  type Field,
  fieldLines,
  type TaskDetail,
  taskDetail,
} from '../../report/screens/task-detail.ts';
import type { FleetTaskFacts, Parking } from '../core/fleet-task.ts';
import type { FleetWarning } from '../core/fleet-warnings.ts';
import { fleetWarningText, warningsJson, warningText, workerName } from './fleet-words.ts';

/** A task of a fleet as it is shown, from its row in the database. */
export interface ShownFleetTask extends ShownTask {
  readonly facts: FleetTaskFacts;
  /** When the task was read, by the database's clock, as an ISO instant. */
  readonly at: string;
  /** The fleet's warnings that tell why the task does not go on. */
  readonly warnings: readonly FleetWarning[];
}

/**
 * Returns a task as it is shown, from its row. `at` is the database's current time, an ISO instant. The elapsed time is
 * the time since the submission: how long the task has worked is not in the row. `warnings` are those about
 * this task.
 */
export function shownFleetTask(
  facts: FleetTaskFacts,
  at: string,
  warnings: readonly FleetWarning[] = [],
): ShownFleetTask {
  const { spec, status, iterations, worker, host, created_at, ended_at } = facts;
  const max = spec.settings.maxIterations?.value;
  const maxIterations = typeof max === 'number' ? max : null;
  return {
    facts,
    at,
    warnings,
    asked: oneLine(spec.prompt, 200),
    taskId: oneLine(spec.task_id, 128),
    state: status,
    status,
    iteration: maxIterations === null ? null : worker === null ? iterations : iterations + 1,
    maxIterations,
    startedAt: created_at,
    finishedAt: ended_at,
    elapsedMs: Math.max(0, Date.parse(ended_at ?? at) - Date.parse(created_at)),
    costUsd: facts.cost_usd,
    last: null,
    wait: null,
    driver: null,
    runBy: worker === null ? null : workerName(worker, host ?? ''),
    exitReason: facts.exit_reason,
    sandbox: null,
    stateFile: '',
    logDir: '',
    archived: ended_at !== null,
    isOwn: true,
  };
}

const WARNINGS_SHOWN = 5;

/** Returns the fleet's name, the table of its tasks in the order given, and the warnings about them. */
export function fleetTaskTable(
  fleet: string,
  tasks: readonly ShownFleetTask[],
  options: TableOptions,
): string {
  const table =
    tasks.length === 0
      ? 'no tasks; ralph submit queues one\n'
      : statusTable(tasks, options, taskWords);
  return `${oneLine(fleet, 200)}\n${table}${warningLines(tasks, options)}`;
}

/** Returns the lines of the tasks' warnings, each warning once, and at most `WARNINGS_SHOWN` of them. */
function warningLines(tasks: readonly ShownFleetTask[], options: TableOptions): string {
  const texts = [
    ...new Set(tasks.flatMap(({ warnings }) => warnings.map((each) => fleetWarningText(each)))),
  ];
  if (texts.length === 0) return '';
  const more = texts.length - WARNINGS_SHOWN;
  const last = more > 0 ? [`${plural(more, 'more warning')}: ralph fleet status`] : [];
  const lines = [
    ...texts.slice(0, WARNINGS_SHOWN).flatMap((text) => warningText(text, options)),
    ...last,
  ];
  return `\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** Returns a task in the JSON form of a local task, with one more field for the facts that only a fleet knows. */
export function fleetTaskJson(fleet: string, task: ShownFleetTask): object {
  const places = { state_file: null, log_dir: null };
  return { ...statusJson(task), ...places, fleet: fleetFields(fleet, task) };
}

/** Returns the facts about a task that only a fleet knows, as JSON. */
export function fleetFields(
  fleet: string,
  { facts, warnings }: Pick<ShownFleetTask, 'facts' | 'warnings'>,
): object {
  const { spec, parked } = facts;
  return {
    name: fleetPlace(fleet),
    worker: facts.worker,
    host: facts.host,
    fence: facts.fence,
    queue: spec.queue,
    account: spec.account,
    waits_for: facts.paused ? 'resume' : (parked?.kind ?? null),
    parked_until: parked === null || parked.kind === 'handover' ? null : parked.until,
    not_before: facts.not_before,
    branch: spec.branch,
    commit: facts.result_commit,
    result_ref: facts.result_ref,
    warning: facts.warning,
    warnings: warningsJson(warnings),
  };
}

export interface FleetTaskDetail {
  /** The name of the fleet: `fleet HOST/DATABASE`. */
  readonly fleet: string;
  readonly shown: ShownFleetTask;
  /** The ref and the commit of the newest snapshot; null before the first. */
  readonly snapshot: { readonly ref: string; readonly commit: string } | null;
  readonly detail: TaskDetail;
}

/** Returns a task in detail as text: first the facts that only the fleet knows, then those from its stored state. */
export function fleetTaskDetail(task: FleetTaskDetail, options: TableOptions): string {
  const lines = fieldLines(fleetFieldsOf(task), options);
  const shown = taskDetail({ ...task.detail, isElsewhere: true }, options);
  return `${oneLine(task.fleet, 200)}\n${lines.map((line) => `${line}\n`).join('')}${shown}`;
}

function fleetFieldsOf({ shown, snapshot, detail }: FleetTaskDetail): readonly Field[] {
  const { facts, warnings } = shown;
  const { spec, worker, host, fence, result_commit, result_ref, branch_commit } = facts;
  const { account, queue, priority, branch } = spec;
  const line = (text: string): string => oneLine(text, 300);
  const rank = priority === 0 ? '' : `, priority ${priority}`;
  const moved = branch_commit === null ? 'not moved' : branch_commit.slice(0, 12);
  const isResult = result_commit !== null && result_ref !== null;
  return [
    ['queue', `${line(queue)}, account ${line(account)}${rank}`],
    ['worker', worker === null ? 'none' : workerName(worker, host ?? '')],
    ['claims', fence === 0 ? 'none yet' : `${fence}${lostText(facts)}`],
    ['waiting', waitingWords(facts, detail.at)],
    ['repository', line(spec.repo)],
    ['branch', `${line(branch)} (${moved})`],
    ['result', isResult ? `${line(result_ref)} at ${result_commit.slice(0, 12)}` : null],
    ['snapshot', snapshot && `${line(snapshot.ref)} at ${snapshot.commit.slice(0, 12)}`],
    ['warning', facts.warning && line(facts.warning)],
    ...warnings.map((warning): Field => ['warning', fleetWarningText(warning)]),
    ['note', facts.note && withoutControls(facts.note)],
  ];
}

function lostText({ claims_without_iteration: claims, hosts }: FleetTaskFacts): string {
  if (claims < 2) return '';
  const where = hosts.map((host) => oneLine(host, 60)).join(', ');
  return `; the last ${claims} without a finished attempt, on ${where}`;
}

/** Returns a few words on what is special about a task; null if nothing is. */
function taskWords({ facts, at }: ShownFleetTask): string | null {
  const { spec, exit_reason: reason, status, warning, ended_at } = facts;
  const waiting = waitingWords(facts, at);
  const ended =
    ended_at === null || reason === null || reason === status ? null : oneLine(reason, 100);
  const result = facts.result_ref === null ? null : oneLine(facts.result_ref, 200);
  const parts = [
    waiting === null ? null : `waits ${waiting}`,
    ended,
    status === 'completed' ? result : null,
    warning === null ? null : `warning: ${oneLine(warning, 200)}`,
    ended_at === null && spec.account !== 'default' ? `account ${oneLine(spec.account, 60)}` : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' · ');
}

/** Says what a task waits for, and until when; null if a worker runs it or it has ended. */
function waitingWords(facts: FleetTaskFacts, at: string): string | null {
  const { spec, paused, parked, not_before: notBefore, worker, ended_at } = facts;
  if (ended_at !== null || worker !== null) return null;
  if (paused) return 'for ralph resume, since it was paused';
  if (parked !== null) return parkingWords(parked, spec.account);
  if (notBefore !== null && notBefore > at)
    return `until ${formatInstant(notBefore)}, as it was submitted`;
  return `for a worker of the queue ${oneLine(spec.queue, 60)}`;
}

function parkingWords(parked: Parking, account: string): string {
  switch (parked.kind) {
    case 'wait':
      return parked.account
        ? `for the usage limit of the account ${oneLine(account, 60)}, until ${formatInstant(parked.until)}`
        : `until ${formatInstant(parked.until)}`;
    case 'approval':
      return `for an approval, until ${formatInstant(parked.until)}`;
    case 'handover':
      return `for another worker: ${oneLine(parked.why, 200)}`;
  }
}
