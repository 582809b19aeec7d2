/** Returns a warning if the sandbox leaves vsock open, or null. `release` is what `uname -r` prints. */
export function openVsock(release: string): string | null {
  if (!/microsoft/i.test(release)) return null;
  return 'On WSL the sandbox leaves vsock open, by which what runs inside can reach services of Windows.';
}
