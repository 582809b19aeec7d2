/** A map in bounded memory. */
export interface RecentMap<K, V> {
  readonly get: (key: K) => V | undefined;
  readonly set: (key: K, value: V) => void;
  readonly delete: (key: K) => void;
}

/** Keeps at least the last `limit` keys that were set or found, and fewer than twice as many. */
export function createRecentMap<K, V>(limit: number): RecentMap<K, V> {
  // Whole generations are dropped: looking for the oldest key would pass every deleted one.
  let young = new Map<K, V>();
  let old = new Map<K, V>();
  const set = (key: K, value: V): void => {
    young.set(key, value);
    if (young.size < limit) return;
    old = young;
    young = new Map();
  };
  return {
    get: (key) => {
      const value = young.get(key);
      if (value !== undefined || old.size === 0) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    delete: (key) => {
      if (!young.delete(key)) old.delete(key);
    },
  };
}
