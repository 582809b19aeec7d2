import { FleetAwayError } from '../../errors.ts';
import type { Outlet } from '../terminal/outlet.ts';
import { type Frame, watchView } from '../terminal/watch-view.ts';

/**
 * Shows what a fleet is at now: once, or again and again until nothing more will happen. While it is watched, a
 * database that cannot be reached is only said, and the view goes on when it is back. Resolves to the exit code.
 */
export async function framesOf(
  next: () => Promise<Frame>,
  isWatched: boolean,
  outlet: Outlet,
): Promise<number> {
  if (isWatched) return watchView(patient(next), process.stdout);
  const { text } = await next();
  await outlet.write(text);
  return 0;
}

/** Shows why there is no frame in place of one, if that may pass. */
export function patient(next: () => Promise<Frame>): () => Promise<Frame> {
  return async () => {
    try {
      return await next();
    } catch (error) {
      if (!(error instanceof FleetAwayError)) throw error;
      return { text: `${error.message}\n`, key: error.message, isLast: false };
    }
  };
}
