import { safeJson } from '../../core/text/safe-json.ts';
import { activityText } from '../activity-text.ts';
import { isEnding, leftAtEnd, type MessageContext } from '../ending-lines.ts';
import { eventLine } from '../event-line.ts';
import type { LineSink, RunView } from './view.ts';

export interface PlainOptions extends MessageContext {
  /** Whether the view prints the agent's text and tool calls, too. */
  readonly verbose: boolean;
}

/** Returns the view for pipes, cron and CI: one plain line for each event. */
export function plainView(sink: LineSink, options: PlainOptions): RunView {
  const line = (text: string): void => {
    sink.write(`${text.replace(/^/gm, 'ralph: ')}\n`);
  };
  return {
    showsActivity: options.verbose,
    showsText: options.verbose,
    event(event) {
      if (event.event === 'agent_activity') {
        const isTool = event.activity.kind === 'tool';
        if (options.verbose && isTool) line(`  ${activityText(event.activity)}`);
        return;
      }
      const text = eventLine(event, options);
      if (text !== null) line(text);
    },
    notice: line,
    agentText(text) {
      if (options.verbose) sink.write(text.endsWith('\n') ? text : `${text}\n`);
    },
    close() {},
  };
}

/** The most lines that are kept for the end of a quiet run, which may last for days. */
const KEPT_LINES = 50;

/** Returns the view for `--quiet`: warnings and closing lines after a bad end; else only what was not committed. */
export function quietView(sink: LineSink, telling: MessageContext): RunView {
  const kept: string[] = [];
  const inner = plainView(
    { write: (text) => void kept.push(text) },
    { ...telling, verbose: false },
  );
  return {
    showsActivity: false,
    showsText: false,
    event(event) {
      if (!isEnding(event)) return;
      inner.event(event);
      if (event.exit_code !== 0) return sink.write(kept.join(''));
      for (const { label, text } of leftAtEnd(event)) {
        sink.write(`ralph: ${event.task_id}: ${label}: ${text}\n`);
      }
    },
    notice(sentence) {
      if (kept.length < KEPT_LINES) inner.notice(sentence);
    },
    agentText() {},
    close() {},
  };
}

/** Returns the view for `--json`: it prints each event as one line of JSON, and nothing else. */
export function jsonView(sink: LineSink): RunView {
  return {
    showsActivity: true,
    showsText: false,
    event: (event) => sink.write(`${safeJson(event)}\n`),
    notice() {},
    agentText() {},
    close() {},
  };
}
