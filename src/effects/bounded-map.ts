/** Sets a key and forgets the oldest ones beyond `limit`: a long session must not fill memory. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
