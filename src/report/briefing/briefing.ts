import type { BriefGroup, Briefing, BriefTask, Need } from '../../core/task/briefing.ts';
import { withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { fromItsFolder } from '../../printed-command.ts';
import { agentsText, judgeText } from '../agent-words.ts';
import { dayText } from '../day-text.ts';
import { formatDuration, plural, toldCost } from '../format.ts';
import { lookBackOf, ownBranchOf, ownBranchText } from '../look-back.ts';
import { cell, codeSpan, fenced, inlineText, sandboxSections } from '../notes/markdown.ts';
import { plantedFiles, refusedLines, sandboxWord } from '../sandbox-words.ts';
import {
  commandOf,
  findingsOf,
  gitFacts,
  minute,
  readCommand,
  remedyOf,
  stateReason,
  stateWords,
  usedWords,
} from './briefing-words.ts';

/** Returns a briefing as Markdown. What needs a person comes first. */
export function renderBriefing(facts: Briefing): string {
  const briefing = withoutControlsIn(facts);
  const { totals, needs, day } = briefing;
  const sections = [
    '# What ralph did',
    `${minute(briefing.since)} to ${minute(briefing.until)} UTC, ${codeSpan(briefing.stateDir)}`,
    `${plural(totals.completed, 'task')} completed${foreignWords(totals.foreign)}, ${totals.failed} failed, ${totals.waiting} waiting, ${totals.running} running: ${usedWords(totals)}.`,
    ...(day === null ? [] : [`Of today's budget: ${dayText(day)}.`]),
    `## Needs a person\n\n${needs.length === 0 ? 'Nothing.' : needs.map((need) => needText(need, briefing)).join('\n\n')}`,
    ...GROUPS.flatMap(([group, title]) => section(briefing, group, title)),
    ...sandboxSections(sandboxLines(briefing, refusedLines), sandboxLines(briefing, plantedFiles)),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Says how many tasks claim to be completed, but lack a valid signature: another user or an older version wrote them. */
function foreignWords(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? ' (one more claims to be, but was not written by you here)'
    : ` (${count} more claim to be, but were not written by you here)`;
}

const GROUPS: readonly (readonly [BriefGroup, string])[] = [
  ['completed', 'Completed'],
  ['failed', 'Failed'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
];

function needText(need: Need, briefing: Briefing): string {
  switch (need.kind) {
    case 'task':
      return taskNeed(need.task, briefing);
    case 'request': {
      const { file, taskId, at } = need.request;
      const about = taskId === null ? '' : ` of ${inlineText(taskId)}`;
      return `- A request${about} has been waiting for your answer since ${minute(at)}: ${codeSpan(file)}`;
    }
    case 'note': {
      const { file, taskId, reason, at } = need.note;
      return `- A note about ${inlineText(taskId)} (${reason.toLowerCase()}, ${minute(at)}): ${codeSpan(file)}`;
    }
  }
}

function taskNeed(task: BriefTask, briefing: Briefing): string {
  const { shown, note } = task;
  const reason = stateReason(task);
  const remedy = remedyOf(task);
  const back = gitFacts(task, briefing, lookBackOf);
  const branch = gitFacts(task, briefing, ownBranchOf);
  const again = commandOf(task, briefing);
  const command = again === null ? note && readCommand(note.file) : fromItsFolder(again);
  const lines = [
    `- **${inlineText(shown.taskId)}** ${stateWords(shown.state)}${reason === '' ? '' : `: ${inlineText(reason)}`} (${used(task)})`,
    ...(task.task?.judge === undefined
      ? []
      : [`Judge: ${inlineText(judgeText(task.task.judge))}.`]),
    ...(remedy === null ? [] : [`What to do: ${inlineText(remedy)}.`]),
    ...(note === null ? [] : [`Note: ${codeSpan(note.file)}`]),
    ...(back === null ? [] : [`Look: ${elsewhere(back.diff)}`, `Undo: ${elsewhere(back.undo)}`]),
    ...(branch === null
      ? []
      : [`Branch: ${inlineText(ownBranchText(branch))}`, `Land: ${elsewhere(branch.land)}`]),
    ...(command === null ? [] : ['', fenced(command, 'sh')]),
  ];
  return lines.join('\n').replace(/\n(?=[^\n])/g, '\n  ');
}

function used({ iterations, workMs, costUsd }: BriefTask): string {
  return usedWords({ iterations: iterations.length, workMs, costUsd });
}

/** Formats a command that works from any folder, since a briefing may be read elsewhere. */
function elsewhere(command: string): string {
  return codeSpan(fromItsFolder(command));
}

/** Returns the lines that `of` makes about the sandboxes of all tasks, each line with its task's id. */
function sandboxLines({ tasks }: Briefing, of: typeof refusedLines): readonly string[] {
  return tasks.flatMap(({ shown, task }) =>
    (task === null ? [] : of(task, codeSpan)).map((line) => `${inlineText(shown.taskId)}: ${line}`),
  );
}

function section({ tasks }: Briefing, group: BriefGroup, title: string): readonly string[] {
  const rows = tasks.filter((task) => task.group === group);
  if (rows.length === 0) return [];
  const agents = ({ task }: BriefTask): string | null => (task === null ? null : agentsText(task));
  const hasAgents = rows.some((task) => agents(task) !== null);
  const lines = rows.map((task) =>
    [
      cell(task.shown.taskId),
      cell(stateWords(task.shown.state)),
      cell(minute(task.shown.finishedAt ?? task.task?.updated_at ?? '')),
      iterationsOf(task),
      formatDuration(task.workMs),
      toldCost(task.costUsd),
      ...(hasAgents ? [cell(agents(task) ?? '–')] : []),
      task.task === null ? '–' : sandboxWord(task.task),
      cell([stateReason(task) || (task.shown.last ?? ''), ...findingsOf(task)].join('; ')),
    ].join(' | '),
  );
  return [
    [
      `## ${title}\n`,
      `| task | state | last (UTC) | iterations | time | cost |${hasAgents ? ' agents |' : ''} sandbox | why |`,
      `| --- | --- | --- | --- | --- | --- | --- |${hasAgents ? ' --- |' : ''} --- |`,
      ...lines.map((line) => `| ${line} |`),
    ].join('\n'),
  ];
}

/** Returns the number of iterations in the period, and the number of all if that is larger: `2 of 5`. */
function iterationsOf({ iterations, task }: BriefTask): string {
  const all = task?.metrics.iterations ?? 0;
  return iterations.length === all ? String(all) : `${iterations.length} of ${all}`;
}
