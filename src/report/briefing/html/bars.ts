import { html, type Markup } from './markup.ts';
import type { Tone } from './tone.ts';

/** One bar: its height, its colour and its tooltip. */
export interface Bar {
  readonly value: number;
  readonly tone: Tone;
  readonly title: string;
}

/** A bar chart with its labels. */
export interface BarChart {
  readonly title: string;
  /** The figure beside the title: the sum or the average of the bars. */
  readonly total: string;
  readonly bars: readonly Bar[];
  /** Formats a value. */
  readonly text: (value: number) => string;
  readonly from: string;
  readonly to: string;
}

const HEIGHT = 100;
/** Room for the label above the highest bar. */
const HEADROOM = 18;
/** The part of its slot that a bar fills; the rest is the gap. A few bars look better with wide gaps. */
const FILLED = { few: 0.4, many: 0.78 };
const FEW = 10;

/** Returns a bar chart as wide as its container: the bars stretch, the text does not. */
export function barChart({ title, total, bars, text, from, to }: BarChart): Markup {
  const most = bars.reduce((highest, { value }) => Math.max(highest, value), 0);
  const filled = bars.length < FEW ? FILLED.few : FILLED.many;
  return html`<div class="chart"><div class="head"><b>${title}</b><span class="num">${total}</span></div>
<div class="plot"><svg viewBox="0 0 ${bars.length} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}: ${total}">${bars.map((bar, index) => rect(bar, index, most, filled))}</svg>${most > 0 ? html`<span class="top num">${text(most)}</span>` : ''}</div>
<div class="axis num"><span class="first" style="left:0">${from}</span><span class="last" style="left:100%">${to}</span></div></div>`;
}

function rect({ value, tone, title }: Bar, index: number, most: number, filled: number): Markup {
  if (value <= 0 || most <= 0) return html``;
  const height = short(Math.max(1.5, (value / most) * (HEIGHT - HEADROOM)));
  const x = short(index + (1 - filled) / 2);
  return html`<rect class="${tone}" x="${x}" y="${short(HEIGHT - height)}" width="${filled}" height="${height}"><title>${title}</title></rect>`;
}

/** Rounds to the precision that is visible on the page. */
export function short(number: number): number {
  return Math.round(number * 100) / 100;
}
