/** How long a claim holds without a beat, unless `ralph fleet init --lease` says otherwise. Milliseconds. */
export const DEFAULT_LEASE_MS = 2 * 60_000;

/** An agent is started only while the last beat is younger than this share of the lease. */
export const START_WITHIN = 0.5;

/** Without a beat for this share of the lease, the guard kills what runs. */
export const KILL_AFTER = 0.8;

/** After this many claims in which no agent came to its end, a task is taken to kill its workers. */
export const CLAIMS_AT_MOST = 5;

/**
 * Whether a task that is claimed for the `claims`th time in a row fails if this claim is lost, too. Its worker runs it
 * alone: a task that was only beside one that kills its workers must not fail with it, nor take others with it.
 */
export function isLastClaim(claims: number): boolean {
  return claims === CLAIMS_AT_MOST;
}

/** A leg is handed over after the iteration in which it gets this old: a job of the engine lives for a day. Milliseconds. */
export const LONGEST_LEG_MS = 22 * 3_600_000;

/** A wait that is longer than this parks the leg. */
export const WAIT_IN_PLACE_MS = 60_000;
