import { hasWords } from './words.ts';

/** The checkboxes of a plan. */
export interface PlanCount {
  readonly open: number;
  readonly done: number;
}

/** What may stand before a box: quote signs and list markers, nested ones too. Groups: markers, rest. */
const LINE = /^\s*((?:>\s*|(?:[-*+]|\d{1,9}[.)])\s+)*)([\s\S]*)$/;
/** `[ ]`, `[/]` and any other sign are open; letters and digits but x are no box: `[1]`, `[a]`. */
const BOX = /^\[(?:([xX])|\s+|([^\s\]]))\](?:\s|$)/u;
const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/;

/**
 * Counts every checkbox of a Markdown text, nested ones too. A box is the first thing of a list
 * item; what stands in code fences and comments is no box.
 */
export function readPlan(text: string): PlanCount {
  let open = 0;
  let done = 0;
  let fence: string | null = null;
  let inComment = false;
  for (const line of text.split(/\r\n?|\n/)) {
    const [, markers = '', rest = ''] = LINE.exec(line) ?? [];
    if (fence !== null) {
      if (closes(line, fence)) fence = null;
      continue;
    }
    if (inComment || rest.startsWith('<!--')) {
      inComment = !line.includes('-->');
      continue;
    }
    const [, backticks, tildes] = FENCE.exec(rest) ?? [];
    fence = backticks ?? tildes ?? null;
    const box = /[-*+.)]\s/.test(markers) ? BOX.exec(rest) : null;
    if (box === null || hasWords(box[2] ?? '')) continue;
    if (box[1] === undefined) open += 1;
    else done += 1;
  }
  return { open, done };
}

/** The same sign, at least as often, and nothing behind it. */
function closes(line: string, fence: string): boolean {
  const sign = line.replace(/^[\s>]+/, '').trimEnd();
  return sign.startsWith(fence) && sign === fence.charAt(0).repeat(sign.length);
}

/** Whether the plan is carried out: at least one box, and none of them open. */
export function isPlanDone({ open, done }: PlanCount): boolean {
  return done > 0 && open === 0;
}
