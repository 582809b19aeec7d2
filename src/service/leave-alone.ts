/**
 * Ignores what a listener returned. If it is a promise that rejects, the rejection must not end the
 * program: reporting it is the listener's own business.
 */
export function leaveAlone(returned: unknown): void {
  if (typeof returned !== 'object' || returned === null) return;
  Promise.resolve(returned).catch(() => {});
}
