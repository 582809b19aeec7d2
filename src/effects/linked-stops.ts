import type { StopCause } from '../core/machine.ts';
import type { StopRequests } from '../loop/ports.ts';
import type { SignalWatch } from './stop-requests.ts';

/**
 * The requests to one of several runs in this process: what is asked of all is asked of it too, but
 * what is asked of it alone (`ralph stop`) ends no other.
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
