/**
 * Milliseconds since some moment, moved by no change of the machine's clock. On Linux it stands still
 * while the machine sleeps; on macOS node's own goes on. What `performance.now()`
 * gives, whose first call makes node load nine of its modules.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
