/**
 * Returns the milliseconds of a clock that cannot be set. On Linux it stops while the machine sleeps; on macOS it
 * continues. Used instead of `performance.now()`, whose first call makes Node load nine of its modules.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
