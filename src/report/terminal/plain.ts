import { safeJson } from '../../core/text/safe-json.ts';
import { activityText, eventLine, isEnding, type Telling } from '../messages.ts';
import type { LineSink, View } from './view.ts';

export interface PlainOptions extends Telling {
  /** Whether to print the agent's text and tool calls, too. */
  readonly verbose: boolean;
}

/** One plain line for each event, for pipes, cron and CI. */
export function plainView(sink: LineSink, options: PlainOptions): View {
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

/** Bounds the memory of a run that lasts for days. */
const KEPT_LINES = 50;

/** Prints nothing if the task completes; otherwise the warnings and the closing lines, at the end. */
export function quietView(sink: LineSink, telling: Telling): View {
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
      if (event.exit_code !== 0) sink.write(kept.join(''));
    },
    notice(sentence) {
      if (kept.length < KEPT_LINES) inner.notice(sentence);
    },
    agentText() {},
    close() {},
  };
}

/** Prints each event as one line of JSON, and nothing else. */
export function jsonView(sink: LineSink): View {
  return {
    showsActivity: true,
    showsText: false,
    event: (event) => sink.write(`${safeJson(event)}\n`),
    notice() {},
    agentText() {},
    close() {},
  };
}
