import { withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { formatDuration } from '../../report/format.ts';
import { type PlanFacts, section, settingLines, shortened } from '../../report/screens/plan.ts';
import type { FleetSpec } from '../core/fleet-task.ts';

/** What `ralph submit --dry-run` shows of a task. */
export interface SpecFacts {
  readonly spec: FleetSpec;
  readonly completion: string;
  /** When the task may begin: an ISO instant, milliseconds from now, or null for at once. */
  readonly not_before: string | number | null;
  /** The settings in the form in which a person writes them. */
  readonly settings: PlanFacts['settings'];
}

/** Returns a task of a fleet as text. Control characters are removed, so that no prompt can control the terminal. */
export function renderSpec(facts: SpecFacts): string {
  const { spec, completion, not_before, settings } = withoutControlsIn(facts);
  return [
    `Task ${spec.task_id} (type ${spec.task_type}). Nothing was queued.`,
    section('Where it works', [
      `repository ${spec.repo}`,
      `begins at ${spec.base ?? "the repository's HEAD"}`,
      `in ${spec.subdir ?? 'the root of the repository'}`,
      ...(spec.setup === null ? [] : [`after ${spec.setup}`]),
      `its result goes to the branch ${spec.branch}`,
    ]),
    section('Who takes it', [
      `queue ${spec.queue}, account ${spec.account}, priority ${spec.priority}`,
      `not before: ${notBefore(not_before)}`,
    ]),
    section('Done when', [completion]),
    section('The prompt', shortened(spec.prompt)),
    ...(spec.passthrough.length === 0
      ? []
      : [section('Words for the agent', [spec.passthrough.join(' ')])]),
    section('Settings', settingLines({ settings })),
  ]
    .join('\n\n')
    .concat('\n');
}

function notBefore(when: string | number | null): string {
  if (when === null) return 'at once';
  return typeof when === 'string' ? when : `${formatDuration(when)} from now`;
}
