/**
 * Returns monotonic milliseconds, which no change of the machine's clock moves. On Linux it stands
 * still while the machine sleeps; on macOS it goes on. The same as `performance.now()`, whose first
 * call makes node load nine of its modules.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
