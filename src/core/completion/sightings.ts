import type { PlanCount } from './plan-file.ts';

/** How one of the user's shell commands ended. */
export interface CommandResult {
  readonly command: string;
  /** Null if the command was killed, for example by its time limit. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Standard output and standard error together, limited in size. */
  readonly output: string;
}

/** What was observed in the workspace after an iteration. */
export interface Sightings {
  /** Files that match a watch glob and have changed since the task's start. */
  readonly watchMatches: readonly string[];
  /** The path of the watched file in the done folder, if it was moved there during the task. */
  readonly movedFile: string | null;
  /**
   * What the commands of the conditions came to, by the kind of the condition. Absent in a step that an older
   * ralph saved: a resume observes the files again then.
   */
  readonly commands?: Readonly<Record<string, CommandResult>>;
  readonly plan: PlanCount | null;
  /** Protected files that have changed since the task's start. */
  readonly protectedChanged: readonly string[];
  /** A request that the agent put into `Pending_Approval` during the iteration. */
  readonly approvalFile: { readonly name: string; readonly what: string } | null;
  readonly progress: ProgressSigns;
}

/** Signs of progress during one iteration; null if a sign cannot be observed. */
export interface ProgressSigns {
  readonly git: { readonly commits: number; readonly filesChanged: number } | null;
  /** Whether a watched file, or the plan file, changed. */
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
