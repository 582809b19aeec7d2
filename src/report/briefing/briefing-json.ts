import type { Briefing, BriefTask, Need } from '../../core/task/briefing.ts';
import { dayJson } from '../day-text.ts';
import { fleetPlace } from '../format.ts';
import { statusJson } from '../screens/status.ts';
import { commandOf, remedyOf, stateReason } from './briefing-words.ts';

/** Returns a briefing as JSON. Durations are in seconds, money in US dollars. */
export function briefingJson(briefing: Briefing): object {
  const { since, until, totals, day, needs, tasks } = briefing;
  return {
    since,
    until,
    ...placeJson(briefing),
    totals: {
      completed: totals.completed,
      not_yours: totals.foreign,
      failed: totals.failed,
      waiting: totals.waiting,
      running: totals.running,
      iterations: totals.iterations,
      cost_usd: totals.costUsd,
      work_seconds: seconds(totals.workMs),
    },
    day: day && dayJson(day),
    needs_person: needs.map((need) => needJson(need, briefing)),
    tasks: tasks.map((task) => taskJson(task, briefing)),
  };
}

function placeJson({ vault, stateDir, fleetWords }: Briefing): object {
  return fleetWords === undefined
    ? { vault, state_dir: stateDir }
    : { fleet: fleetPlace(stateDir), vault: null, state_dir: null };
}

function needJson(need: Need, briefing: Briefing): object {
  switch (need.kind) {
    case 'task': {
      const { task } = need;
      return {
        kind: 'task',
        task_id: task.shown.taskId,
        state: task.shown.state,
        reason: stateReason(task),
        what_to_do: remedyOf(task),
        command: commandOf(task, briefing),
        note: task.note?.file ?? null,
      };
    }
    case 'request':
      return {
        kind: 'request',
        task_id: need.request.taskId,
        file: need.request.file,
        at: need.request.at,
      };
    case 'note':
      return {
        kind: 'note',
        task_id: need.note.taskId,
        reason: need.note.reason.toLowerCase(),
        file: need.note.file,
        at: need.note.at,
      };
  }
}

function taskJson(task: BriefTask, briefing: Briefing): object {
  return {
    ...statusJson(task.shown),
    ...(briefing.fleetWords === undefined ? {} : { state_file: null, log_dir: null }),
    group: task.group,
    reason: stateReason(task),
    command: commandOf(task, briefing),
    proof: task.shown.isOwn ? (task.task?.evidence?.proof ?? null) : null,
    note: task.note?.file ?? null,
    refused_hosts: task.task?.sandbox?.refused ?? [],
    planted: task.task?.sandbox?.planted ?? [],
    // These figures are for the period of the briefing; the fields above cover the whole task.
    span: {
      iterations: task.iterations.length,
      cost_usd: task.costUsd,
      work_seconds: seconds(task.workMs),
    },
    ...(task.task === null || Object.keys(task.task.agents).length === 0
      ? {}
      : { agents: task.task.agents }),
    iterations: task.iterations,
  };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
