/** Returns what `read` returns; null if it throws. For what may be gone, unreadable or made by somebody else. */
export function ifPossible<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
