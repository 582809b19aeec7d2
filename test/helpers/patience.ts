/** How long a test waits for what should come at once, in milliseconds: only what hangs reaches it, on any machine. */
export const PATIENCE_MS = 240_000;

/** A limit that a test lets pass: on a slow machine, too, an agent has begun and done its deed before it. */
export const LIMIT_MS = 8_000;

/** The same as a flag takes it. */
export const LIMIT = `${LIMIT_MS / 1_000}s`;
