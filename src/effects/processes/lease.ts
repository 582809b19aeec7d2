/** How long a worker may go on without a beat that reached the database. */
export interface Lease {
  /** The length of the lease in milliseconds. */
  readonly ms: number;
  /**
   * Milliseconds since the last good beat was sent, by the wall clock or the monotonic one, whichever says more: the
   * monotonic clock stands still while the machine sleeps.
   */
  ageMs(): number;
  /** Calls the listener with each good beat and its age in milliseconds. Returns a function that ends this. */
  onBeat(listener: (ageMs: number) => void): () => void;
  /** Resolves when the last beat is young enough to start an agent. Rejects with a `RunDropped` if the claim is lost. */
  fresh(): Promise<void>;
}
