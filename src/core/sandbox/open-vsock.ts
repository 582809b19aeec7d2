/**
 * Returns what a person should know of a kernel before a sandbox starts on it, or null. `release` is its release,
 * as `uname -r` prints it.
 */
export function openVsock(release: string): string | null {
  if (!/microsoft/i.test(release)) return null;
  return 'On WSL the sandbox leaves vsock open, by which what runs inside can reach services of Windows.';
}
