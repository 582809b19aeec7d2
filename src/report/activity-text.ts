import type { RalphActivity } from '../core/machine/action.ts';
import type { Activity } from '../core/machine/events.ts';
import type { Wait } from '../core/task/task-state.ts';
import { formatCountdown, plural } from './format.ts';

/** Says what the agent is doing, for the live display. */
export function activityText(activity: Activity): string {
  switch (activity.kind) {
    case 'tool':
      return activity.target === '' ? activity.tool : `${activity.tool}: ${activity.target}`;
    case 'text':
      return activity.text;
    case 'thinking':
      return 'thinking';
    case 'sub-agents':
      return `${plural(activity.working, 'sub-agent')} at work`;
  }
}

/** Says what ralph is doing while the agent does not work, for the live display. */
export function ralphActivityText(what: RalphActivity, nowMs: number): string {
  switch (what.kind) {
    case 'look':
      return 'checking what the agent has done';
    case 'verify':
      return `verifying: ${what.command}`;
    case 'examine':
      return EXAMINING[what.part];
    case 'settle':
      return what.by === 'commit'
        ? 'committing what the iteration changed'
        : 'taking back what the iteration changed';
    case 'after':
      return `--after: ${what.command}`;
    case 'wait':
      return waitText(what.wait.kind, formatCountdown(Date.parse(what.wait.until) - nowMs));
    case 'approval': {
      const left = formatCountdown(Date.parse(what.until) - nowMs);
      return `waiting for an approval, ${left} left: ${what.what}`;
    }
    case 'stop':
      return 'stopping; Ctrl-C again kills at once';
  }
}

const EXAMINING = {
  deciders: 'comparing what decides the checks with the start',
  oldExam: 'running the checks with what decides them as it was at the start',
  startTests: 'running the checks with the tests of the start',
  cleanCheckout: 'running the checks in a clean checkout',
  judge: 'asking the judge',
} as const;

function waitText(kind: Wait['kind'], left: string): string {
  switch (kind) {
    case 'delay':
      return `next iteration in ${left}`;
    case 'usage-limit':
      return `waiting for the usage limit, ${left} left`;
    case 'outage':
      return `waiting for the agent's service, trying again in ${left}`;
    default:
      return `trying again in ${left}`;
  }
}
