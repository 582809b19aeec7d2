import type { StopCause } from '../../core/machine/loop-state.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { SignalWatch } from './signals.ts';

/**
 * The stop requests of one of several runs in this process. A request to all of them also stops
 * this one; a request to this one alone (`ralph stop`) stops no other.
 */
export function linkedStops(all: StopRequests): SignalWatch {
  const first = new AbortController();
  let cause: StopCause | null = null;
  const request = (by: StopCause): void => {
    cause ??= by;
    first.abort();
  };
  const pass = (): void => request(all.cause() ?? 'SIGTERM');
  all.signal.addEventListener('abort', pass);
  if (all.signal.aborted) pass();
  return {
    signal: first.signal,
    hurry: all.hurry,
    cause: () => cause,
    request,
    close: () => all.signal.removeEventListener('abort', pass),
  };
}
