/** Ignores what a listener returned, even a promise that rejects: the listener has to report its errors itself. */
export function leaveAlone(returned: unknown): void {
  if (typeof returned !== 'object' || returned === null) return;
  Promise.resolve(returned).catch(() => {});
}
