/** A map in bounded memory. */
export interface RecentMap<K, V> {
  readonly get: (key: K) => V | undefined;
  readonly set: (key: K, value: V) => void;
  readonly delete: (key: K) => void;
}

/** Keeps at least the last `limit` keys that were set, and fewer than twice as many. */
export function createRecentMap<K, V>(limit: number): RecentMap<K, V> {
  // Whole generations are dropped: looking for the oldest key would pass every deleted one.
  let young = new Map<K, V>();
  let old = new Map<K, V>();
  return {
    get: (key) => young.get(key) ?? old.get(key),
    set: (key, value) => {
      young.set(key, value);
      if (young.size < limit) return;
      old = young;
      young = new Map();
    },
    delete: (key) => {
      young.delete(key);
      old.delete(key);
    },
  };
}
