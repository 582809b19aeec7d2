// Prepares what people and programs see of the loop: masks credentials, removes control characters.

import type { Question, RalphActivity } from '../core/machine/action.ts';
import { type Activity, type EventBody, type RalphEvent, stamped } from '../core/machine/events.ts';
import type { LoopState } from '../core/machine/loop-state.ts';
import { maskDeep, maskLine, maskLines, maskSecrets, preview } from '../core/secrets/secrets.ts';
import { oneLine, withoutControls } from '../core/text/untrusted-text.ts';
import type { Ports } from './ports.ts';

/** Builds an event with the current time, in the form in which it is saved, published and given to commands. */
export function eventOf(ports: Ports, state: LoopState, body: EventBody): RalphEvent {
  return maskDeep(stamped(body, ports.clock.now(), state.task.task_id));
}

/** Returns the activity to announce for a question, or null if nothing has to be announced. */
export function doingOf({ task }: LoopState, action: Question): RalphActivity | null {
  switch (action.kind) {
    case 'look':
      return { kind: 'look' };
    case 'verify':
      return { kind: 'verify', command: shownCommand(action.check.command) };
    case 'examine':
      return { kind: 'examine', part: action.part };
    case 'settle-tree':
      return { kind: 'settle', by: action.by };
    case 'run-after':
      return { kind: 'after', command: shownCommand(action.command) };
    case 'wait':
      return task.wait === null ? null : { kind: 'wait', wait: task.wait };
    case 'await-approval':
      return { kind: 'approval', what: action.approval.what, until: action.approval.expires_at };
    default:
      return null;
  }
}

function shownCommand(command: string): string {
  return oneLine(maskSecrets(command), 200);
}

/** Cleans the agent's own text before it is shown. */
export function shownText(text: string): string {
  return maskLines(withoutControls(text));
}

/** Cleans and shortens an activity, because the agent's text is shown on terminals. */
export function cleanActivity(activity: Activity): Activity {
  switch (activity.kind) {
    case 'tool':
      return {
        ...activity,
        tool: oneLine(activity.tool, 60),
        target: preview(activity.target, 200),
      };
    case 'text':
      return { ...activity, text: maskLine(preview(activity.text, 200)) };
    case 'thinking':
    case 'sub-agents':
      return activity;
  }
}
