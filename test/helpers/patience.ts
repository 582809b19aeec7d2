/** How long a test waits for what should come at once, in milliseconds: only what hangs reaches it, on any machine. */
export const PATIENCE_MS = 120_000;
