/**
 * Sets a key as the newest one and deletes the oldest keys, so that a long session does not fill memory. Keeps at
 * least the `limit` keys that were set last, and fewer than twice as many.
 */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  // A key that is only set again would keep its place.
  map.delete(key);
  map.set(key, value);
  // Deletes in bulk: finding the oldest key means skipping every slot emptied before it.
  if (map.size < 2 * limit) return;
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
