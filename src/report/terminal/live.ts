import type { ChalkInstance } from 'chalk';
import type { RalphActivity } from '../../core/machine/action.ts';
import type { RalphEvent } from '../../core/machine/events.ts';
import { activityText, ralphActivityText } from '../activity-text.ts';
import { fitted, padded, wrapped, wrappedProse } from '../columns.ts';
import {
  type EndingEvent,
  endingFacts,
  endingLine,
  isEnding,
  type MessageContext,
} from '../ending-lines.ts';
import { eventLine, iterationBrief } from '../event-line.ts';
import { type LiveFacts, pictureOf, type Signs, signsFor } from './live-picture.ts';
import { LiveScreen, type Terminal } from './live-screen.ts';
import type { RunView } from './view.ts';

export interface LiveOptions extends MessageContext {
  readonly stream: Terminal;
  readonly colors: ChalkInstance;
  /** The value of `TERM`. */
  readonly term: string | undefined;
  readonly verbose: boolean;
  /** Returns milliseconds since 1970. It is a wall clock, because waits go on while the machine sleeps. */
  readonly nowMs: () => number;
}

const REDRAW_MS = 125;
/** The shortest pause between iterations that is shown, in milliseconds. */
const SHORTEST_SHOWN_DELAY_MS = 2_000;

/** Returns the view for a terminal: permanent lines, and below them what is happening at the moment. */
export function liveView(options: LiveOptions): RunView {
  const { colors, stream, nowMs } = options;
  const signs = signsFor(options.term);
  const screen = new LiveScreen(stream);
  const startedAtMs = nowMs();
  let facts: Omit<LiveFacts, 'elapsedMs' | 'leftMs' | 'now'> = {
    iteration: 1,
    maxIterations: 1,
    attempt: 1,
    agent: null,
    subAgents: 0,
    costUsd: 0,
    tick: 0,
  };
  /** When the time limit of the whole task ends (ms since 1970), or the time left while its clock is stopped. */
  let time: { readonly endsAtMs: number } | { readonly leftMs: number } | null = null;
  let now = '';
  let doing: RalphActivity | null = null;
  let isDrawing = false;

  const leftMs = (): number | null => {
    if (time === null) return null;
    return 'leftMs' in time ? time.leftMs : time.endsAtMs - nowMs();
  };
  const draw = (): void => {
    if (!isDrawing) return;
    const activity = doing === null ? now : ralphActivityText(doing, nowMs());
    const elapsedMs = nowMs() - startedAtMs;
    const size = { columns: widthOf(stream), rows: stream.rows ?? 24 };
    const shown = { ...facts, elapsedMs, leftMs: leftMs(), now: activity };
    screen.draw(pictureOf(shown, size, signs, colors));
    facts = { ...facts, tick: facts.tick + 1 };
  };
  const ticking = setInterval(draw, REDRAW_MS);
  ticking.unref();

  const begin = (): void => {
    isDrawing = true;
    draw();
  };
  const sentence = (mark: string, text: string, paint: (line: string) => string): void => {
    const lines = wrappedProse(text, widthOf(stream) - 3).map((line) => paint(line));
    const [first = '', ...others] = lines;
    screen.print([`${mark} ${first}`, ...others.map((line) => `  ${line}`)].join('\n'));
  };
  const lineOf = (event: RalphEvent): string => eventLine(event, options) ?? '';

  return {
    showsActivity: true,
    showsText: options.verbose,
    event(event) {
      if (isEnding(event)) {
        isDrawing = false;
        screen.clear();
        screen.print(summary(event, options, signs));
        return;
      }
      switch (event.event) {
        case 'iteration_started':
          facts = {
            ...facts,
            iteration: event.iteration,
            maxIterations: event.max_iterations,
            attempt: event.attempt,
            agent: event.agent ?? null,
            subAgents: 0,
            costUsd: event.usage.cost_usd,
          };
          time = { endsAtMs: Date.parse(event.timeout_at) };
          now = 'starting';
          doing = null;
          begin();
          return;
        case 'agent_activity':
          if (event.activity.kind === 'sub-agents') {
            facts = { ...facts, subAgents: event.activity.working };
            return;
          }
          now = activityText(event.activity);
          doing = null;
          if (options.verbose && event.activity.kind === 'tool') {
            screen.print(colors.dim(`  ${now}`));
          }
          return;
        case 'agent_retry':
          now = lineOf(event);
          if (event.by === 'ralph') sentence(' ', event.error, colors.yellow);
          return;
        case 'asked_back':
          facts = { ...facts, attempt: event.attempt };
          now = 'asking whether it is done';
          doing = null;
          return sentence(' ', lineOf(event), colors.yellow);
        case 'task_iterated': {
          facts = { ...facts, costUsd: facts.costUsd + event.cost_usd };
          now = '';
          const isGood = event.outcome === 'answered';
          const mark = isGood ? colors.dim(signs.dot) : colors.red(signs.failed);
          const brief = iterationBrief(event, facts.maxIterations);
          screen.print(`${mark} ${fitted(brief, widthOf(stream) - 3)}`);
          return;
        }
        case 'task_started':
          facts = { ...facts, maxIterations: event.max_iterations };
          return;
        case 'task_resumed':
          facts = { ...facts, iteration: event.iteration, maxIterations: event.max_iterations };
          return sentence(colors.dim(signs.dot), lineOf(event), (line) => line);
        default: {
          const line = eventLine(event, options);
          if (line !== null) sentence(' ', line, isGoodNews(event) ? colors.dim : colors.yellow);
        }
      }
    },
    doing(what) {
      if (what.kind === 'stop' && !isDrawing) return;
      doing = isShown(what, nowMs()) ? what : null;
      if (doing === null) now = '';
      const isClockStopped =
        what.kind === 'approval' || (what.kind === 'wait' && what.wait.kind !== 'delay');
      if (isClockStopped) time = asLeft(leftMs());
      begin();
    },
    notice(text) {
      sentence(' ', text, (line) => line);
    },
    agentText(text) {
      if (options.verbose) screen.print(text.trimEnd());
    },
    close() {
      isDrawing = false;
      clearInterval(ticking);
      screen.clear();
    },
  };
}

