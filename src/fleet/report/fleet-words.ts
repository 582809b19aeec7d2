import { firstFew, oneLine } from '../../core/text/untrusted-text.ts';
import { commandHere, ralphCommand, shellQuote } from '../../printed-command.ts';
import { wrappedProse } from '../../report/columns.ts';
import {
  formatClock,
  formatCountdown,
  formatDuration,
  formatInstant,
  plural,
} from '../../report/format.ts';
import type { TableOptions } from '../../report/screens/status.ts';
import type {
  AccountFacts,
  InitDone,
  Migrated,
  RequestTaken,
  UnreadableTask,
} from '../core/fleet-facts.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import type { FleetWarning } from '../core/fleet-warnings.ts';

// The sentences with which people are told about a fleet.

/** Returns where the result of a task is and how to fetch it into a clone; null if there is none. */
export function resultText({ spec, result_commit, result_ref }: FleetTaskFacts): string | null {
  if (result_commit === null || result_ref === null) return null;
  const ref = oneLine(result_ref, 300);
  const branch = ref.replace(/^refs\/heads\//, '');
  const what = branch === ref ? ref : `the branch ${branch}`;
  const words = [oneLine(spec.repo, 2_000), branch].map(shellQuote);
  return `${what} at ${result_commit.slice(0, 12)}: git fetch ${words.join(' ')}`;
}

/** Returns the sentence of a warning: what is wrong, and what to do about it. */
export function fleetWarningText(warning: FleetWarning): string {
  switch (warning.kind) {
    case 'no-worker':
      return `no worker takes the queue ${name(warning.queue)}, which has ${plural(warning.tasks, 'task')}; start one: ${ralphCommand('worker', '--queue', shellQuote(name(warning.queue)))}`;
    case 'unknown-schema':
      return `${plural(warning.tasks, 'task')} in the queue ${name(warning.queue)} ${warning.tasks === 1 ? 'has' : 'have'} the schema ${warning.schema}, which no worker knows; start a worker of a newer ralph`;
    case 'no-worker-for-account':
      return `no worker claims for the account ${name(warning.account)}, which has ${plural(warning.tasks, 'task')}; add it to the --accounts file of a worker, and restart it`;
    case 'silent': {
      const { worker, host, forMs, running } = warning;
      const tasks = running.length === 0 ? '' : `; other workers take over ${names(running)}`;
      return `the worker ${workerName(worker, host)} has been silent for ${formatClock(forMs)}${tasks}; look at its host`;
    }
    case 'idle':
      return `the worker ${workerName(warning.worker, warning.host)} claims nothing: ${oneLine(warning.why, 200)}; look at its host`;
    case 'versions':
      return `the workers run several versions of ralph: ${names(warning.versions)}; replace the older ones`;
    case 'waits-long':
      return `the oldest task in the queue ${name(warning.queue)} has been waiting for ${formatClock(warning.forMs)}; start more workers, or look at the --slots of its account`;
    case 'account-paused': {
      const { account, until, why } = warning;
      const because = why === null || why === '' ? '' : ` (${oneLine(why, 200)})`;
      const end = until === null ? 'somebody releases it' : formatInstant(until);
      return `the account ${name(account)} is paused until ${end}${because}; to release it: ${ralphCommand('fleet', 'account', shellQuote(name(account)), '--resume')}`;
    }
    case 'claimed-again': {
      const next = warning.isNextLast ? '; the next worker runs it alone' : '';
      return `${name(warning.taskId)} was claimed ${warning.claims} times without a finished attempt, on ${names(warning.hosts)}${next}; to look at it: ${commandHere('status', name(warning.taskId))}`;
    }
    case 'parked-again':
      return `${name(warning.taskId)} was parked ${warning.parks} times without a finished iteration; to see what it waits for: ${commandHere('status', name(warning.taskId))}`;
    case 'unreadable':
      return unreadableWarning(warning.taskIds);
    case 'failed':
      return `${plural(warning.taskIds.length, 'task')} failed in the last day: ${names(warning.taskIds)}; to see why: ${commandHere('status', name(warning.taskIds[0] ?? 'ID'))}`;
  }
}

/** Returns the lines of a warning, wrapped and in its colour. */
export function warningText(text: string, { width, paint }: TableOptions): readonly string[] {
  return wrappedProse(`warning: ${text}`, width - 2).map((line, index) => {
    const shown = index === 0 ? line : `  ${line}`;
    return paint?.yellow(shown) ?? shown;
  });
}

/** Returns warnings as JSON. */
export function warningsJson(warnings: readonly FleetWarning[]): readonly object[] {
  return warnings.map((warning) => ({ kind: warning.kind, text: fleetWarningText(warning) }));
}

/** Says why a task with an unreadable row is not shown, and what to do about it. `fleet` is the fleet's name. */
export function unreadableText(fleet: string, { taskId, endedAt }: UnreadableTask): string {
  const id = name(taskId);
  const remedy =
    endedAt === null
      ? `ralph prune removes it once it is held.\nto hold it: ${commandHere('stop', id)}`
      : 'ralph prune removes it.';
  return `Task '${id}' in ${name(fleet)} was not written by this version of ralph submit, so it is not shown. Find out who wrote it, or update ralph; ${remedy}`;
}

/** Says why a report leaves a task out. `isNewer`: a newer ralph wrote the task's stored state (checkpoint). */
export function notReported(taskId: string, isNewer: boolean): string {
  const why = isNewer ? 'was written by a newer ralph; use that one' : 'cannot be read';
  return `task ${name(taskId)} is left out, since its checkpoint ${why}`;
}

function unreadableWarning(taskIds: readonly string[]): string {
  const [first = 'ID'] = taskIds;
  const where = taskIds.length === 1 ? 'is in a row' : 'are in rows';
  return `${plural(taskIds.length, 'task')} ${where} that ralph submit does not write: ${names(taskIds)}; to see what to do: ${commandHere('status', name(first))}`;
}

/** The requests that a person makes of a task. */
export type Steering = 'tell' | 'pause' | 'stop' | 'resume' | 'approve' | 'reject';

/**
 * Says what became of a request, unless it was refused: then the command ends with an error. `resume` is the command
 * that continues the task.
 */
export function requestText(
  act: Steering,
  taskId: string,
  taken: Extract<RequestTaken, { kind: 'left' | 'done' }>,
  resume: string,
): string {
  const id = name(taskId);
  const who = taken.kind === 'left' ? workerName(taken.worker, taken.host) : null;
  const runs = who === null ? 'nobody runs it now' : `worker ${who} runs it`;
  switch (act) {
    case 'tell':
      return `the next iteration of ${id} gets the hint; ${runs}`;
    case 'pause':
      return who === null
        ? `${id} is paused\nto continue: ${resume}`
        : `${id} pauses after its current iteration; ${runs}\nto continue: ${resume}`;
    case 'stop':
      return who === null
        ? `${id} is stopped\nto continue: ${resume}`
        : `worker ${who} was asked to stop ${id}`;
    case 'resume':
      return who === null ? `${id} is queued again` : `${id} continues; ${runs}`;
    case 'approve':
    case 'reject': {
      const verdict = act === 'approve' ? 'approved' : 'rejected';
      return who === null
        ? `${verdict}: the next free worker continues ${id}`
        : `${verdict}: ${id} continues; ${runs}`;
    }
  }
}

/** Says whether an account is paused at the instant `at`, how many of its tasks may run at once, and how many do. */
export function accountText(facts: AccountFacts, at: string): string {
  const { account, held, paused_until, slots, running } = facts;
  const leftMs = paused_until === null ? 0 : Date.parse(paused_until) - Date.parse(at);
  const pause = held
    ? 'is paused until ralph fleet account --resume'
    : leftMs > 0
      ? `is paused for ${formatCountdown(leftMs)}`
      : 'is free';
  const bound = slots === 0 ? 'no limit on tasks' : `at most ${plural(slots, 'task')}`;
  return `the account ${name(account)} ${pause}; ${bound} at once, ${running} running`;
}

/** Says which versions the tables of a fleet have, and whether they were made, updated or left as they were. */
export function initText({ name: fleet, engine, tables, leaseMs }: InitDone): string {
  return [
    name(fleet),
    `tables of ralph: ${migrationText(tables)}`,
    `tables of pg-boss: ${migrationText(engine)}`,
    `lease: ${formatDuration(leaseMs)}`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function migrationText({ from, to }: Migrated): string {
  if (from === null) return `version ${to}, made now`;
  return from === to ? `version ${to}, as before` : `version ${to}, before ${from}`;
}

/** Returns a worker's name with its host, unless the name contains the host. */
export function workerName(worker: string, host: string): string {
  const [shown, where] = [name(worker), name(host)];
  return where === '' || shown.includes(where) ? shown : `${shown} on ${where}`;
}

function names(all: readonly string[]): string {
  return firstFew(all, name);
}

function name(text: string): string {
  return oneLine(text, 128);
}
