import type { Briefing, BriefTask, Need } from '../../core/task/briefing.ts';
import { oneLine, withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { wrappedProse } from '../columns.ts';
import { dayText } from '../day-text.ts';
import { plural } from '../format.ts';
import { painted, statusTable, type TableOptions } from '../screens/status.ts';
import {
  commandOf,
  findingsOf,
  minute,
  readCommand,
  remedyOf,
  stateReason,
  stateWords,
  usedWords,
} from './briefing-words.ts';

/** Returns a briefing for a terminal, in the style of `ralph status`. What needs a person comes first. */
export function reportScreen(facts: Briefing, options: TableOptions): string {
  const briefing = withoutControlsIn(facts);
  const { since, until, totals, needs, tasks, day } = briefing;
  const { paint } = options;
  const heading = (text: string): string => (paint === null ? text : paint.bold(text));
  const needed = needs.map((need) => (need.kind === 'task' ? need.task.shown.stateFile : null));
  const others = tasks.filter(({ shown }) => !needed.includes(shown.stateFile));
  const sections = [
    [
      `${minute(since)} to ${minute(until)} UTC, ${briefing.stateDir}`,
      ...wrappedProse(
        `${plural(totals.completed, 'task')} completed, ${totals.failed} failed, ${totals.waiting} waiting, ${totals.running} running: ${usedWords(totals)}`,
        options.width,
      ),
      ...(day === null ? [] : [`today: ${dayText(day)}`]),
    ].join('\n'),
    [
      heading('NEEDS A PERSON'),
      ...(needs.length === 0
        ? ['nothing']
        : needs.map((need) => needText(need, briefing, options))),
    ].join('\n'),
    ...(others.length === 0 ? [] : [tasksTable(others, options)]),
  ];
  return `${sections.join('\n\n')}\n`;
}

function tasksTable(tasks: readonly BriefTask[], options: TableOptions): string {
  const byId = new Map(tasks.map((task) => [task.shown, task]));
  return statusTable([...byId.keys()], options, (shown) => {
    const task = byId.get(shown);
    const isDone = shown.state === 'completed';
    const parts = task === undefined ? [] : isDone ? findingsOf(task) : [stateReason(task)];
    return [shown.asked ?? '', ...parts].filter((part) => part !== '').join(' · ') || null;
  }).trimEnd();
}

function needText(need: Need, briefing: Briefing, { width, paint }: TableOptions): string {
  switch (need.kind) {
    case 'request': {
      const { file, taskId, at } = need.request;
      return `${taskId ?? 'a request'}  waits for your answer since ${minute(at)}\n  file: ${file}`;
    }
    case 'note': {
      const { file, taskId, reason, at } = need.note;
      return `${taskId}  left a note (${reason.toLowerCase()}, ${minute(at)})\n  next: ${readCommand(file)}`;
    }
    case 'task':
      break;
  }
  const { task } = need;
  const { shown, note, iterations, workMs, costUsd } = task;
  const used = usedWords({ iterations: iterations.length, workMs, costUsd });
  const remedy = remedyOf(task);
  const command = commandOf(task, briefing) ?? (note === null ? null : readCommand(note.file));
  const lines = [
    shown.asked ?? '',
    stateReason(task),
    ...(remedy === null ? [] : [`what to do: ${remedy}`]),
  ].filter((line) => line !== '');
  return [
    `${shown.taskId}  ${painted(shown, stateWords(shown.state), paint)}  ${used}`,
    ...lines
      .flatMap((line) => wrappedProse(oneLine(line, 500), width - 2))
      .map((line) => `  ${line}`),
    ...(note === null ? [] : [`  note: ${note.file}`]),
    ...(command === null ? [] : [`  next: ${command}`]),
  ].join('\n');
}
