import type { RalphEvent } from '../core/events.ts';
import type { Doing } from '../core/machine.ts';

/** How a running task is shown. Everything handed in is free of control characters already. */
export interface View {
  /** Whether what the agent is doing is shown: it may say thousands of things a second. */
  readonly showsActivity: boolean;
  /** Whether the agent's own text is. */
  readonly showsText: boolean;
  event(event: RalphEvent): void;
  /** A sentence that is not part of the task's story: a warning, a hint. */
  notice(sentence: string): void;
  /** What is done until the next event; only where it can be taken back it need be shown. */
  doing?(what: Doing): void;
  /** The agent's own text, as it comes. */
  agentText(text: string): void;
  close(): void;
}

/** Where lines go. */
export interface LineSink {
  write(text: string): void;
}

/** Several views as one. */
export function allOf(views: readonly View[]): View {
  return {
    get showsActivity() {
      return views.some((view) => view.showsActivity);
    },
    showsText: views.some((view) => view.showsText),
    event: (event) => views.forEach((view) => void view.event(event)),
    doing: (what) => views.forEach((view) => void view.doing?.(what)),
    notice: (sentence) => views.forEach((view) => void view.notice(sentence)),
    agentText: (text) => views.forEach((view) => void view.agentText(text)),
    close: () => views.forEach((view) => void view.close()),
  };
}
