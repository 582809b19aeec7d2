import type { RalphActivity } from '../../core/machine/action.ts';
import type { RalphEvent } from '../../core/machine/events.ts';

/** Shows a running task. Callers remove control characters first. */
export interface RunView {
  /** Whether the view shows the agent's activity, which may be thousands of events a second. */
  readonly showsActivity: boolean;
  /** Whether the view shows the agent's own text. */
  readonly showsText: boolean;
  event(event: RalphEvent): void;
  /** Shows a sentence that is not an event of the task: a warning, a hint. */
  notice(sentence: string): void;
  /** Shows what ralph itself does, until the next event. Only a view that can erase this text implements the method. */
  doing?(what: RalphActivity): void;
  /** Shows a piece of the agent's own text, as it arrives. */
  agentText(text: string): void;
  close(): void;
}

/** Where a view writes its lines. */
export interface LineSink {
  write(text: string): void;
}

/** Combines several views into one. */
export function allOf(views: readonly RunView[]): RunView {
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
