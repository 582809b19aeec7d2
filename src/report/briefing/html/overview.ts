import type { Briefing, BriefTask, Need } from '../../../core/task/briefing.ts';
import { fromItsFolder } from '../../../printed-command.ts';
import { formatCost, formatDuration, plural, toldCost } from '../../format.ts';
import {
  commandOf,
  minute,
  remedyOf,
  stateReason,
  stateWords,
  usedWords,
} from '../briefing-words.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { taskTone } from './tone.ts';

/** Returns the top of the page: whether anything needs a person, and the totals. */
export function overview(briefing: Briefing): Markup {
  const { needs, totals, since, until, day } = briefing;
  const title =
    needs.length === 0
      ? 'Nothing needs you'
      : `${plural(needs.length, 'thing')} ${needs.length === 1 ? 'needs' : 'need'} you`;
  return html`<header><p class="dim small num">ralph · ${minute(since)} – ${minute(until)} UTC</p>
<h1>${title}</h1></header>
<dl class="tiles">
${tile('Completed', String(totals.completed), totals.completed > 0 ? 'done' : 'quiet')}
${tile('Failed', String(totals.failed), totals.failed > 0 ? 'bad' : 'quiet')}
${tile('Waiting', String(totals.waiting), totals.waiting > 0 ? 'cut' : 'quiet')}
${totals.running > 0 ? tile('Running', String(totals.running), '') : NOTHING}
${tile('Iterations', String(totals.iterations), '')}
${tile('Cost', toldCost(totals.costUsd), '')}
${day === null ? NOTHING : tile('Left today', `${formatCost(day.leftUsd)} of ${formatCost(day.maxUsd)}`, day.leftUsd > 0 ? '' : 'cut')}
${tile('Agent time', formatDuration(totals.workMs), '')}
</dl>`;
}

function tile(name: string, value: string, tone: string): Markup {
  return html`<div class="tile ${tone}"><dt>${name}</dt><dd class="num">${value}</dd></div>`;
}

/** Returns the list of things that need a person, with what to do about them. */
export function needsSection(briefing: Briefing, link: (task: BriefTask) => string): Markup {
  const { needs } = briefing;
  if (needs.length === 0) return NOTHING;
  return html`<h2>What needs you</h2><ul class="needs">${needs.map((need) => needItem(need, briefing, link))}</ul>`;
}

function needItem(need: Need, briefing: Briefing, link: (task: BriefTask) => string): Markup {
  switch (need.kind) {
    case 'task':
      return taskNeed(need.task, briefing, link(need.task));
    case 'request':
      return html`<li class="card cut"><div class="head"><span class="id">${need.request.taskId ?? 'A request'}</span><span class="badge cut">waits for your answer</span><span class="dim small num">since ${minute(need.request.at)}</span></div><pre>${need.request.file}</pre></li>`;
    case 'note':
      return html`<li class="card cut"><div class="head"><span class="id">${need.note.taskId}</span><span class="badge cut">left a note: ${need.note.reason.toLowerCase()}</span><span class="dim small num">${minute(need.note.at)}</span></div><pre>${need.note.file}</pre></li>`;
  }
}

function taskNeed(task: BriefTask, briefing: Briefing, target: string): Markup {
  const { shown, note, iterations, workMs, costUsd } = task;
  const tone = taskTone(task);
  const reason = stateReason(task);
  const remedy = remedyOf(task);
  const command = commandOf(task, briefing);
  return html`<li class="card ${tone}"><div class="head">${shown.asked ? html`<strong>${shown.asked}</strong>` : ''}<a class="id" href="#${target}">${shown.taskId}</a><span class="badge ${tone}">${stateWords(shown.state)}</span><span class="dim small num">${usedWords({ iterations: iterations.length, workMs, costUsd })}</span></div>
${reason === '' ? '' : html`<p>${reason}</p>`}${remedy === null ? '' : html`<p class="dim small">What to do: ${remedy}.</p>`}${note === null ? '' : html`<p class="dim small">Note: <code>${note.file}</code></p>`}${command === null ? '' : html`<pre>${fromItsFolder(command)}</pre>`}</li>`;
}
