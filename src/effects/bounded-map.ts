/**
 * Sets a key and forgets the oldest ones: a long session must not fill memory. At least `limit` are
 * kept, and less than twice as many.
 */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  map.set(key, value);
  // Many at once: to find the oldest, a map passes over all places that have been emptied before it.
  if (map.size < 2 * limit) return;
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
