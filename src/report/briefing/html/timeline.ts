import type { Briefing, BriefTask } from '../../../core/task/briefing.ts';
import type { BriefIteration } from '../../../core/task/briefing-sources.ts';
import { formatCost, formatDuration } from '../../format.ts';
import { minute, stateWords, usedWords } from '../briefing-words.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { type Period, positionIn, workedPeriod } from './time-scale.ts';
import { iterationTone, outcomeWords, taskTone } from './tone.ts';

/** At most this many tasks get a lane: nobody would read more. */
const LANES = 30;
const WIDTH = 1_000;
/** The least width of a bar, so that the shortest bars stay visible and large enough to point at. */
const NARROWEST = 2.5;

/** Shows when the agents worked, in a lane for each task with a bar for each iteration. */
export function timeline({ tasks, since }: Briefing, link: (task: BriefTask) => string): Markup {
  const stretch = workedPeriod(tasks, since);
  if (stretch === null) return NOTHING;
  const worked = tasks.filter(({ iterations }) => iterations.length > 0);
  const left = worked.length - LANES;
  return html`<h2>When it worked</h2>
<section class="card">${LEGEND}
${worked.slice(0, LANES).map((task) => lane(task, stretch, link(task)))}
${left > 0 ? html`<p class="dim small">and ${left} more below</p>` : ''}
<div class="axis num">${MARKS.map((part) => mark(part, stretch))}</div>
</section>`;
}

/** Where the axis has labels: 0 is the beginning of the period, 1 its end. */
const MARKS = [0, 0.25, 0.5, 0.75, 1] as const;

function mark(part: (typeof MARKS)[number], { from, to }: Period): Markup {
  const instant = new Date(from + part * (to - from)).toISOString();
  return html`<span style="left:${100 * part}%">${minute(instant)}</span>`;
}

const LEGEND = html`<ul class="legend"><li class="work"><i></i>answered</li><li class="done"><i></i>completed the task</li><li class="cut"><i></i>cut short</li><li class="bad"><i></i>failed</li></ul>`;

function lane(task: BriefTask, stretch: Period, target: string): Markup {
  const { shown, iterations, workMs, costUsd } = task;
  return html`<div class="lane"><div class="head"><span><a href="#${target}">${shown.taskId}</a> <span class="badge ${taskTone(task)}">${stateWords(shown.state)}</span></span><span class="dim num">${usedWords({ iterations: iterations.length, workMs, costUsd })}</span></div>
<svg viewBox="0 0 ${WIDTH} 16" preserveAspectRatio="none" role="img" aria-label="Iterations of ${shown.taskId}">${iterations.map((each) => block(each, stretch))}</svg></div>`;
}

function block(iteration: BriefIteration, stretch: Period): Markup {
  const start = Date.parse(iteration.started_at);
  const from = positionIn(stretch, start) * WIDTH;
  const to = positionIn(stretch, start + iteration.duration_ms) * WIDTH;
  const width = Math.max(NARROWEST, to - from - 0.8);
  const x = Math.min(from, WIDTH - width);
  return html`<rect class="${iterationTone(iteration)}" x="${short(x)}" y="0" width="${short(width)}" height="16"><title>${iterationTitle(iteration)}</title></rect>`;
}

function iterationTitle(iteration: BriefIteration): string {
  const { number, started_at, duration_ms, cost_usd } = iteration;
  const cost = cost_usd > 0 ? `, ${formatCost(cost_usd)}` : '';
  return `iteration ${number}: ${outcomeWords(iteration)}, ${formatDuration(duration_ms)}${cost} (${minute(started_at)})`;
}

/** Rounds to the precision that is visible on the page. */
function short(number: number): number {
  return Math.round(number * 100) / 100;
}
