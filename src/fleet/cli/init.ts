import { standardOutlet } from '../../cli/terminal/outlet.ts';
import { parseDuration } from '../../core/settings/duration.ts';
import { UsageError } from '../../errors.ts';
import { initFleet } from '../database/init-fleet.ts';
import { initText } from '../report/fleet-words.ts';
import { type DatabaseWait, whenReached } from './on-fleet.ts';

const SHORTEST_MS = 10_000;
const LONGEST_MS = 60 * 60_000;

/** `ralph fleet init`: makes or updates the tables of a fleet. `lease` is the flag's text, not yet parsed. */
export async function initNamedFleet(
  url: string,
  lease: string | undefined,
  { init = initFleet, ...patience }: DatabaseWait & { readonly init?: typeof initFleet } = {},
): Promise<number> {
  const leaseMs = lease === undefined ? null : leaseOf(lease);
  const done = await whenReached(() => init({ url, env: process.env, leaseMs }), patience);
  await standardOutlet().write(initText(done));
  return 0;
}

function leaseOf(text: string): number {
  const ms = parseDuration(text);
  // pg-boss, the engine of the queue, counts the lease (how long a worker's claim of a task lasts) in seconds.
  const isWhole = ms !== null && ms % 1_000 === 0;
  if (isWhole && ms >= SHORTEST_MS && ms <= LONGEST_MS) return ms;
  throw new UsageError([
    `--lease expects whole seconds from 10s to 1h, such as 2m; found '${text}'.`,
  ]);
}
