/** How long a worker's claim (its right to run a task) lasts by default without a beat (a sign of life), in ms. */
export const DEFAULT_LEASE_MS = 2 * 60_000;

/** An agent is only started if the last beat is younger than this share of the lease. */
export const START_WITHIN = 0.5;

/** If there is no beat for this share of the lease, the guard (a process beside the worker) kills what is running. */
export const KILL_AFTER = 0.8;

/** After this many lost claims in a row in which no agent ended, ralph assumes that the task kills its workers. */
export const CLAIMS_AT_MOST = 5;

/**
 * Whether a task fails if this claim, the `claims`th in a row, is lost, too. The worker then runs no other task beside
 * it: so none is lost with it, and none can kill the worker and make this task fail.
 */
export function isLastClaim(claims: number): boolean {
  return claims === CLAIMS_AT_MOST;
}

/** After how many ms a leg (one worker's run of a task) hands the task over, since a job must not last a day. */
export const LONGEST_LEG_MS = 22 * 3_600_000;

/** If a task has to wait longer than this, in milliseconds, its worker gives it back, and some worker takes it up later. */
export const WAIT_IN_PLACE_MS = 60_000;
