type Work = () => Promise<void>;

/**
 * Runs pieces of work side by side, at most `places` at a time. Whenever a place is free, `next` is asked for a piece,
 * with the number of pieces that run; null means that nothing is due now. While pieces run, `next` is asked again when
 * one of them ends or `wake` resolves; the signal of `wake` aborts at the end. Calls of `next` never overlap. Resolves
 * when nothing runs and nothing is due. If a piece or `next` rejects, no more work starts, and the function rejects
 * once all running pieces have ended.
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