function isGoodNews(event: RalphEvent): boolean {
  switch (event.event) {
    case 'iteration_committed':
    case 'iteration_reverted':
      return true;
    case 'check_ended':
      return !event.verdict.startsWith('failed');
    case 'judged':
      return event.verdict !== 'none';
    default:
      return false;
  }
}

function asLeft(leftMs: number | null): { readonly leftMs: number } | null {
  return leftMs === null ? null : { leftMs };
}

function isShown(what: RalphActivity, nowMs: number): boolean {
  if (what.kind !== 'wait' || what.wait.kind !== 'delay') return true;
  return Date.parse(what.wait.until) - nowMs > SHORTEST_SHOWN_DELAY_MS;
}

/** The labels whose texts are not wrapped: paths and commands, which people copy. */
const UNCUT = new Set(['index', 'look', 'undo', 'land', 'allow', 'refuse', 'next', 'note', 'logs']);
const WIDEST_PROSE = 100;

function summary(event: EndingEvent, options: LiveOptions, signs: Signs): string {
  const { colors, stream } = options;
  const isGood = event.status === 'completed';
  const mark = isGood ? colors.green(signs.done) : colors.red(signs.failed);
  const columns = Math.min(widthOf(stream), WIDEST_PROSE);
  const [first = '', ...others] = wrapped(endingLine(event, options), columns - 3);
  const lines = [
    `${mark} ${colors.bold(first)}`,
    ...others.map((line) => `  ${colors.bold(line)}`),
  ];
  const facts = endingFacts(event, options);
  const labelColumns = Math.max(...facts.map(({ label }) => label.length));
  for (const { label, text } of facts) {
    const parts = UNCUT.has(label) ? [text] : wrapped(text, columns - labelColumns - 5);
    parts.forEach((part, index) => {
      const name = padded(index === 0 ? label : '', labelColumns);
      lines.push(`  ${colors.dim(name)}  ${label === 'next' ? colors.bold(part) : part}`);
    });
  }
  return lines.join('\n');
}

function widthOf({ columns }: Terminal): number {
  return columns ?? 80;
}
