/**
 * Ignores what a listener returned. If that is a promise that rejects, the rejection must not end the
 * program: the listener itself has to report its errors.
 */
export function leaveAlone(returned: unknown): void {
  if (typeof returned !== 'object' || returned === null) return;
  Promise.resolve(returned).catch(() => {});
}
