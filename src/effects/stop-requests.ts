import type { StopCause } from '../core/machine.ts';
import type { StopRequests } from '../loop/ports.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface SignalWatch extends StopRequests {
  /** Asks for a clean end as a signal would; a further one asks for nothing more. */
  request(by: StopCause): void;
  /** Gives the signals back to Node's own handling. */
  close(): void;
}

/**
 * Turns signals into requests: the first one asks for a clean end, a second one for no courtesy.
 * Must be in place before the agent starts, or a signal in between would end ralph alone.
 */
export function watchSignals(): SignalWatch {
  const first = new AbortController();
  const second = new AbortController();
  let cause: StopCause | null = null;
  const request = (by: StopCause): void => {
    cause ??= by;
    first.abort();
  };
  const onSignal = (signal: StopCause): void => {
    if (cause === null) request(signal);
    else second.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: first.signal,
    hurry: second.signal,
    cause: () => cause,
    request,
    close() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
