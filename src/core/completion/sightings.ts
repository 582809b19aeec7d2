import type { PlanCount } from './plan-file.ts';
/** How a shell command of the user's ended. */
export interface CommandResult {
  readonly command: string;
  /** Null where it was ended, by its time limit for one. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Standard output and error together, in bounds. */
  readonly output: string;
}

/** What was found when the world was looked at after an iteration. */
export interface Sightings {
  /** Files that match a watch glob and are not as they were at the task's start. */
  readonly watchMatches: readonly string[];
  /** Where the watched file stands in the done folder, if it came there during the task. */
  readonly movedFile: string | null;
  readonly until: CommandResult | null;
  readonly plan: PlanCount | null;
  /** Protected files that are not as they were at the task's start. */
  readonly protectedChanged: readonly string[];
  /** A request that the agent has left in `Pending_Approval` during the iteration. */
  readonly approvalFile: { readonly name: string; readonly what: string } | null;
  readonly progress: ProgressSigns;
}

/** Signs of progress during one iteration; null where there is nothing to look at. */
export interface ProgressSigns {
  readonly git: { readonly commits: number; readonly filesChanged: number } | null;
  /** Whether a watched file, or the plan file, changed. */
  readonly watched: boolean | null;
}

export const NOTHING_SEEN: Sightings = {
  watchMatches: [],
  movedFile: null,
  until: null,
  plan: null,
  protectedChanged: [],
  approvalFile: null,
  progress: { git: null, watched: null },
};
