import { html, type Markup } from './markup.ts';
import type { Tone } from './tone.ts';

/** One bar: how high, in which colour, and what it says when it is pointed at. */
export interface Bar {
  readonly value: number;
  readonly tone: Tone;
  readonly title: string;
}

/** What a bar chart says around its bars. */
export interface BarChart {
  readonly title: string;
  /** The sum, or whatever says most in one figure. */
  readonly total: string;
  readonly bars: readonly Bar[];
  /** Writes a value. */
  readonly text: (value: number) => string;
  readonly from: string;
  readonly to: string;
}

const HEIGHT = 100;
/** Free above the highest bar, for what it stands for. */
const HEADROOM = 18;
/** Of a bar's place; the rest is the gap to the next. A few bars need not fill the whole width. */
const FILLED = { few: 0.4, many: 0.78 };
const FEW = 10;

/** A bar chart as wide as there is room: only its bars stretch, its texts stay as they are. */
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

/** A number with no more digits than can be seen. */
export function short(number: number): number {
  return Math.round(number * 100) / 100;
}
