import type { SettingName } from '../../core/settings/settings.ts';
import type { StoredSetting } from '../../core/settings/stored-run.ts';
import type { Status } from '../../core/task/task-state.ts';

/**
 * The version of the form in which a fleet stores a task's settings and state. A release that adds a setting or a field
 * of the state raises it, so that no older worker takes the task.
 */
export const FLEET_SCHEMA = 1;

/** A task of a fleet: everything that a worker on any machine needs to run it. */
export interface FleetSpec {
  readonly schema: number;
  readonly task_id: string;
  readonly prompt: string;
  readonly task_type: string;
  /** Every setting of the task by its name in camelCase, so that no worker's own defaults are used. */
  readonly settings: Readonly<Partial<Record<SettingName, StoredSetting>>>;
  readonly passthrough: readonly string[];
  /** The repository's URL, without credentials. */
  readonly repo: string;
  /** The ref from which the task begins; null for the repository's HEAD. */
  readonly base: string | null;
  /** The folder below the root of the repository in which the agent works; null for the root. */
  readonly subdir: string | null;
  readonly branch: string;
  /** A shell command, or `@name` from a worker's policy, that is run once in each new work tree; null for none. */
  readonly setup: string | null;
  /** From -100 to 100; higher is claimed first. */
  readonly priority: number;
  readonly account: string;
  readonly queue: string;
}

/**
 * What a parked task waits for: a worker's run of it (a leg) has ended, but not the task. The leg may give `inMs`. That
 * counts from the database's now and wins over `until`, since the hosts' clocks differ. Otherwise `until` is given by a
 * service, such as the reset of a usage limit. The fleet stores only `until`.
 */
export type Parking =
  /** A usage limit, an outage, or the loop's own wait. If `account` is true, the whole account waits until then. */
  | {
      readonly kind: 'wait';
      readonly until: string;
      readonly inMs?: number;
      readonly account: boolean;
    }
  /** A person is asked; `until` is when the request expires. */
  | { readonly kind: 'approval'; readonly until: string; readonly inMs?: number }
  /** Another worker may continue at once: this one stops or has a full disk, or its leg has lasted too long. */
  | { readonly kind: 'handover'; readonly why: string };

/** The facts in a task's database row, without its stored state (checkpoint): enough for a line of `ralph status`. */
export interface FleetTaskFacts {
  readonly spec: FleetSpec;
  readonly status: Status;
  /** Why the task ended, as the state's `exit_reason`; null while it is open. */
  readonly exit_reason: string | null;
  readonly exit_code: number | null;
  /** One line for people; null if there is nothing to say. */
  readonly warning: string | null;
  /** How often the task was claimed: the number of the newest claim, called its fence. */
  readonly fence: number;
  /**
   * How many claims there were since an agent last came to its end, an iteration was counted, or somebody resumed the
   * task. Claims that ended by parking do not count.
   */
  readonly claims_without_iteration: number;
  readonly hosts: readonly string[];
  /** How often a worker parked the task since an iteration was last counted, or somebody resumed the task. */
  readonly parks_without_iteration: number;
  readonly worker: string | null;
  readonly host: string | null;
  /** What the task waits for; null if it was not parked, runs or has ended. */
  readonly parked: Parking | null;
  /** Whether `ralph pause` holds the task until `ralph resume`. */
  readonly paused: boolean;
  readonly not_before: string | null;
  readonly iterations: number;
  readonly cost_usd: number;
  /** The commit from which the task began; null before the first claim. */
  readonly base_commit: string | null;
  /** The commit to which the task last moved its branch; null if it never did. */
  readonly branch_commit: string | null;
  /** The commit of the result, and the ref that has it; null before the task is completed. */
  readonly result_commit: string | null;
  readonly result_ref: string | null;
  /** The text of the newest note for a person; null if there is none. */
  readonly note: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly ended_at: string | null;
}
