import type { Briefing, BriefTask } from '../../../core/task/briefing.ts';
import type { BriefIteration } from '../../../core/task/briefing-sources.ts';
import { formatCost, formatDuration } from '../../format.ts';
import { minute, stateWords, usedWords } from '../briefing-words.ts';
import { type Bar, barChart, short } from './bars.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import {
  marksOf,
  momentText,
  type Period,
  positionIn,
  stepOf,
  workedPeriod,
} from './time-scale.ts';
import { iterationTone, outcomeWords, taskTone } from './tone.ts';

/** Only this many tasks get a lane: nobody would read more. */
const LANES = 30;
const BUCKETS = 40;
const WIDTH = 1_000;
/** The least width of a bar: the shortest stay visible and large enough to point at. */
const NARROWEST = 2.5;

/** Shows when the agents worked, in a lane for each task with a bar for each iteration, and the cost. */
export function timeline({ tasks, since }: Briefing, link: (task: BriefTask) => string): Markup {
  const stretch = workedPeriod(tasks, since);
  if (stretch === null) return NOTHING;
  const worked = tasks.filter(({ iterations }) => iterations.length > 0);
  const left = worked.length - LANES;
  return html`<h2>When it worked</h2>
<section class="card">${LEGEND}
${worked.slice(0, LANES).map((task) => lane(task, stretch, link(task)))}
${left > 0 ? html`<p class="dim small">and ${left} more below</p>` : ''}
<div class="axis marks num">${marksOf(stretch).map(({ ms, text }) => mark(positionIn(stretch, ms), text))}</div>
</section>
<div class="pair" style="margin-top:.75rem">${charts(worked, stretch)}</div>`;
}

/** Returns a label of the axis. A label near an edge is aligned to the edge. */
function mark(place: number, text: string): Markup {
  const edge = place < 0.06 ? 'first' : place > 0.94 ? 'last' : '';
  return html`<span class="${edge}" style="left:${short(100 * place)}%">${text}</span>`;
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

/** Returns the tooltip of an iteration's bar. */
export function iterationTitle(iteration: BriefIteration): string {
  const { number, started_at, duration_ms, cost_usd } = iteration;
  const cost = cost_usd > 0 ? `, ${formatCost(cost_usd)}` : '';
  return `iteration ${number}: ${outcomeWords(iteration)}, ${formatDuration(duration_ms)}${cost} (${minute(started_at)})`;
}

interface Bucket {
  readonly ms: number;
  cost: number;
  work: number;
  count: number;
}

function charts(tasks: readonly BriefTask[], stretch: Period): readonly Markup[] {
  const step = stepOf(stretch, BUCKETS);
  const first = Math.floor(stretch.from / step) * step;
  const count = Math.floor((stretch.to - first) / step) + 1;
  const buckets = Array.from(
    { length: count },
    (_, index): Bucket => ({ ms: first + index * step, cost: 0, work: 0, count: 0 }),
  );
  for (const { iterations } of tasks) {
    for (const { started_at, duration_ms, cost_usd } of iterations) {
      const index = Math.floor((Date.parse(started_at) - first) / step);
      const bucket = buckets[Math.min(count - 1, Math.max(0, index))];
      if (bucket === undefined) continue;
      bucket.cost += cost_usd;
      bucket.work += duration_ms;
      bucket.count += 1;
    }
  }
  const range = {
    from: momentText(first, stretch, step),
    to: momentText(stretch.to, stretch, step),
  };
  const chart = (
    title: string,
    amountOf: (bucket: Bucket) => number,
    text: (value: number) => string,
  ): Markup => {
    const bars = buckets.map((bucket): Bar => {
      const value = amountOf(bucket);
      const when = momentText(bucket.ms, stretch, step);
      return { value, tone: 'work', title: `${when}: ${text(value)}, iterations: ${bucket.count}` };
    });
    const values = bars.map(({ value }) => value);
    return html`<section class="card">${barChart({
      title,
      total: text(values.reduce((sum, value) => sum + value, 0)),
      bars,
      text,
      ...range,
    })}</section>`;
  };
  const each = `every ${formatDuration(step)}`;
  return [
    chart(`Cost ${each}`, ({ cost }) => cost, formatCost),
    chart(`Agent time ${each}`, ({ work }) => work, formatDuration),
  ];
}
