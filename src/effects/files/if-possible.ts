/** Returns what `read` returns; null if it throws. For files and the like that may be missing or unreadable. */
export function ifPossible<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
