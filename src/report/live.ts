import type { ChalkInstance } from 'chalk';
import ora from 'ora';
import type { RalphEvent } from '../core/events.ts';
import { formatCost, formatDuration } from './format.ts';
import { type AgentName, activityText, eventLine } from './messages.ts';
import type { View } from './view.ts';

export interface LiveOptions {
  readonly stream: NodeJS.WriteStream;
  readonly colors: ChalkInstance;
  readonly verbose: boolean;
  /** Which agent the advice is about. */
  readonly agent: AgentName;
  /** Milliseconds since any fixed moment, time asleep included: what is waited for does not sleep. */
  readonly nowMs: () => number;
}

/** For a terminal: durable lines above, and below them a spinner that says what goes on now. */
export function liveView(options: LiveOptions): View {
  const { colors, stream, nowMs } = options;
  const startedAtMs = nowMs();
  // Standard input is left alone: the prompt may come from it, and Ctrl-C must reach ralph.
  const spinner = ora({ stream, discardStdin: false, color: colors.level > 0 && 'yellow' });
  let iteration = '';
  let costUsd = 0;
  let now = 'starting';
  let waitEndsAtMs: number | null = null;

  const refresh = (): void => {
    const doing =
      waitEndsAtMs === null
        ? now
        : `waiting for the usage limit, ${formatDuration(waitEndsAtMs - nowMs())} left`;
    const parts = [
      iteration,
      formatDuration(nowMs() - startedAtMs),
      costUsd > 0 ? formatCost(costUsd) : '',
      doing,
    ];
    spinner.text = fitted(
      parts.filter((part) => part !== '').join(' · '),
      (stream.columns ?? 80) - 3,
    );
  };
  const ticking = setInterval(refresh, 1_000);
  ticking.unref();

  const line = (text: string): void => {
    const spinning = spinner.isSpinning;
    if (spinning) spinner.clear();
    stream.write(`${text}\n`);
    if (spinning) spinner.render();
  };

  return {
    event(event) {
      switch (event.event) {
        case 'iteration_started':
          iteration = `iteration ${event.iteration}/${event.max_iterations}`;
          now = 'starting';
          waitEndsAtMs = null;
          refresh();
          spinner.start();
          return;
        case 'agent_activity':
          now = activityText(event.activity);
          refresh();
          if (options.verbose && event.activity.kind === 'tool') line(colors.dim(`  ${now}`));
          return;
        case 'agent_retry':
          now = eventLine(event, options.agent) ?? now;
          refresh();
          return;
        case 'usage_limit_wait':
          waitEndsAtMs = nowMs() + Date.parse(event.until) - Date.parse(event.at);
          line(paint(event, eventLine(event, options.agent) ?? '', colors));
          refresh();
          return;
        default: {
          if (event.event === 'task_iterated') costUsd += event.cost_usd;
          if ('exit_code' in event && 'status' in event) spinner.stop();
          const text = eventLine(event, options.agent);
          if (text !== null) line(paint(event, text, colors));
        }
      }
    },
    notice: (sentence) => line(colors.yellow(sentence)),
    agentText(text) {
      if (options.verbose) line(text.trimEnd());
    },
    close() {
      clearInterval(ticking);
      spinner.stop();
    },
  };
}

function paint(event: RalphEvent, text: string, colors: ChalkInstance): string {
  switch (event.event) {
    case 'task_completed':
      return `${colors.green('✔')} ${text}`;
    case 'task_iterated':
      return `${colors.dim('•')} ${text}`;
    case 'near_miss':
    case 'claim_held':
    case 'usage_limit_wait':
      return `  ${colors.yellow(text)}`;
    default:
      return `${colors.red('✖')} ${text}`;
  }
}

function fitted(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(1, columns - 1))}…`;
}
