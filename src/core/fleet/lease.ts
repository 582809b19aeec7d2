/** How long a claim holds without a beat, unless `ralph fleet init --lease` says otherwise. Milliseconds. */
export const DEFAULT_LEASE_MS = 2 * 60_000;

/** An agent is started only while the last beat is younger than this share of the lease. */
export const START_WITHIN = 0.5;

/** Without a beat for this share of the lease, the guard kills what runs. */
export const KILL_AFTER = 0.8;

/** After this many claims in which no agent came to its end, a task is taken to kill its workers. */
export const CLAIMS_AT_MOST = 5;

/** A wait that is longer than this parks the leg. */
export const WAIT_IN_PLACE_MS = 60_000;
