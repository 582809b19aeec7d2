/** A piece of work, ready to begin. */
type Work = () => Promise<void>;

/**
 * Does work in several places at a time. `next` is asked for the next piece whenever a place is free, never twice at
 * once, with the number of pieces under way; null if nothing is due now. Where work is under way and nothing is due,
 * it is asked again when a piece ends, or when `wake` resolves, whose signal aborts at the end. Resolves when nothing
 * is under way and nothing is due. If a piece or `next` rejects, nothing more begins, and this rejects once all has
 * ended.
 */
export async function sideBySide(
  places: number,
  next: (underWay: number) => Promise<Work | null>,
  wake: ((signal: AbortSignal) => Promise<void>) | null = null,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const over = new AbortController();
  let waking: Promise<void> | null = null;
  const asked = async (): Promise<Work | null> => {
    if (running.size >= places || failures.length > 0) return null;
    return next(running.size).catch((error: unknown) => {
      failures.push(error);
      return null;
    });
  };
  for (;;) {
    const work = await asked();
    if (work !== null) {
      const own: Promise<void> = work()
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(own));
      running.add(own);
      continue;
    }
    if (running.size === 0) break;
    if (wake !== null && running.size < places) {
      waking ??= wake(over.signal).finally(() => {
        waking = null;
      });
    }
    await Promise.race(waking === null ? running : [...running, waking]);
  }
  over.abort();
  if (failures.length > 0) throw failures[0];
}
