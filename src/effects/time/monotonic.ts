/**
 * Returns the milliseconds of a clock that is never set. On Linux it stands still while the machine
 * sleeps; on macOS it runs on. Used instead of `performance.now()`, whose first call makes Node load
 * nine of its modules.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
