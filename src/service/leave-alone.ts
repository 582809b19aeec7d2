/**
 * Takes what a listener has returned. An async listener that rejects later must not end the program that it
 * runs in: what goes wrong in it is its own to report.
 */
export function leaveAlone(returned: unknown): void {
  if (typeof returned !== 'object' || returned === null) return;
  Promise.resolve(returned).catch(() => {});
}
