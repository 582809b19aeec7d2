import { DEFAULT_AGENT } from '../../../core/agent/agents/agents.ts';
import type { RalphEvent } from '../../../core/machine/events.ts';
import type { Briefing, BriefTask } from '../../../core/task/briefing.ts';
import type { BriefIteration, Happening } from '../../../core/task/briefing-sources.ts';
import { fromItsFolder } from '../../../printed-command.ts';
import { costText } from '../../agent-words.ts';
import { endingLine, isEnding } from '../../ending-lines.ts';
import { eventLine } from '../../event-line.ts';
import { formatDuration } from '../../format.ts';
import { type Field, taskFields } from '../../screens/task-detail.ts';
import {
  commandOf,
  minute,
  remedyOf,
  stateReason,
  stateWords,
  usedWords,
} from '../briefing-words.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { iterationTone, outcomeWords, taskTone } from './tone.ts';

const HAPPENINGS_SHOWN = 300;
const MESSAGE_CHARS = 6_000;

/** Returns the section of a task: a summary that opens to show all the details. */
export function taskSection(task: BriefTask, briefing: Briefing, target: string): Markup {
  const { shown, iterations, workMs, costUsd } = task;
  const reason = stateReason(task) || (shown.last ?? '');
  return html`<details class="card task"><summary><span class="what">${shown.asked ? html`<strong>${shown.asked}</strong>` : ''}<span class="id">${shown.taskId}</span><span class="badge ${taskTone(task)}">${stateWords(shown.state)}</span></span><span class="used dim small num">${usedWords({ iterations: iterations.length, workMs, costUsd })}</span>${reason === '' ? '' : html`<span class="why">${reason}</span>`}</summary>
<div class="body" id="${target}">${asked(task)}${facts(task, briefing)}${story(task)}${iterationTable(task)}${lastWords(task)}</div></details>`;
}

function asked({ task }: BriefTask): Markup {
  if (task === null || task.task_prompt === '') return NOTHING;
  return html`<h3>What was asked</h3><pre>${task.task_prompt}</pre>`;
}

function facts(each: BriefTask, briefing: Briefing): Markup {
  const { shown, task, note } = each;
  const { vault, stateDir, keyFlag, fleetWords, until } = briefing;
  const place = { taskId: shown.taskId, vault, stateDir, keyFlag };
  const known = { shown, place, at: until, maxCostUsd: null, day: null };
  const isElsewhere = fleetWords === undefined ? {} : { isElsewhere: true as const };
  const fields: readonly Field[] = [
    ...(task === null
      ? [['state file', shown.stateFile] as const]
      : taskFields({
          ...{ ...known, ...isElsewhere, task, isTreeGone: false },
          completion: each.completion(),
        })),
    ['what to do', remedyOf(each)],
    ['next', commandOf(each, briefing)],
    ['note', note?.file ?? null],
  ];
  const left = fields.filter(
    // A state that this user did not write proves nothing.
    ([name]) => !SAID_ABOVE.has(name) && (shown.isOwn || !OF_PROOF.has(name)),
  );
  return html`<dl class="facts num">${left.map(([name, text]) => (text ? html`<dt>${name}</dt><dd>${factOf(name, text)}</dd>` : ''))}</dl>`;
}

const SAID_ABOVE = new Set(['task', 'state', 'asked']);
const OF_PROOF = new Set(['evidence', 'proof', 'finding']);
const COMMANDS = new Set(['look', 'undo', 'land', 'next']);
const PATHS = new Set(['state file', 'logs', 'note', 'work tree']);

function factOf(name: string, text: string): Markup | string {
  if (PATHS.has(name)) return html`<code>${text}</code>`;
  // The page may be read elsewhere, so its commands work from any folder.
  return COMMANDS.has(name) ? html`<code>${fromItsFolder(text)}</code>` : text;
}

function story({ shown: { asked }, happenings }: BriefTask): Markup {
  const lines = happenings.flatMap((each) => lineOf(each, asked) ?? []);
  if (lines.length === 0) return NOTHING;
  const shown = lines.slice(-HAPPENINGS_SHOWN);
  const left = lines.length - shown.length;
  return html`<h3>What happened</h3><ol class="story" tabindex="0">${left > 0 ? html`<li class="dim"><span></span>${left} earlier events not shown</li>` : ''}${shown.map(
    ({ at, text }) =>
      html`<li><time class="num" datetime="${at}">${minute(at)}</time><span>${text}</span></li>`,
  )}</ol>`;
}

/** Returns the line that the run printed about an event; null if it printed none. */
function lineOf(
  happening: Happening,
  asked: string | null,
): { readonly at: string; readonly text: string } | null {
  const { at, event: name } = happening;
  try {
    const text = textOf(happening as unknown as RalphEvent, asked ?? '');
    return text === null ? null : { at, text };
  } catch {
    // The file of events is damaged, or a newer ralph wrote it.
    return { at, text: name.replaceAll('_', ' ') };
  }
}

function textOf(event: RalphEvent, asked: string): string | null {
  if (event.event === 'task_started') return 'started';
  if (isEnding(event)) return endingLine(event, { asked });
  return eventLine(event, { agent: DEFAULT_AGENT, task: null });
}

function iterationTable({ iterations }: BriefTask): Markup {
  if (iterations.length === 0) return NOTHING;
  const hasAgents = iterations.some(({ agent }) => agent !== undefined);
  return html`<h3>Iterations</h3><div class="scroll" tabindex="0"><table><thead><tr><th class="right">#</th>${hasAgents ? html`<th>Agent</th>` : ''}<th>Outcome</th><th class="right">Time</th><th class="right">Cost</th><th>When</th><th class="right">Files</th><th class="right">Tokens out</th><th>First words</th></tr></thead><tbody>${iterations.map((each) => row(each, hasAgents))}</tbody></table></div>`;
}

function row(iteration: BriefIteration, hasAgents: boolean): Markup {
  const { number, started_at, duration_ms, files_changed, output_tokens } = iteration;
  const words = [
    iteration.outcome === 'answered' ? '' : iteration.detail,
    iteration.refused.length === 0 ? '' : `refused: ${iteration.refused.join('; ')}`,
    iteration.output_preview,
  ].filter((part) => part !== '');
  return html`<tr><td class="right num">${number}</td>${hasAgents ? html`<td>${iteration.agent ?? '–'}</td>` : ''}<td><span class="badge ${iterationTone(iteration)}">${outcomeWords(iteration)}</span></td><td class="right num">${formatDuration(duration_ms)}</td><td class="right num">${costText(iteration)}</td><td class="num when">${minute(started_at)}</td><td class="right num files">${files_changed ?? '–'}</td><td class="right num tokens">${output_tokens}</td><td class="words">${words.join(' — ')}</td></tr>`;
}

function lastWords({ finalMessage }: BriefTask): Markup {
  if (finalMessage === null || finalMessage.trim() === '') return NOTHING;
  const isCut = finalMessage.length > MESSAGE_CHARS;
  const kept = isCut ? `…${finalMessage.slice(-MESSAGE_CHARS)}` : finalMessage;
  return html`<h3>The last message</h3><pre>${kept}</pre>`;
}
