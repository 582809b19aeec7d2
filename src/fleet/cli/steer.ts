import { setTimeout as sleep } from 'node:timers/promises';
import type { ResumeFlags } from '../../cli/run/plan-resume.ts';
import { say } from '../../cli/terminal/outlet.ts';
import type { Layer } from '../../core/settings/setting-source.ts';
import { settingNames } from '../../core/settings/settings.ts';
import { FleetError, UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { placeInFleet, taskCommand } from '../../printed-command.ts';
import type { RequestTaken } from '../core/fleet-facts.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import { isResumable } from '../core/resumed-spec.ts';
import { requestText, type Steering } from '../report/fleet-words.ts';
import { planFleetResume } from '../worker/plan-fleet-resume.ts';
import { type OpenFleet, requireTask, unknownFleetTask } from './on-fleet.ts';
import { personHere } from './person.ts';

/** `ralph tell ID "…"`: leaves a hint for the next prompt of a task. */
export async function fleetTell(fleet: OpenFleet, taskId: string, text: string): Promise<number> {
  const request = { kind: 'tell', text, by: personHere() } as const;
  return announced(fleet, 'tell', taskId, await fleet.queue.request(taskId, request));
}

/** `ralph pause ID`: pauses a task; if a worker runs it, after its current iteration. Does not wait for that. */
export async function fleetPause(fleet: OpenFleet, taskId: string): Promise<number> {
  const request = { kind: 'pause', by: personHere() } as const;
  return announced(fleet, 'pause', taskId, await fleet.queue.request(taskId, request));
}

/**
 * Returns the task that `ralph resume` names on a fleet, and its new limits. Throws a `UsageError` if there is no id,
 * or for flags other than limits, since the task keeps the other settings with which it was submitted.
 */
export function wordsToResume(flags: ResumeFlags): FleetResume {
  const { taskId, layer, passthrough, problems, isTrusted } = flags;
  if (problems.length > 0) throw new UsageError(problems);
  const limits: Layer = layer;
  const others = settingNames().filter((name) => limits[name] && !isResumable(name));
  const given = [
    ...others.flatMap((name) => limits[name]?.source.where ?? []),
    ...(isTrusted ? ['--trust'] : []),
    ...(passthrough.length > 0 ? ['--'] : []),
  ];
  if (given.length > 0) {
    throw new UsageError([
      `ralph resume takes no ${given.join(', ')} for a task of a fleet: its limits can change, such as --max-iterations, and the rest stays as it was submitted; name a vault with --vault, or resume it without.`,
    ]);
  }
  if (taskId !== null) return { taskId, limits };
  throw new UsageError([
    'ralph resume needs the id of a task of the fleet; ralph status lists them.',
  ]);
}

/** A request of `ralph resume` for a task of a fleet. */
export interface FleetResume {
  readonly taskId: string;
  readonly limits: Layer;
}

/** `ralph resume ID`: queues a task again that is paused, stopped, or ended and resumable. */
export async function fleetResume(
  fleet: OpenFleet,
  { taskId, limits }: FleetResume,
): Promise<number> {
  const { queue } = fleet;
  const changed =
    Object.keys(limits).length === 0
      ? undefined
      : await planFleetResume(queue, await requireTask(fleet, taskId), limits);
  return announced(fleet, 'resume', taskId, await queue.resume(taskId, changed));
}

/** How long to wait for a worker to stop: it looks for requests each second, and its agent ends within 5 s. */
const ENDS_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 250;

/** `ralph stop ID`: stops a task, and waits at most `withinMs` until its worker has ended it. */
export async function fleetStop(
  fleet: OpenFleet,
  taskId: string,
  withinMs = ENDS_WITHIN_MS,
): Promise<number> {
  const taken = await fleet.queue.request(taskId, { kind: 'stop', by: personHere() });
  await announced(fleet, 'stop', taskId, taken);
  if (taken.kind !== 'left') return 0;
  const startedMs = performance.now();
  for (;;) {
    const task = await requireTask(fleet, taskId);
    if (task.worker === null) {
      say(stoppedText(fleet, task));
      return 0;
    }
    if (performance.now() - startedMs > withinMs) {
      say(
        `worker ${task.worker} has not stopped ${taskId} within ${withinMs / 1_000}s; the request stays: if the worker has died, the next one carries it out after the lease. See ralph fleet status.`,
      );
      return EXIT_FAILED;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

function stoppedText(fleet: OpenFleet, { spec, status, ended_at }: FleetTaskFacts): string {
  const { task_id: taskId } = spec;
  if (ended_at === null) {
    return `the worker of ${taskId} has gone; the next one stops it, or a second ralph stop does so at once`;
  }
  if (status === 'completed') return `${taskId} was completed before the request reached it`;
  const state = status.replaceAll('_', ' ');
  const next = `to continue: ${resumeWords(fleet, taskId)}`;
  return status === 'stopped'
    ? `${taskId} is stopped\n${next}`
    : `${taskId} ended before the request reached it, and is ${state}\n${next}`;
}

/** Prints what became of a request. Rejects with the command's error if it was refused or there is no such task. */
export async function announced(
  fleet: OpenFleet,
  act: Steering,
  taskId: string,
  taken: RequestTaken,
): Promise<number> {
  const { name } = fleet.queue;
  switch (taken.kind) {
    case 'unknown-task':
      throw await unknownFleetTask(fleet, taskId);
    case 'refused':
      throw new FleetError(
        `${name}: task '${taskId}' was not changed: ${taken.why.replace(/\.$/, '')}.`,
        EXIT_FAILED,
      );
    default: {
      const resume = resumeWords(fleet, taskId);
      say(`${name}: ${requestText(act, taskId, taken, resume)}`);
      return 0;
    }
  }
}

function resumeWords({ words }: OpenFleet, taskId: string): string {
  return taskCommand('resume', placeInFleet(taskId, words));
}
