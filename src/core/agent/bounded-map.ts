/** Sets a key as the newest. Keeps at least the `limit` newest keys, and always fewer than twice `limit`. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  // Without the deletion, a key that already exists would keep its old place.
  map.delete(key);
  map.set(key, value);
  // Keys are deleted in bulk, because finding the oldest key means skipping every slot emptied before it.
  if (map.size < 2 * limit) return;
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
