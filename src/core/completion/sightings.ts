import type { MeasuredResult } from './command-result.ts';
import type { PlanCount } from './plan-file.ts';

/** What was observed in the workspace after an iteration. */
export interface Sightings {
  /** Files that match a watch glob and have changed since the task's start. */
  readonly watchMatches: readonly string[];
  /** The watched file's path in the done folder if it was moved there during the task; otherwise null. */
  readonly movedFile: string | null;
  /** The results of the completion conditions' commands, by the kind of the condition. */
  readonly commands: Readonly<Record<string, MeasuredResult>>;
  readonly plan: PlanCount | null;
  /** The plan at the task's start; absent if unknown. */
  readonly planAtStart?: PlanCount | null;
  /** Protected files that have changed since the task's start. */
  readonly protectedChanged: readonly string[];
  /** A request to a person that the agent put into the folder `Pending_Approval` during the iteration. */
  readonly approvalFile: { readonly name: string; readonly what: string } | null;
  readonly progress: ProgressSigns;
}

/** Signs of progress during one iteration; null if a sign cannot be observed. */
export interface ProgressSigns {
  readonly git: {
    readonly commits: number;
    readonly filesChanged: number;
    /** Whether the plan is the only file that changed; absent if not. */
    readonly onlyPlan?: boolean;
  } | null;
  /** Whether a watched file or the plan file changed. */
  readonly watched: boolean | null;
}

export const NOTHING_SEEN: Sightings = {
  watchMatches: [],
  movedFile: null,
  commands: {},
  plan: null,
  protectedChanged: [],
  approvalFile: null,
  progress: { git: null, watched: null },
};
