import type { Outlet } from '../../cli/terminal/outlet.ts';
import { type Frame, watchView } from '../../cli/terminal/watch-view.ts';
import { FleetAwayError } from '../../errors.ts';

/** The flags that say how a fleet is shown. */
export interface ShowOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/**
 * Shows one frame (a state of the fleet as text), or, with `isWatched`, one after another until nothing can change.
 * While the database is away, a watched view shows the error. Resolves to the exit code.
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

/** Returns `next`, except that its frame shows the error while the database cannot be reached. */
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
