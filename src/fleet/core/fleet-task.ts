import type { SettingName } from '../../core/settings/settings.ts';
import type { StoredSetting } from '../../core/settings/stored-run.ts';
import type { Status } from '../../core/task/task-state.ts';

/**
 * The schema of what a fleet stores of a task: its settings and its saved state. A release that adds a setting or
 * a field of the state raises it, so that no older worker takes the task.
 */
export const FLEET_SCHEMA = 1;

/** What a task of a fleet is: everything that a worker on any machine needs to run it. */
export interface FleetSpec {
  readonly schema: number;
  readonly task_id: string;
  readonly prompt: string;
  readonly task_type: string;
  /** Every setting of the task, by its name in camelCase, so that no worker's defaults count. */
  readonly settings: Readonly<Partial<Record<SettingName, StoredSetting>>>;
  /** What is passed to the agent unchanged. */
  readonly passthrough: readonly string[];
  /** The repository's URL, without credentials. */
  readonly repo: string;
  /** The ref from which the task begins; null for the repository's HEAD. */
  readonly base: string | null;
  /** The folder below the root of the repository in which the agent works; null for the root. */
  readonly subdir: string | null;
  /** The branch that gets the result of a completed task. */
  readonly branch: string;
  /** A shell command, or `@name` of the policy, that is run once in each new work tree; null for none. */
  readonly setup: string | null;
  /** From -100 to 100; higher is claimed first. */
  readonly priority: number;
  readonly account: string;
  readonly queue: string;
}

/**
 * Why a leg ended before its task did, and what it waits for. When a leg parks, `inMs` counts from the database's now,
 * and wins over `until`, since the clocks of the hosts differ; without it, `until` is an instant of somebody else, such
 * as the reset of a usage limit. What the fleet keeps has `until` alone, by the database's clock.
 */
export type Parking =
  /** A usage limit, an outage, or a wait of the loop's own. `account`: nobody claims for its account until then. */
  | {
      readonly kind: 'wait';
      readonly until: string;
      readonly inMs?: number;
      readonly account: boolean;
    }
  /** A person is asked; `until` is when the request expires. */
  | { readonly kind: 'approval'; readonly until: string; readonly inMs?: number }
  /** Another worker may go on at once: this one drains, is full, or the leg is old. */
  | { readonly kind: 'handover'; readonly why: string };

/** One line of `ralph status --fleet`: what the rows say of a task without its checkpoint. */
export interface FleetTaskFacts {
  readonly spec: FleetSpec;
  readonly status: Status;
  /** Why, in the words of the state (`exit_reason`); null while it is open. */
  readonly exit_reason: string | null;
  readonly exit_code: number | null;
  /** One line for people; null if there is nothing to say. */
  readonly warning: string | null;
  /** How often it was claimed; the fence of the newest claim. */
  readonly fence: number;
  /** Claims since an agent last came to its end, or an iteration was counted. */
  readonly claims_without_iteration: number;
  /** The hosts of these claims. */
  readonly hosts: readonly string[];
  /** How often it was parked since an iteration was counted, or somebody resumed it. */
  readonly parks_without_iteration: number;
  /** Who works on it now; null if nobody does. */
  readonly worker: string | null;
  readonly host: string | null;
  /** What it waits for; null if it runs, is queued, or has ended. */
  readonly parked: Parking | null;
  /** Held by `ralph pause`, until `ralph resume`. */
  readonly paused: boolean;
  readonly not_before: string | null;
  readonly iterations: number;
  readonly cost_usd: number;
  /** The commit from which the task began; null before the first claim. */
  readonly base_commit: string | null;
  /** Where the branch was left by the task; null if it was never moved. */
  readonly branch_commit: string | null;
  /** The commit of the result, and the ref that has it; null before the end. */
  readonly result_commit: string | null;
  readonly result_ref: string | null;
  /** The text of the newest note for a person; null if there is none. */
  readonly note: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly ended_at: string | null;
}
