import { laterBy } from '../core/task/task-state.ts';
import { messageOf } from '../errors.ts';
import { type CommonCause, type PassOptions, pass } from './pass.ts';
import type { VaultPorts } from './ports.ts';

export interface WatchOptions extends PassOptions {
  readonly intervalMs: number;
}

/** Why a watch waits longer than usual before its next pass, a round through the task files. */
export type Rest =
  | { readonly kind: 'cause'; readonly cause: CommonCause; readonly forMs: number }
  /** The folders of the vault cannot be read. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly forMs: number };

const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 30 * 60_000;

/**
 * Makes pass after pass over a vault (a folder of task files) until a stop request. After a cause that affects every
 * file (no login, a used-up limit) it rests for 1 minute, doubling up to 30, or until the cause is known to be over.
 * After a pass without such a cause, the next rest is 1 minute again.
 */
export async function watch(
  ports: VaultPorts,
  options: WatchOptions,
  onRest: (rest: Rest) => void,
): Promise<void> {
  const { signal } = ports.stops;
  for (let inARow = 0; !signal.aborted; ) {
    const forMs = restMs(inARow);
    const rest = await onePass(ports, { ...options, lookAgainMs: options.intervalMs }, forMs);
    const until = rest?.kind === 'cause' ? rest.cause.until : undefined;
    // The stop request itself is reported elsewhere, so no rest is announced then.
    if (rest !== null && !signal.aborted) onRest(rest);
    inARow = rest === null ? 0 : inARow + 1;
    const pauseMs = rest === null ? options.intervalMs : forMs;
    await ports.clock.waitUntil(until ?? laterBy(ports.clock.now(), pauseMs), signal);
  }
}

async function onePass(
  ports: VaultPorts,
  options: PassOptions,
  forMs: number,
): Promise<Rest | null> {
  try {
    const { cause } = await pass(ports, options);
    return cause === null ? null : { kind: 'cause', cause, forMs };
  } catch (error) {
    return { kind: 'unreadable', message: messageOf(error), forMs };
  }
}

/** Returns how long to rest, in milliseconds, after `inARow` failed passes in a row. */
export function restMs(inARow: number): number {
  return Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(inARow, 30));
}
