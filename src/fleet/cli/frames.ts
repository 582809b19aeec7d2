import type { Outlet } from '../../cli/terminal/outlet.ts';
import { type Frame, watchView } from '../../cli/terminal/watch-view.ts';
import { FleetAwayError } from '../../errors.ts';

/** How a fleet is shown. */
export interface ShowOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/**
 * Shows a fleet as it is now: once, or again and again until nothing more will happen. While it is watched, a
 * database that cannot be reached is shown as that, and the view goes on when it is back. Resolves to the exit code.
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

/** Returns frames that say so while the database cannot be reached. */
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
